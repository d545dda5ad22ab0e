# The client's address behind trusted proxies.
module_name = realip
module_sources = realip.c forwarded.c
