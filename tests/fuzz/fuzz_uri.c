/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths: the model of the unit test agrees; a result has no dot segments left, stays what it is
 * when encoded and read again, and its hidden segment is the one a plain search finds.
 * Input: one byte of options, the path behind its first slash.
 */
#include "fuzz.h"

#include "proto/uri.h"
#include "../unit/proto/uri_model.h"

/* As uri_hidden_segment(), by splitting. */
static struct str hidden_model(struct str path)
{
    struct str rest = str_skip(path, 1), seg;
    bool first = true;

    while (str_split(&rest, '/', &seg)) {
        if (seg.n != 0 && seg.p[0] == '.' && !(first && str_eq(seg, STR(".well-known")))) {
            return seg;
        }
        first = false;
    }
    return STR_NONE;
}

static void check_result(struct str path, bool merge)
{
    struct str rest = str_skip(path, 1), seg, again;
    char encoded[3 * URI_MODEL_MAX], to[3 * URI_MODEL_MAX];
    struct wbuf w = wbuf_make(encoded, URI_ENCODED_MAX(path.n));

    CHECK(path.n != 0 && path.p[0] == '/');
    CHECK(!merge || str_find(path, STR("//")) < 0);
    while (str_split(&rest, '/', &seg)) {
        CHECK(!str_eq(seg, STR(".")) && !str_eq(seg, STR("..")));
    }
    struct str hidden = uri_hidden_segment(path), want = hidden_model(path);
    CHECK(hidden.p == want.p && hidden.n == want.n);
    struct str ext = uri_extension(path);
    CHECK(str_chr(ext, '/') < 0 && str_chr(ext, '.') < 0 && (ext.n == 0 || str_ends(path, ext)));

    uri_encode_path(&w, path);
    CHECK(!w.overflow);
    struct str text = str_between(encoded, w.at);
    CHECK(text.n != 0 && text.p[0] == '/' && !str_starts(text, STR("//")));
    for (size_t i = 0; i < text.n; i++) {
        CHECK(text.p[i] > 0x20 && text.p[i] < 0x7f && strchr("\"<>\\^`{|}#?", text.p[i]) == NULL);
    }
    while (str_starts(path, STR("//"))) {
        path = str_skip(path, 1);
    }
    CHECK(uri_normalise(text, false, to, &again) == URI_OK && str_eq(again, path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = fuzz_input(data, size), out;
    bool merge = fuzz_byte(&in) & 1;
    char raw[URI_MODEL_MAX] = "/", want[256];
    size_t n = 1;

    for (size_t i = 0; i < in.n && n < sizeof(raw); i++) {
        raw[n++] = in.p[i] != '\0' ? in.p[i] : '/'; /* a request target has no NUL */
    }
    struct str copy = fuzz_copy(str_make(raw, n)), room = fuzz_copy(copy);
    enum uri_result r = uri_normalise(copy, merge, (char *)(uintptr_t)room.p, &out);
    int len = uri_model(raw, (int)n, merge, want);
    CHECK((r == URI_OK) == (len >= 0));
    if (r == URI_OK) {
        CHECK(str_eq(out, str_make(want, (size_t)len)));
        CHECK(fuzz_inside(out, copy) || fuzz_inside(out, room));
        check_result(out, merge);
    }
    fuzz_free(copy);
    fuzz_free(room);
    return 0;
}
