# The file that stands for a directory.
module_name = index
module_sources = index.c
