# Single-page sites: navigations that match no file get the shell.
module_name = spa
module_sources = spa.c
