/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The effective configuration as YAML (-T): what was set, in a normal form, with includes, aliases
 * and environment references resolved; defaults follow as comments.  What it prints loads to the
 * same blocks, so words are quoted twice where needed: for the split, and for YAML.
 */
#include "conf/bind.h"
#include "conf/value.h"
#include "core/check.h"

struct dumper {
    struct buf *to;
    struct arena scratch;
    const struct section *const *sections;
    unsigned indent;      /* in steps */
    bool bullet;          /* the next line begins a list item */
};

static void begin_line(struct dumper *d)
{
    unsigned steps = d->bullet ? d->indent - 1 : d->indent;
    for (unsigned i = 0; i < steps; i++)
        buf_str(d->to, STR("  "));
    if (d->bullet)
        buf_str(d->to, STR("- "));
    d->bullet = false;
}

/* ---- scalars ---- */

static bool plain_char(char c, bool first)
{
    char l = (char)ascii_lower((unsigned char)c);
    if ((l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || c == '/' || c == '_')
        return true;
    return c != '\0' && strchr(first ? ".$" : ".$-+=@~;()", c) != NULL;
}

/* May it stand without quotes, everywhere? Words with single blanks between them may. */
static bool is_plain(struct str s)
{
    static const char *const words[] = {"null", "Null", "NULL"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq(s, str_z(words[i])))
            return false;
    for (size_t i = 0; i < s.n; i++) {
        bool blank = s.p[i] == ' ' && i > 0 && i + 1 < s.n && s.p[i - 1] != ' ';
        if (!blank && !plain_char(s.p[i], i == 0))
            return false;
    }
    return s.n != 0;
}

/* One character of checked UTF-8. */
static uint32_t code_at(struct str s, size_t *n)
{
    unsigned char c = (unsigned char)s.p[0];
    *n = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    CHECK(*n <= s.n);
    uint32_t code = *n == 1 ? c : c & (0x7Fu >> *n);
    for (size_t i = 1; i < *n; i++)
        code = code << 6 | ((unsigned char)s.p[i] & 0x3F);
    return code;
}

/* What may stand in a file as it is, and is no line break to YAML 1.1. */
static bool stands_alone(uint32_t c)
{
    return (c >= 0x20 && c < 0x7F) ||
           (c >= 0xA0 && c < 0xFFFE && c != 0xFEFF && c != 0x2028 && c != 0x2029) || c >= 0x10000;
}

static void double_quoted(struct buf *to, struct str s)
{
    buf_char(to, '"');
    while (s.n != 0) {
        size_t n;
        uint32_t c = code_at(s, &n);
        if (c == '"' || c == '\\')
            buf_printf(to, "\\%c", (char)c);
        else if (c == '\n' || c == '\t')
            buf_str(to, c == '\n' ? STR("\\n") : STR("\\t"));
        else if (stands_alone(c))
            buf_append(to, s.p, n);
        else
            buf_printf(to, "\\u%04X", c);
        s = str_skip(s, n);
    }
    buf_char(to, '"');
}

static void scalar(struct buf *to, struct str s)
{
    bool simple = str_chr(s, '\'') < 0;
    for (size_t at = 0, n; at < s.n && simple; at += n)
        simple = stands_alone(code_at(str_skip(s, at), &n));
    if (is_plain(s)) {
        buf_str(to, s);
    } else if (simple && (str_chr(s, '"') >= 0 || str_chr(s, '\\') >= 0)) {
        buf_char(to, '\'');
        buf_str(to, s);
        buf_char(to, '\'');
    } else {
        double_quoted(to, s);
    }
}

/* ---- words ---- */

/* Would the backslash at i be taken for an escape when the text is split? */
static bool escapes(struct str s, size_t i)
{
    return i + 1 == s.n || s.p[i + 1] == '\0' || strchr("\"'\\trn", s.p[i + 1]) != NULL;
}

static bool splits_to_itself(struct str s)
{
    if (s.n == 0 || s.p[0] == '"' || s.p[0] == '\'')
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (strchr(" \t\r\n", s.p[i]) != NULL || (s.p[i] == '\\' && escapes(s, i)))
            return false;
    return true;
}

/* Appends a word so that splitting gives it back. */
static void put_word(struct buf *to, struct str s)
{
    if (splits_to_itself(s)) {
        buf_str(to, s);
        return;
    }
    buf_char(to, '"');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"' || (s.p[i] == '\\' && escapes(s, i)))
            buf_char(to, '\\');
        buf_char(to, s.p[i]);
    }
    buf_char(to, '"');
}

/* The arguments of one instance as one scalar. */
static void put_args(struct dumper *d, const struct args *args, bool verbatim)
{
    struct buf text;
    buf_init(&text, 0);
    for (size_t i = 0; i < args->n; i++) {
        if (i > 0)
            buf_char(&text, ' ');
        if (verbatim)
            buf_str(&text, args->v[i].text);
        else
            put_word(&text, args->v[i].text);
    }
    scalar(d->to, text.n == 0 ? STR("") : buf_view(&text));
    d->to->failed |= text.failed;
    buf_fini(&text);
}

/* Behind "name:": nothing, one scalar, or a list with an instance on each line. */
static void put_instances(struct dumper *d, const struct instances *all, unsigned flags)
{
    bool verbatim = (flags & ROW_VERBATIM) != 0;
    if (all->n == 1 && all->v[0].n > 0) {
        buf_char(d->to, ' ');
        put_args(d, &all->v[0], verbatim);
    } else if (all->n == 0) {
        buf_str(d->to, STR(" []"));
    } else if (all->n > 1) {
        for (size_t i = 0; i < all->n; i++) {
            buf_char(d->to, '\n');
            d->indent += 2;
            d->bullet = true;
            begin_line(d);
            d->indent -= 2;
            if (all->v[i].n == 0)
                buf_str(d->to, STR("[]"));
            else
                put_args(d, &all->v[i], verbatim);
        }
    }
    buf_char(d->to, '\n');
}

/* ---- nodes as written, for maps inside of keyed directives ---- */

static void put_node(struct dumper *d, const struct node *n)
{
    switch (n->kind) {
    case NODE_NULL:
        buf_char(d->to, '~');
        break;
    case NODE_SCALAR:
        scalar(d->to, n->text);
        break;
    case NODE_LIST:
        buf_char(d->to, '[');
        for (size_t i = 0; i < n->count; i++) {
            buf_str(d->to, i > 0 ? STR(", ") : STR(""));
            put_node(d, n->items[i]);
        }
        buf_char(d->to, ']');
        break;
    case NODE_MAP:
        buf_char(d->to, '{');
        for (size_t i = 0; i < n->count; i++) {
            buf_str(d->to, i > 0 ? STR(", ") : STR(""));
            scalar(d->to, n->entries[i].key);
            buf_str(d->to, STR(": "));
            put_node(d, n->entries[i].value);
        }
        buf_char(d->to, '}');
        break;
    }
}

static void put_keyed(struct dumper *d, const struct keyed *all, unsigned flags)
{
    buf_str(d->to, all->n == 0 ? STR(" {}\n") : STR("\n"));
    d->indent++;
    for (size_t i = 0; i < all->n; i++) {
        begin_line(d);
        put_args(d, &all->v[i].key, false);
        buf_char(d->to, ':');
        if (all->v[i].node->kind == NODE_MAP) {
            buf_char(d->to, ' ');
            put_node(d, all->v[i].node);
            buf_char(d->to, '\n');
        } else {
            put_instances(d, &all->v[i].values, flags);
        }
    }
    d->indent--;
}

/* ---- rows and blocks ---- */

static void put_number(struct dumper *d, const struct directive *row, int64_t v)
{
    if (v == CONF_UNLIMITED && (row->flags & ROW_UNLIMITED) != 0)
        buf_str(d->to, STR(" unlimited"));
    else if (row->type == CTYPE_INT)
        buf_printf(d->to, " %lld", (long long)v);
    else
        buf_printf(d->to, " " STR_FMT,
                   STR_ARG(row->type == CTYPE_SIZE ? value_size_text(&d->scratch, v)
                                                   : value_time_text(&d->scratch, v)));
    buf_char(d->to, '\n');
}

static void put_word_row(struct dumper *d, const struct directive *row, struct str text)
{
    struct arg arg = {.text = text};
    struct args args = {.v = &arg, .n = 1};
    struct instances one = {.v = &args, .n = 1};
    put_instances(d, &one, row->flags);
}

static void put_row(struct dumper *d, const struct directive *row, const void *conf)
{
    const void *field = (const char *)conf + row->offset;
    begin_line(d);
    buf_printf(d->to, "%s:", row->name);
    if (row->type == CTYPE_KEYED) {
        put_keyed(d, field, row->flags);
    } else if ((row->flags & ROW_REPEATABLE) != 0 || row->type == CTYPE_ARGS) {
        put_instances(d, field, row->flags);
    } else if (row->type == CTYPE_SWITCH) {
        bool on;
        memcpy(&on, field, sizeof(on));
        buf_str(d->to, on ? STR(" on\n") : STR(" off\n"));
    } else if (row->type == CTYPE_ENUM) {
        int choice;
        memcpy(&choice, field, sizeof(choice));
        put_word_row(d, row, str_z(row->choices[choice]));
    } else if (row->type == CTYPE_TEXT) {
        struct arg arg;
        memcpy(&arg, field, sizeof(arg));
        put_word_row(d, row, arg.text);
    } else if (row->type == CTYPE_PATH || row->type == CTYPE_CONF_PATH) {
        struct str path;
        memcpy(&path, field, sizeof(path));
        put_word_row(d, row, path);
    } else {
        int64_t v;
        memcpy(&v, field, sizeof(v));
        put_number(d, row, v);
    }
}

static void put_block(struct dumper *d, const struct block *b);

/* One map, on the lines behind "name:" or as an item of a list. */
static void put_map(struct dumper *d, const struct block *b, bool item)
{
    size_t before = d->to->n;
    d->indent += item ? 2 : 1;
    d->bullet = item;
    if (!item)
        buf_char(d->to, '\n');
    size_t start = d->to->n;
    put_block(d, b);
    if (d->to->n == start && !d->to->failed) {
        d->to->n = before;
        if (item)
            begin_line(d);
        buf_str(d->to, item ? STR("{}\n") : STR(" {}\n"));
    }
    d->bullet = false;
    d->indent -= item ? 2 : 1;
}

static void put_children(struct dumper *d, const struct directive *row, const struct block *b)
{
    bool any = false;
    begin_line(d);
    buf_printf(d->to, "%s:", row->name);
    for (size_t i = 0; i < b->child_count; i++) {
        const struct block *child = b->children[i];
        if (child->scope != row->block)
            continue;
        if (!any && (row->flags & (ROW_BLOCK_LIST | ROW_BLOCK_KEYED)) != 0)
            buf_char(d->to, '\n');
        any = true;
        if ((row->flags & ROW_BLOCK_KEYED) != 0) {
            d->indent++;
            begin_line(d);
            put_args(d, &child->key, false);
            buf_char(d->to, ':');
            put_map(d, child, false);
            d->indent--;
        } else {
            put_map(d, child, (row->flags & ROW_BLOCK_LIST) != 0);
        }
    }
    if (!any)
        buf_str(d->to, STR(" {}\n"));
}

static bool is_set(const struct block *b, size_t section, size_t row)
{
    return (b->set[section][row / 64] >> (row % 64) & 1) != 0;
}

/* The defaults in force, where they are not repeated for each of many blocks. */
static void put_defaults(struct dumper *d, const struct block *b)
{
    if (b->scope == SCOPE_SERVER || b->scope == SCOPE_LOCATION)
        return;
    for (size_t s = 0; d->sections[s] != NULL; s++) {
        const struct directive *table = d->sections[s]->directives;
        for (size_t i = 0; b->conf[s] != NULL && table[i].name != NULL; i++) {
            bool above = b->parent != NULL && (table[i].scopes & b->parent->scope) != 0;
            if (table[i].dflt == NULL || (table[i].scopes & b->scope) == 0 || above ||
                is_set(b, s, i))
                continue;
            begin_line(d);
            buf_printf(d->to, "# %s: ", table[i].name);
            scalar(d->to, str_z(table[i].dflt));
            buf_char(d->to, '\n');
        }
    }
}

static void put_block(struct dumper *d, const struct block *b)
{
    /* plain values first, then the blocks inside */
    for (int blocks = 0; blocks < 2; blocks++) {
        for (size_t s = 0; d->sections[s] != NULL; s++) {
            const struct directive *table = d->sections[s]->directives;
            for (size_t i = 0; b->conf[s] != NULL && table[i].name != NULL; i++) {
                if ((table[i].scopes & b->scope) == 0 || !is_set(b, s, i) ||
                    (table[i].type == CTYPE_BLOCK) != (blocks == 1))
                    continue;
                if (table[i].type == CTYPE_BLOCK)
                    put_children(d, &table[i], b);
                else
                    put_row(d, &table[i], b->conf[s]);
            }
        }
    }
}

void conf_dump(const struct block *main_block, const struct section *const *sections,
               struct buf *to)
{
    struct dumper d = {.to = to, .sections = sections};
    arena_init(&d.scratch, NULL, 0, 4096, 0);
    put_defaults(&d, main_block);
    put_block(&d, main_block);
    for (size_t i = 0; i < main_block->child_count; i++) {
        buf_printf(to, "\n# " STR_FMT ", not set:\n", STR_ARG(main_block->children[i]->path));
        put_defaults(&d, main_block->children[i]);
    }
    arena_fini(&d.scratch);
}
