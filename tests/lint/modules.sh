#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A module is a folder with code, a module.mk and a page: modules/x/{x.c,module.mk,x.md}.

{
    for dir in modules/*/; do
        [ -d "$dir" ] || continue
        dir=${dir%/}
        name=$(basename "$dir")
        for file in "$name.c" module.mk "$name.md"; do
            [ -f "$dir/$file" ] || echo "$dir: has no $file"
        done
        [ ! -f "$dir/module.mk" ] || grep -q "^module_name = $name\$" "$dir/module.mk" ||
            echo "$dir/module.mk: module_name is not that of the folder"
    done
} | if grep .; then exit 1; else exit 0; fi
