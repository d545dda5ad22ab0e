# add_header, add_trailer and expires.
module_name = headers
module_sources = headers.c lines.c trailers.c expires.c
