/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the rows say about themselves: the tables of sluice.yaml(5), in mdoc.  Also the names that
 * have no row here, so that a message can tell "not built in" from "no such thing".
 */
#include "conf/reference.h"

#include "conf/bind.h"
#include "conf/rows.h"
#include "core/check.h"

bool reference_unbuilt(struct str name, const char **hint)
{
    static const struct {
        struct str name;
        const char *hint;
    } table[] = {
#define X(text, words) {STR_INIT(text), words},
#include "conf/unbuilt.tbl"
#undef X
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct str t = table[i].name;
        bool hit = t.p[t.n - 1] == '*' ? str_starts(name, str_head(t, t.n - 1)) : str_eq(name, t);
        if (hit) {
            *hint = table[i].hint;
            return true;
        }
    }
    return false;
}

/* Text inside a quoted macro argument. */
static void quoted(struct buf *to, const char *text)
{
    buf_char(to, '"');
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '"')
            buf_str(to, STR("\\(dq"));
        else if (*p == '\\')
            buf_str(to, STR("\\e"));
        else
            buf_char(to, *p);
    }
    buf_char(to, '"');
}

/* Text on lines of its own, which must not look like a request; each sentence begins a line. */
static void running(struct buf *to, const char *text)
{
    if (text[0] == '.' || text[0] == '\'')
        buf_str(to, STR("\\&"));
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\\')
            buf_str(to, STR("\\e"));
        else if (*p == ' ' && p > text && p[-1] == '.' && p[1] >= 'A' && p[1] <= 'Z')
            buf_char(to, '\n');
        else
            buf_char(to, *p);
    }
    buf_char(to, '\n');
}

static void arguments(struct buf *to, const struct directive *row)
{
    static const char *const texts[] = {
        [CTYPE_SWITCH] = "on | off", [CTYPE_INT] = "number",     [CTYPE_SIZE] = "size",
        [CTYPE_TIME] = "time",       [CTYPE_ENUM] = "word",      [CTYPE_TEXT] = "text",
        [CTYPE_PATH] = "path",       [CTYPE_CONF_PATH] = "path", [CTYPE_ARGS] = "argument ...",
        [CTYPE_KEYED] = "{key: value, ...}",                     [CTYPE_BLOCK] = "{...}",
    };
    struct buf choices;
    buf_init(&choices, 0);
    for (size_t i = 0; row->type == CTYPE_ENUM && row->choices[i] != NULL; i++)
        buf_printf(&choices, "%s%s", i > 0 ? " | " : "", row->choices[i]);
    if (row->flags & ROW_UNLIMITED)
        buf_printf(&choices, "%s | unlimited", texts[row->type]);
    buf_char(&choices, '\0');
    quoted(to, row->args_doc != NULL                  ? row->args_doc
               : choices.n > 1 && !choices.failed     ? choices.p
                                                      : texts[row->type]);
    buf_fini(&choices);
}

static void entry(struct buf *to, struct arena *a, const struct directive *row)
{
    buf_printf(to, ".It Ic %s : Ar ", row->name);
    arguments(to, row);
    buf_char(to, '\n');
    if (row->doc != NULL && row->doc[0] != '\0')
        running(to, row->doc);
    if (row->dflt != NULL) {
        buf_str(to, STR("Default:\n.Ql "));
        quoted(to, row->dflt);
        buf_str(to, STR(" .\n"));
    }
    struct str scopes = scope_text(a, row->scopes);
    buf_printf(to, "Stands in " STR_FMT "%s.\n", STR_ARG(scopes),
               (row->flags & ROW_REPEATABLE) != 0 ? ", repeatable" : "");
}

/* The outermost scope a row may stand in: under that it is listed, once. */
static unsigned outermost(const struct directive *row)
{
    return row->scopes & -row->scopes;
}

void conf_reference(const struct section *const *sections, struct buf *to)
{
    static const struct {
        unsigned scope;
        const char *title;
    } groups[] = {
        {SCOPE_MAIN, "main"},
        {SCOPE_EVENTS, "events"},
        {SCOPE_HTTP, "http, server and location"},
        {SCOPE_SERVER, "server"},
        {SCOPE_LOCATION, "location"},
    };
    struct arena scratch;
    arena_init(&scratch, NULL, 0, 4096, 0);
    for (size_t g = 0; g < ARRAY_LEN(groups); g++) {
        size_t before = to->n;
        buf_printf(to, ".Ss Directives of %s\n.Bl -tag -width Ds\n", groups[g].title);
        size_t start = to->n;
        if (groups[g].scope == SCOPE_MAIN)
            buf_str(to, STR(".It Ic include : Ar pattern\n"
                            "The files hold keys of the block that includes them.\n"
                            "A pattern may match none, a plain name must be there.\n"
                            "Stands in any block, repeatable.\n"));
        for (size_t s = 0; sections[s] != NULL; s++)
            for (const struct directive *row = sections[s]->directives; row->name != NULL; row++)
                if (outermost(row) == groups[g].scope)
                    entry(to, &scratch, row);
        if (to->n == start)
            to->n = before;
        else
            buf_str(to, STR(".El\n"));
    }
    arena_fini(&scratch);
}
