# add_header and expires.
module_name = headers
module_sources = headers.c expires.c
