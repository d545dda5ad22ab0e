/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Password files, against a reader that looks at one byte after the other; entries lie in the
 * input, lines are counted right, and what comes after a line does not change it.  The same bytes as
 * an Authorization field: what is taken encodes to the same again.
 */
#include "fuzz.h"

#include "proto/basic.h"
#include "proto/htpasswd.h"

/* What the reference finds in one line. */
struct seen {
    size_t user_n, hash_at, hash_n;
    bool entry, bad;
};

static struct seen look(struct str line)
{
    struct seen s = {0};
    size_t colons = 0;
    if (line.n > 0 && line.p[line.n - 1] == '\r')
        line.n--;
    if (line.n == 0 || line.p[0] == '#')
        return s;
    for (size_t i = 0; i < line.n; i++) {
        unsigned char c = (unsigned char)line.p[i];
        if (c < 0x20 || c == 0x7f)
            s.bad = true;
        if (c == ':' && colons++ == 0) {
            s.user_n = i;
            s.hash_at = i + 1;
        }
        if (c != ':' && colons == 1)
            s.hash_n = i + 1 - s.hash_at;
    }
    s.bad = s.bad || colons == 0 || s.user_n == 0;
    s.entry = !s.bad;
    return s;
}

static void file(struct str in)
{
    struct str copy = fuzz_copy(in), rest = copy;
    struct htpasswd_entry e;
    uint32_t line = 0, number = 0;
    const char *at = copy.p, *end = copy.p + copy.n;
    for (;;) {
        enum htpasswd_result res = htpasswd_next(&rest, &line, &e);
        struct seen s = {0};
        const char *from = at;
        while (at < end && !s.entry && !s.bad) { /* up to the next line that is something */
            const char *lf = memchr(at, '\n', (size_t)(end - at));
            from = at;
            s = look(str_between(at, lf != NULL ? lf : end));
            at = lf != NULL ? lf + 1 : end;
            number++;
        }
        CHECK(line == number);
        if (res == HTPASSWD_END) {
            CHECK(!s.entry && !s.bad && rest.n == 0);
            break;
        }
        CHECK((res == HTPASSWD_BAD) == s.bad && (res == HTPASSWD_ENTRY) == s.entry);
        if (res == HTPASSWD_BAD)
            continue;
        CHECK(fuzz_inside(e.user, copy) && fuzz_inside(e.hash, copy) && e.line == line);
        CHECK(e.user.p == from && e.user.n == s.user_n);
        CHECK(e.hash.p == from + s.hash_at && e.hash.n == s.hash_n);
        CHECK(e.kind == htpasswd_kind_of(e.hash) && e.kind <= HTPASSWD_UNKNOWN);
    }
    fuzz_free(copy);
}

static void field(struct str in)
{
    struct str copy = fuzz_copy(in);
    char *mem = malloc(BASIC_ROOM(in.n)), *again = malloc(BASE64_ENCODED(in.n) + 4);
    struct basic b;
    CHECK(mem != NULL && again != NULL);
    if (basic_parse(copy, mem, &b)) {
        struct str coded = str_trim(str_skip(copy, 6));
        CHECK(b.user.p == mem && b.user.p[b.user.n] == ':');
        CHECK(b.password.p == mem + b.user.n + 1);
        CHECK(str_chr(b.user, ':') < 0 && str_chr(b.password, '\0') < 0);
        size_t n = base64_encode(again, str_make(mem, b.user.n + 1 + b.password.n));
        CHECK(str_eq(str_make(again, n), coded));
    }
    free(mem);
    free(again);
    fuzz_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = fuzz_input(data, size);
    file(in);
    field(in);
    return 0;
}
