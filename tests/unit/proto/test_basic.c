/* SPDX-License-Identifier: BSD-2-Clause */
/* Basic credentials (RFC 7617): what is a name and a password, and what is refused. */
#include "proto/basic.h"

#include "unit/proto/rows.h"

static void parse(void **state)
{
    static const struct {
        const char *name;
        struct str field;
        const char *user, *password; /* NULL: refused */
    } rows[] = {
        {"RFC 7617 2", STR_INIT("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), "Aladdin", "open sesame"},
        {"RFC 7617 2.1", STR_INIT("Basic dGVzdDoxMjPCow=="), "test", "123\xc2\xa3"},
        {"scheme without case", STR_INIT("bASIC QTpi"), "A", "b"},
        {"several blanks", STR_INIT("Basic   QTpi "), "A", "b"},
        {"colons in the password", STR_INIT("Basic YTpiOmM6"), "a", "b:c:"},
        {"no name", STR_INIT("Basic OmI="), "", "b"},
        {"no password", STR_INIT("Basic YTo="), "a", ""},
        {"neither", STR_INIT("Basic Og=="), "", ""},
        {"no colon", STR_INIT("Basic YQ=="), NULL, NULL},
        {"nothing", STR_INIT("Basic "), NULL, NULL},
        {"the scheme alone", STR_INIT("Basic"), NULL, NULL},
        {"empty", STR_INIT(""), NULL, NULL},
        {"another scheme", STR_INIT("Bearer QTpi"), NULL, NULL},
        {"no blank", STR_INIT("BasicQTpi"), NULL, NULL},
        {"a tab", STR_INIT("Basic\tQTpi"), NULL, NULL},
        {"no padding", STR_INIT("Basic YTo"), NULL, NULL},
        {"too much padding", STR_INIT("Basic QTpi===="), NULL, NULL},
        {"bits behind the end", STR_INIT("Basic YTp="), NULL, NULL},
        {"URL-safe digits", STR_INIT("Basic YTo_-_-_"), NULL, NULL},
        {"a blank inside", STR_INIT("Basic QTpi QTpi"), NULL, NULL},
        {"two, as a list", STR_INIT("Basic QTpi, Basic QTpi"), NULL, NULL},
        {"NUL in the name", STR_INIT("Basic YQBhOmI="), NULL, NULL},
        {"NUL in the password", STR_INIT("Basic YTpiAGM="), NULL, NULL},
        {"LF", STR_INIT("Basic YTpiCg=="), NULL, NULL},
        {"DEL", STR_INIT("Basic YTp/"), NULL, NULL},
        {"ESC in the name", STR_INIT("Basic G2E6Yg=="), NULL, NULL},
        {"a NUL in the field", STR_INIT("Basic Q\0pi"), NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str field = copy_exact(rows[i].field);
        char *mem = malloc(BASIC_ROOM(field.n));
        struct basic b = {STR_NONE, STR_NONE};
        assert_non_null(mem);
        ROW(rows[i].name, basic_parse(field, mem, &b) == (rows[i].user != NULL));
        if (rows[i].user != NULL) {
            ROW_STR(rows[i].name, b.user, str_z(rows[i].user));
            ROW_STR(rows[i].name, b.password, str_z(rows[i].password));
        }
        free(mem);
        free_exact(field);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse),
    };
    return cmocka_run_group_tests_name("proto/basic", tests, NULL, NULL);
}
