/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Escapes: into room that is too small they write a beginning of the full answer and say so; the
 * answer holds none of the bytes it is there to keep out.
 * Input: two bytes for the room, the text.
 */
#include "fuzz.h"

#include "proto/escape.h"

#define FULL (6 * 4096)

typedef void escape_f(struct wbuf *w, struct str s);

static char full[FULL], small[FULL];

static struct str escape(escape_f *f, struct str in, size_t room)
{
    struct wbuf w = wbuf_make(full, sizeof(full));

    f(&w, in);
    CHECK(!w.overflow);
    struct str answer = str_between(full, w.at);
    room = room < sizeof(small) ? room : sizeof(small) - 1;
    small[room] = '\x55';
    w = wbuf_make(small, room);
    f(&w, in);
    CHECK(w.overflow == (room < answer.n) && small[room] == '\x55');
    CHECK(str_starts(answer, str_between(small, w.at)));
    CHECK(w.overflow || (size_t)(w.at - small) == answer.n);
    return answer;
}

static void check_bytes(struct str s, const char *forbidden, bool ascii)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        CHECK(c == 0 || strchr(forbidden, c) == NULL);
        CHECK(!ascii || (c >= 0x20 && c < 0x7f));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = fuzz_input(data, size);
    size_t room = fuzz_byte(&in);
    room = room << 8 | fuzz_byte(&in);
    struct str text = fuzz_copy(str_head(in, 4096));

    check_bytes(escape(escape_html, text, room), "<>\"'", false);
    check_bytes(escape(escape_html_name, text, room), "<>\"'\n\r\t\x1b\x7f\xff", false);
    check_bytes(escape(escape_xml, text, room), "<>\"'\n\r\t\x1b\xff", false);
    check_bytes(escape(escape_log, text, room), "\"", true);
    struct str json = escape(escape_json, text, room);
    check_bytes(json, "<>\n\r\t\x7f", false);
    for (size_t i = 0; i < json.n; i++) {
        CHECK((unsigned char)json.p[i] >= 0x20 && json.p[i] != '"');
        if (json.p[i] == '\\') {
            CHECK(i + 1 < json.n && strchr("\"\\bfnrtu", json.p[++i]) != NULL);
        }
    }
    fuzz_free(text);
    return 0;
}
