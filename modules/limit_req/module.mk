# Requests per client and time: limit_req.
module_name = limit_req
module_sources = limit_req.c limit_req_conf.c bucket.c
