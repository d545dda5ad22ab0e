/* SPDX-License-Identifier: BSD-2-Clause */
/* Preconditions and If-Range (behaviours.md groups H and I15-I18; hostile.md 59). */
#include "proto/cond.h"

#include "proto/date.h"
#include "rows.h"

/* The file: tag "x", last modified at AT. */
#define MTIME   784111777
#define AT      "Sun, 06 Nov 1994 08:49:37 GMT"
#define EARLIER "Sun, 06 Nov 1994 08:49:36 GMT"
#define LATER   "Sun, 06 Nov 1994 08:49:38 GMT"

#define INM "If-None-Match: "
#define IMS "If-Modified-Since: "
#define IM  "If-Match: "
#define IUS "If-Unmodified-Since: "
#define IR  "If-Range: "

enum flags { WEAK = 1, POST = 2, NO_ETAG = 4, NO_MTIME = 8, EXACT = 16, OFF = 32 };

static const struct cond_row {
    const char *name, *lines;
    int flags, want; /* 200, 304, 412 */
} rows[] = {
    {"none", "", 0, 200},
    {"H1", INM "\"x\"\r\n", 0, 304},
    {"H1 other", INM "\"y\"\r\n", 0, 200},
    {"H2 weak", INM "W/\"x\"\r\n", 0, 304},
    {"H2 own weak", INM "\"x\"\r\n", WEAK, 304},
    {"H3 list", INM "\"a\" ,, W/\"b\",\t\"x\"\r\n", 0, 304},
    {"H3 B18 lines", INM "\"a\"\r\n" INM "\"x\"\r\n", 0, 304},
    {"H4 star", INM "*\r\n", 0, 304},
    {"H4 star, no etag", INM "*\r\n", NO_ETAG, 304},
    {"H4 quoted star", INM "\"*\"\r\n", 0, 200},
    {"H5 unquoted", INM "x\r\n", 0, 200},
    {"H5 open", INM "\"x\r\n", 0, 200},
    {"H5 no etag", INM "\"x\"\r\n", NO_ETAG, 200},
    {"H6 tag differs, date same", INM "\"y\"\r\n" IMS AT "\r\n", 0, 200},
    {"H6 tag same, date old", INM "\"x\"\r\n" IMS EARLIER "\r\n", 0, 304},
    {"H6 no etag, date same", INM "\"x\"\r\n" IMS AT "\r\n", NO_ETAG, 200},
    {"H7 equal", IMS AT "\r\n", 0, 304},
    {"H7 later", IMS LATER "\r\n", 0, 304},
    {"H7 earlier", IMS EARLIER "\r\n", 0, 200},
    {"H7 exact equal", IMS AT "\r\n", EXACT, 304},
    {"H7 exact later", IMS LATER "\r\n", EXACT, 200},
    {"H7 off", IMS AT "\r\n", OFF, 200},
    {"H7 off leaves tags", INM "\"x\"\r\n", OFF, 304},
    {"H7 no date", IMS AT "\r\n", NO_MTIME, 200},
    {"H8 empty", IMS "\r\n", 0, 200},
    {"H8 junk", IMS AT "; length=5\r\n", 0, 200},
    {"H8 future", IMS "Fri, 31 Dec 9999 23:59:59 GMT\r\n", 0, 304},
    {"H9 850", IMS "Sunday, 06-Nov-94 08:49:37 GMT\r\n", 0, 304},
    {"H9 asctime", IMS "Sun Nov  6 08:49:37 1994\r\n", 0, 304},
    {"H10 match", IM "\"x\"\r\n", 0, 200},
    {"H10 star", IM "*\r\n", 0, 200},
    {"H10 star, no etag", IM "*\r\n", NO_ETAG, 200},
    {"H10 list", IM "\"a\", \"x\"\r\n", 0, 200},
    {"H10 lines", IM "\"a\"\r\n" IM "\"x\"\r\n", 0, 200},
    {"H10 differs", IM "\"y\"\r\n", 0, 412},
    {"H10 weak", IM "W/\"x\"\r\n", 0, 412},
    {"H10 own weak", IM "\"x\"\r\n", WEAK, 412},
    {"H10 no etag", IM "\"x\"\r\n", NO_ETAG, 412},
    {"H10 empty", IM "\r\n", 0, 412},
    {"H11 earlier", IUS EARLIER "\r\n", 0, 412},
    {"H11 equal", IUS AT "\r\n", 0, 200},
    {"H11 later", IUS LATER "\r\n", 0, 200},
    {"H11 invalid", IUS "x\r\n", 0, 200},
    {"H11 with If-Match", IUS EARLIER "\r\n" IM "\"x\"\r\n", 0, 200},
    {"H12 If-Match first", INM "\"x\"\r\n" IM "\"y\"\r\n", 0, 412},
    {"H12 If-Unmodified-Since first", IUS EARLIER "\r\n" INM "\"x\"\r\n", 0, 412},
    {"H12 both hold, then tags", IM "\"x\"\r\n" INM "\"x\"\r\n", 0, 304},
    {"H12 both hold, then date", IUS AT "\r\n" IMS AT "\r\n", 0, 304},
    {"13.1.2 other methods", INM "\"x\"\r\n", POST, 412},
    {"13.1.3 other methods", IMS AT "\r\n", POST, 200},
    {"I18", INM "\"x\"\r\nRange: bytes=0-1\r\n", 0, 304},
};

static const struct cond_row range_rows[] = {
    {"I15 none", "", 0, 1},
    {"I15 equal", IR "\"x\"\r\n", 0, 1},
    {"I15 differs", IR "\"y\"\r\n", 0, 0},
    {"I16 weak", IR "W/\"x\"\r\n", 0, 0},
    {"I16 own weak", IR "\"x\"\r\n", WEAK, 0},
    {"I16 both weak", IR "W/\"x\"\r\n", WEAK, 0},
    {"I15 list", IR "\"x\", \"y\"\r\n", 0, 0},
    {"I15 no etag", IR "\"x\"\r\n", NO_ETAG, 0},
    {"I15 open", IR "\"x\r\n", 0, 0},
    {"I17 equal", IR AT "\r\n", 0, 1},
    {"I17 later", IR LATER "\r\n", 0, 0},
    {"I17 earlier", IR EARLIER "\r\n", 0, 0},
    {"I17 no date", IR AT "\r\n", NO_MTIME, 0},
    {"I17 h59 garbage", IR "x\r\n", 0, 0},
    {"I17 star", IR "*\r\n", 0, 0},
    {"I17 empty", IR "\r\n", 0, 0},
};

static size_t read_fields(const struct cond_row *row, struct field *f, struct h1_meta *m,
                          struct cond_target *t)
{
    static char text[512];
    struct h1_line line = {.minor = 0};
    size_t n;

    snprintf(text, sizeof(text), "%s\r\n", row->lines);
    ROW(row->name, h1_parse_fields(str_z(text), false, false, f, 8, &n) == H1_OK);
    ROW(row->name, h1_digest(&line, f, n, m) == H1_OK);
    *t = (struct cond_target){
        .etag = {STR("x"), (row->flags & WEAK) != 0},
        .mtime = MTIME,
        .has_etag = !(row->flags & NO_ETAG),
        .has_mtime = !(row->flags & NO_MTIME),
        .get_or_head = !(row->flags & POST),
        .since = row->flags & OFF     ? COND_SINCE_OFF
                 : row->flags & EXACT ? COND_SINCE_EXACT
                                      : COND_SINCE_BEFORE,
        .now_year = 2026,
    };
    return n;
}

static void cond_table(void **state)
{
    static const int status[] = {
        [COND_NONE] = 200, [COND_NOT_MODIFIED] = 304, [COND_PRECONDITION_FAILED] = 412};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct field f[8];
        struct h1_meta m;
        struct cond_target t;
        size_t n = read_fields(&rows[i], f, &m, &t);
        struct etag held;
        int got = status[cond_evaluate(f, n, m.first, &t, &held)];
        if (got != rows[i].want) {
            fail_msg("row %s: %d", rows[i].name, got);
        }
    }
}

static void range_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(range_rows); i++) {
        struct field f[8];
        struct h1_meta m;
        struct cond_target t;
        read_fields(&range_rows[i], f, &m, &t);
        ROW(range_rows[i].name, cond_range_applies(f, m.first, &t) == range_rows[i].want);
    }
}

/* D18b: a tag of another coding of the same content matches, and is the one to be named. */
static void held_table(void **state)
{
    static const struct {
        const char *lines, *held;
    } held_rows[] = {
        {"If-None-Match: \"base-gz6\"\r\n", "base-gz6"},
        {"If-None-Match: \"base\"\r\n", "base"},
        {"If-None-Match: W/\"base-br-1\"\r\n", "base-br-1"},
        {"If-None-Match: \"base\", \"base-gz6\"\r\n", "base-gz6"}, /* the selected one's own first */
        {"If-None-Match: \"other\"\r\nIf-None-Match: \"x\", \"base-id\"\r\n", "base-id"},
        {"If-None-Match: \"basement\"\r\n", ""},
        {"If-None-Match: \"bas\"\r\n", ""},
        {"If-None-Match: base-gz6\r\n", ""},
        {"If-Match: \"base\"\r\n", ""}, /* strong comparison with the selected one */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(held_rows); i++) {
        struct cond_row row = {held_rows[i].lines, held_rows[i].lines, 0, 0};
        struct field f[8];
        struct h1_meta m;
        struct cond_target t;
        struct etag held;
        size_t n = read_fields(&row, f, &m, &t);
        t.etag = (struct etag){STR("base-gz6"), false};
        t.base = STR("base");
        bool same = cond_evaluate(f, n, m.first, &t, &held) == COND_NOT_MODIFIED;
        ROW(row.name, same == (held_rows[i].held[0] != '\0'));
        ROW(row.name, str_eq(held.opaque, str_z(held_rows[i].held)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cond_table),
        cmocka_unit_test(held_table),
        cmocka_unit_test(range_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
