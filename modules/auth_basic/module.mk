# Names and passwords.
module_name = auth_basic
module_sources = auth_basic.c auth_cache.c auth_file.c auth_hash.c auth_table.c
module_needs = crypt nettle
