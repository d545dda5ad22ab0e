# return, rewrite, set, break.
module_name = rewrite
module_sources = rewrite.c rewrite_rules.c rewrite_return.c rewrite_url.c
