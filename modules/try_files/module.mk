# try_files: the first of several files that is there.
module_name = try_files
module_sources = try_files.c
