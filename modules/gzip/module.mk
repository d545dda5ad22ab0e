# Encoded forms of files and answers: gzip, and what lies encoded beside a file.
module_name = gzip
module_sources = gzip.c gzip_body.c gzip_proxied.c sidecar.c
