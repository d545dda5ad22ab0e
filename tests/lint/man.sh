#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The manual pages have no mdoc errors, and the directive tables in sluice.yaml(5) are those that
# the program prints from its directive rows (`make man` brings them up to date).

build=${1:-build}
status=0
for page in man/*.[58]; do
    [ -f "$page" ] || continue
    command -v mandoc >/dev/null || { echo "mandoc is not installed"; exit 77; }
    mandoc -T lint -W warning "$page" || status=1
done
if [ -f man/sluice.yaml.5 ] && [ -x "$build/sluice" ]; then
    scripts/man-tables "$build/sluice" man/sluice.yaml.5 --check || status=1
fi
exit $status
