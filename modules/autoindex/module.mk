# Listings of directories.
module_name = autoindex
module_sources = autoindex.c autoindex_work.c autoindex_list.c autoindex_query.c autoindex_view.c autoindex_html.c autoindex_data.c
