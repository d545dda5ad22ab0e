/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collects and prints faults.  Text from the file is never trusted: control bytes are replaced and
 * long lines are cut around the caret, so that one broken megabyte does not fill the log.
 */
#include "conf/diag.h"

#include <stdio.h>

#define MESSAGE_MAX 512  /* bytes of a message */
#define EXCERPT_MAX 60   /* bytes of a value quoted in a message */
#define LINE_MAX_SHOWN 100
#define WORD_MAX 64      /* longer words get no suggestion */

void diag_init(struct diag *d, struct arena *a)
{
    *d = (struct diag){.arena = a};
}

static bool is_tail(char c) /* a byte inside a UTF-8 sequence */
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static struct str cut(struct str s, size_t most)
{
    if (s.n <= most)
        return s;
    while (most > 0 && is_tail(s.p[most]))
        most--;
    return str_head(s, most);
}

struct str diag_excerpt(struct diag *d, struct str s)
{
    struct str head = cut(s, EXCERPT_MAX);
    return head.n == s.n ? s : arena_printf(d->arena, STR_FMT "...", STR_ARG(head));
}

/* A copy in the arena without control bytes. */
static struct str clean(struct arena *a, struct str s)
{
    char *z = arena_strz(a, s);
    if (z == NULL)
        return STR_NONE;
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)z[i] < 0x20 || z[i] == 0x7F)
            z[i] = z[i] == '\t' ? ' ' : '?';
    return str_make(z, s.n);
}

static bool same_file(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* An aliased or included value is read once per use, but is at fault only once. */
static bool known(const struct diag *d, const struct diag_entry *e)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct diag_entry *o = &d->entries[i];
        if (o->kind == e->kind && o->pos.line == e->pos.line && o->pos.column == e->pos.column &&
            e->pos.file != NULL && e->pos.line != 0 && same_file(o->pos.file, e->pos.file) &&
            str_eq(o->message, e->message))
            return true;
    }
    return false;
}

static void PRINTF_LIKE(5, 0) add(struct diag *d, enum diag_kind kind, struct pos pos,
                                  struct str path, const char *fmt, va_list ap)
{
    size_t *counter = kind == DIAG_ERROR ? &d->errors : &d->warnings;
    if (*counter >= DIAG_MAX) {
        ++*counter;
        return;
    }
    char text[MESSAGE_MAX];
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    struct str message = str_make(text, n < 0 ? 0 : (size_t)n);
    if (message.n >= sizeof(text))
        message = cut(str_make(text, sizeof(text) - 1), sizeof(text) - 4);
    struct diag_entry e = {.kind = kind, .pos = pos, .message = clean(d->arena, message)};
    if (known(d, &e))
        return;
    ++*counter;
    if (d->count == d->room) {
        size_t room = d->room == 0 ? 8 : d->room * 2;
        struct diag_entry *bigger = arena_array(d->arena, room, sizeof(*bigger));
        if (bigger == NULL)
            return;
        if (d->count != 0)
            memcpy(bigger, d->entries, d->count * sizeof(*bigger));
        d->entries = bigger;
        d->room = room;
    }
    e.path = clean(d->arena, path);
    if (d->source_line != NULL && pos.file != NULL && pos.line != 0)
        e.line = arena_str(d->arena, d->source_line(d->source_arg, &pos));
    d->entries[d->count++] = e;
}

void diag_error(struct diag *d, struct pos pos, struct str path, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(d, DIAG_ERROR, pos, path, fmt, ap);
    va_end(ap);
}

void diag_warn(struct diag *d, struct pos pos, struct str path, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(d, DIAG_WARNING, pos, path, fmt, ap);
    va_end(ap);
}

/* Is the byte at i the start of something that cannot be shown as it is? */
static bool unprintable(struct str s, size_t i)
{
    unsigned char c = (unsigned char)s.p[i];
    if (c < 0x80)
        return c < 0x20 || c == 0x7F;
    size_t len = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC2 ? 2 : 0;
    if (len == 0 || c > 0xF4 || i + len > s.n)
        return true;
    for (size_t k = 1; k < len; k++)
        if (!is_tail(s.p[i + k]))
            return true;
    unsigned char next = (unsigned char)s.p[i + 1];
    return (c == 0xC2 && next < 0xA0) ||                              /* C1 controls */
           (c == 0xE0 && next < 0xA0) || (c == 0xF0 && next < 0x90) || /* overlong */
           (c == 0xED && next >= 0xA0) || (c == 0xF4 && next >= 0x90); /* no characters */
}

/* The source line, cut around the caret, and the caret under its column. */
static void print_line(const struct diag_entry *e, struct buf *to)
{
    struct str line = e->line;
    size_t at = e->pos.column > 0 ? e->pos.column - 1 : 0;
    at = at < line.n ? at : line.n;
    size_t from = 0;
    while (from < at && (line.p[from] == ' ' || line.p[from] == '\t'))
        from++;
    if (at - from > LINE_MAX_SHOWN * 2 / 3) {
        from = at - LINE_MAX_SHOWN / 2;
        while (from > 0 && is_tail(line.p[from]))
            from--;
    }
    struct str shown = cut(str_skip(line, from), LINE_MAX_SHOWN);
    at -= from;

    buf_str(to, STR("    "));
    size_t caret = 0; /* in characters */
    for (size_t i = 0; i < shown.n;) {
        size_t len = 1;
        if (unprintable(shown, i)) {
            buf_char(to, shown.p[i] == '\t' ? ' ' : '?');
        } else {
            while (i + len < shown.n && is_tail(shown.p[i + len]))
                len++;
            buf_append(to, shown.p + i, len);
        }
        caret += i < at;
        i += len;
    }
    buf_str(to, STR("\n    "));
    for (size_t i = 0; i < caret; i++)
        buf_char(to, ' ');
    buf_str(to, STR("^\n"));
}

static void print_entry(const struct diag_entry *e, struct buf *to)
{
    if (e->pos.file != NULL) {
        buf_printf(to, "%s:", e->pos.file);
        if (e->pos.line != 0)
            buf_printf(to, "%u:%u:", e->pos.line, e->pos.column);
        buf_char(to, ' ');
    }
    if (e->kind == DIAG_WARNING)
        buf_str(to, STR("warning: "));
    if (e->path.n != 0) {
        buf_str(to, e->path);
        buf_str(to, STR(": "));
    }
    buf_str(to, e->message);
    buf_char(to, '\n');
    if (e->line.n != 0)
        print_line(e, to);
}

/* Files keep the order in which they were first at fault; inside a file the order is by place. */
static bool comes_before(const struct diag_entry *a, const struct diag_entry *b)
{
    if (a->pos.file == NULL || b->pos.file == NULL || !same_file(a->pos.file, b->pos.file))
        return false;
    return a->pos.line != b->pos.line ? a->pos.line < b->pos.line : a->pos.column < b->pos.column;
}

static bool printed_before(const struct diag *d, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same_file(d->entries[k].pos.file, d->entries[i].pos.file))
            return true;
    return false;
}

static void print_file(const struct diag *d, size_t first, struct buf *to)
{
    const struct diag_entry *order[2 * DIAG_MAX];
    size_t n = 0;
    for (size_t i = first; i < d->count && n < ARRAY_LEN(order); i++) {
        const struct diag_entry *e = &d->entries[i];
        if (!same_file(e->pos.file, d->entries[first].pos.file))
            continue;
        size_t at = n++;
        for (; at > 0 && comes_before(e, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = e;
    }
    for (size_t i = 0; i < n; i++)
        print_entry(order[i], to);
}

void diag_print(const struct diag *d, struct buf *to)
{
    for (size_t i = 0; i < d->count; i++)
        if (!printed_before(d, i))
            print_file(d, i, to);
    if (d->errors > DIAG_MAX)
        buf_printf(to, "%zu more errors are not shown\n", d->errors - DIAG_MAX);
    if (d->warnings > DIAG_MAX)
        buf_printf(to, "%zu more warnings are not shown\n", d->warnings - DIAG_MAX);
}

/*
 * Edit distance where swapping two neighbours is one step (optimal string alignment), without
 * ASCII case.  Both words are at most WORD_MAX bytes.
 */
static unsigned distance(struct str a, struct str b)
{
    unsigned char rows[3][WORD_MAX + 1];
    unsigned char *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.n; j++)
        above[j] = (unsigned char)j;
    for (size_t i = 1; i <= a.n; i++) {
        row[0] = (unsigned char)i;
        for (size_t j = 1; j <= b.n; j++) {
            unsigned char x = ascii_lower((unsigned char)a.p[i - 1]);
            unsigned char y = ascii_lower((unsigned char)b.p[j - 1]);
            unsigned best = above[j - 1] + (x != y);
            if (above[j] + 1u < best)
                best = above[j] + 1u;
            if (row[j - 1] + 1u < best)
                best = row[j - 1] + 1u;
            if (i > 1 && j > 1 && x == ascii_lower((unsigned char)b.p[j - 2]) &&
                y == ascii_lower((unsigned char)a.p[i - 2]) && before[j - 2] + 1u < best)
                best = before[j - 2] + 1u;
            row[j] = (unsigned char)best;
        }
        unsigned char *free_row = before;
        before = above;
        above = row;
        row = free_row;
    }
    return above[b.n];
}

const char *diag_suggest(struct str word, const char *const *candidates, size_t count)
{
    const char *best = NULL;
    if (word.n == 0 || word.n > WORD_MAX)
        return NULL;
    unsigned near = word.n <= 2 ? 2 : word.n <= 5 ? 3 : word.n <= 9 ? 4 : 5; /* must be below */
    for (size_t i = 0; i < count; i++) {
        struct str c = str_z(candidates[i]);
        if (c.n == 0 || c.n > WORD_MAX || c.n > word.n + near || word.n > c.n + near)
            continue;
        unsigned far = distance(word, c);
        if (far < near && far < c.n) {
            near = far;
            best = candidates[i];
        }
    }
    return best;
}
