# SPDX-License-Identifier: BSD-2-Clause
#
# What the checks share: which files there are, and C with its comments and strings taken out.

# tracked SUFFIX... lists the project's files that end so (git's, else those that lie here).
tracked()
{
    pattern=
    for suffix; do pattern="$pattern${pattern:+|}\\.$suffix"; done
    if git rev-parse --git-dir >/dev/null 2>&1; then
        git ls-files -co --exclude-standard
    else
        find . -type f ! -path './build/*' ! -path './.git/*' | sed 's|^\./||'
    fi | grep -E "($pattern)\$" | while read -r file; do
        if [ -f "$file" ]; then echo "$file"; fi
    done
}

c_files() { tracked c h tbl; }
source_files() { c_files | grep -E '^(src|modules)/'; }

# code_of FILE... prints FILE:LINE:TEXT with comments and the insides of strings blanked.
code_of()
{
    awk '
    FNR == 1 { in_comment = 0 }
    {
        out = ""; s = $0
        while (s != "") {
            if (in_comment) {
                at = index(s, "*/")
                if (!at) { s = ""; break }
                s = substr(s, at + 2); in_comment = 0
                continue
            }
            if (match(s, /\/\*|\/\/|"|'\''/) == 0) { out = out s; break }
            out = out substr(s, 1, RSTART - 1)
            mark = substr(s, RSTART, RLENGTH)
            s = substr(s, RSTART + RLENGTH)
            if (mark == "//") break
            if (mark == "/*") { in_comment = 1; continue }
            # A string or a character; names of included files are kept.
            if ($0 ~ /^[ \t]*#[ \t]*include/) { out = out mark s; break }
            for (i = 1; i <= length(s); i++) {
                c = substr(s, i, 1)
                if (c == "\\") i++
                else if (c == mark) break
            }
            out = out mark mark
            s = substr(s, i + 1)
        }
        print FILENAME ":" FNR ":" out
    }' "$@"
}

# offences: standard input is the list of offences; fails if there is one.
offences()
{
    if grep .; then exit 1; fi
    exit 0
}
