# Files from the document root.
module_name = static
module_sources = static.c
