# One line for each request.
module_name = access_log
module_sources = access_log.c access_format.c access_buffer.c
