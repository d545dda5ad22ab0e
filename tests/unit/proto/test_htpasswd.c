/* SPDX-License-Identifier: BSD-2-Clause */
/* Password files: lines, and what a password is kept as. */
#include "proto/htpasswd.h"

#include "core/buf.h"
#include "unit/proto/rows.h"

static void kinds(void **state)
{
    static const struct {
        const char *hash;
        enum htpasswd_kind kind;
    } rows[] = {
        {"$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/", HTPASSWD_APR1},
        {"$1$saltsalt$qjXMvbEw8oaL.CzflDtaK/", HTPASSWD_CRYPT},
        {"$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC", HTPASSWD_CRYPT},
        {"$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc8", HTPASSWD_CRYPT},
        {"$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjlO/O817G3uBnIFNjnQJu", HTPASSWD_CRYPT},
        {"$y$j9T$F5Jx5fExrKuPp53xLKQ..1$tnSYvahCwPBHKZUspmcxMfb0.WiB9W.zEaKlOBL35rC",
         HTPASSWD_CRYPT},
        {"$6$x", HTPASSWD_CRYPT},
        {"{SHA}0DPiKuNIrrVmD8IUCuw1hQxNqZc=", HTPASSWD_SHA},
        {"{SSHA}8y9XOcKIDrOjS5NH0fbvsJ/bFzZzYWx0", HTPASSWD_SSHA},
        {"{PLAIN}secret", HTPASSWD_PLAIN},
        {"{PLAIN}", HTPASSWD_PLAIN},
        {"rl.3StKT.4T8M", HTPASSWD_CRYPT},
        {"_J9..rasmBYk8r9AiWNc", HTPASSWD_CRYPT},
        {"secret", HTPASSWD_UNKNOWN},
        {"", HTPASSWD_UNKNOWN},
        {"thirteen chars", HTPASSWD_UNKNOWN},
        {"thirteen-char", HTPASSWD_UNKNOWN},
        {"{sha}0DPiKuNIrrVmD8IUCuw1hQxNqZc=", HTPASSWD_UNKNOWN},
        {"{MD5}x", HTPASSWD_UNKNOWN},
        {"$", HTPASSWD_UNKNOWN},
        {"$6$", HTPASSWD_UNKNOWN},
        {"$$x$", HTPASSWD_UNKNOWN},
        {"$6 x", HTPASSWD_UNKNOWN},
        {"*", HTPASSWD_UNKNOWN},
        {"!$6$x$y", HTPASSWD_UNKNOWN},
        {"_J9..rasmBYk8r9AiWN!", HTPASSWD_UNKNOWN},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str hash = copy_exact(str_z(rows[i].hash));
        ROW(rows[i].hash, htpasswd_kind_of(hash) == rows[i].kind);
        free_exact(hash);
    }
}

static void lines(void **state)
{
    static const struct {
        const char *name;
        struct str text;
        const char *want; /* "line user=hash;" or "line bad;" */
    } rows[] = {
        {"empty", STR_INIT(""), ""},
        {"one", STR_INIT("a:b\n"), "1 a=b;"},
        {"no LF at the end", STR_INIT("a:b"), "1 a=b;"},
        {"CRLF", STR_INIT("a:b\r\nc:d\r\n"), "1 a=b;2 c=d;"},
        {"comments and empty lines", STR_INIT("# x:y\n\na:b\n\r\n#\nc:d\n\n"), "3 a=b;6 c=d;"},
        {"a # elsewhere", STR_INIT("a#:b#\n #:x\n"), "1 a#=b#;2  #=x;"},
        {"more behind", STR_INIT("a:b:c:d\n"), "1 a=b;"},
        {"no password", STR_INIT("a:\nb::c\n"), "1 a=;2 b=;"},
        {"no colon", STR_INIT("a\nb:c\n"), "1 bad;2 b=c;"},
        {"no name", STR_INIT(":b\nc:d"), "1 bad;2 c=d;"},
        {"blanks are part of it", STR_INIT(" a : b \n"), "1  a = b ;"},
        {"NUL", STR_INIT("a\0:b\nc:d\0e\nf:g\n"), "1 bad;2 bad;3 f=g;"},
        {"TAB", STR_INIT("a:b\tc\n"), "1 bad;"},
        {"CR inside", STR_INIT("a:b\rc:d\n"), "1 bad;"},
        {"two CR", STR_INIT("a:b\r\r\n"), "1 bad;"},
        {"DEL", STR_INIT("a\x7f:b\n"), "1 bad;"},
        {"UTF-8", STR_INIT("\xc3\xa4:b\n"), "1 \xc3\xa4=b;"},
        {"twice", STR_INIT("a:b\na:c\n"), "1 a=b;2 a=c;"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str text = copy_exact(rows[i].text), rest = text;
        struct htpasswd_entry e;
        enum htpasswd_result res;
        char got[256];
        struct wbuf w = wbuf_make(got, sizeof(got));
        uint32_t line = 0;
        while ((res = htpasswd_next(&rest, &line, &e)) != HTPASSWD_END) {
            if (res == HTPASSWD_BAD)
                wbuf_printf(&w, "%u bad;", line);
            else
                wbuf_printf(&w, "%u " STR_FMT "=" STR_FMT ";", e.line, STR_ARG(e.user),
                            STR_ARG(e.hash));
        }
        ROW_STR(rows[i].name, str_between(got, w.at), str_z(rows[i].want));
        ROW(rows[i].name, rest.n == 0);
        free_exact(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        cmocka_unit_test(lines),
    };
    return cmocka_run_group_tests_name("proto/htpasswd", tests, NULL, NULL);
}
