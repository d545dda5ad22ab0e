# Who may come from where.
module_name = access
module_sources = access.c
