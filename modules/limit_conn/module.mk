# Requests per client at a time: limit_conn.
module_name = limit_conn
module_sources = limit_conn.c limit_conn_conf.c hold.c
