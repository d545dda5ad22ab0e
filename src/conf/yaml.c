/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libyaml's events to nodes.  Only its event parser is used: its document loader expands nothing
 * either, but has no limits and no places.  There is no recursion: a stack of YAML_DEPTH_MAX
 * frames holds the open maps and lists.  libyaml counts characters, reports count bytes; one
 * cursor that moves with the events translates.
 */
#include "conf/yaml.h"

#include "conf/env.h"
#include "core/map.h"
#include "core/vec.h"

#include <yaml.h>

/* What a subtree holds, as the limits on aliases and depth need it. */
struct weight {
    size_t text, nodes;
    unsigned height;   /* 0: a scalar */
};

struct anchor {
    struct node *node;
    struct weight weight;
    bool open;         /* still being read: an alias to it would be a cycle */
};

struct raw_entry {
    struct node_entry e;
    bool merge;        /* the key is an unquoted << */
};

/* A map or list that is being read. */
struct frame {
    struct node *node;
    VEC(struct raw_entry) entries;
    VEC(struct node *) items;
    struct raw_entry next;   /* a map's: the key whose value comes next */
    bool have_key;
    bool drop;               /* that key was refused, the value goes nowhere */
    bool merges;
    struct weight weight;    /* of what is in it so far */
    struct anchor *anchor;
};

struct reader {
    yaml_parser_t yaml;
    struct arena *a;
    struct arena scratch;    /* freed when the file is read */
    struct diag *d;
    const struct source *src;
    struct yaml_limits *limits;
    struct frame frames[YAML_DEPTH_MAX];
    unsigned depth;
    struct map anchors;
    struct node *root;
    unsigned documents;
    size_t at_char, at_byte; /* the cursor */
};

static size_t byte_of(struct reader *r, size_t index)
{
    struct str t = r->src->text;
    if (r->src->ascii)
        return index < t.n ? index : t.n;
    while (r->at_char < index && r->at_byte < t.n) {
        do
            r->at_byte++;
        while (r->at_byte < t.n && ((unsigned char)t.p[r->at_byte] & 0xC0) == 0x80);
        r->at_char++;
    }
    while (r->at_char > index && r->at_byte > 0) {
        do
            r->at_byte--;
        while (r->at_byte > 0 && ((unsigned char)t.p[r->at_byte] & 0xC0) == 0x80);
        r->at_char--;
    }
    return r->at_byte;
}

static struct pos place(struct reader *r, const yaml_mark_t *mark)
{
    return source_pos(r->src, byte_of(r, mark->index));
}

/* libyaml's words for the mistakes people make most, in ours. */
static const struct wording {
    const char *theirs, *ours;
    bool begins;   /* the place where it begins helps more than that where it was found */
} wordings[] = {
    {"mapping values are not allowed in this context",
     "\": \" inside a value, expected quotes around it, or the line indented like its neighbours",
     false},
    {"did not find expected key", "expected a key here; is the indentation right?", false},
    {"did not find expected '-' indicator",
     "expected \"- \" of the next list item; is the indentation right?", false},
    {"did not find expected ',' or '}'", "\"{\" without its \"}\", expected \",\" or \"}\"", true},
    {"did not find expected ',' or ']'", "\"[\" without its \"]\", expected \",\" or \"]\"", true},
    {"could not find expected ':'", "expected \": \" behind a key", false},
    {"found unexpected end of stream", "quotes that are never closed", true},
    {"did not find expected node content", "expected a value", false},
    {"did not find expected <document start>",
     "expected the end of the file: the document is complete", false},
    {"block sequence entries are not allowed in this context",
     "a list item cannot begin here, expected it on a line of its own", false},
};

static enum status syntax_error(struct reader *r)
{
    const char *problem = r->yaml.problem == NULL ? "not YAML" : r->yaml.problem;
    const struct wording *w = wordings;
    size_t at = byte_of(r, r->yaml.problem_mark.index);
    if (r->yaml.error == YAML_MEMORY_ERROR)
        return STATUS_NOMEM;
    while (w < wordings + ARRAY_LEN(wordings) && strcmp(problem, w->theirs) != 0)
        w++;
    bool known = w < wordings + ARRAY_LEN(wordings);
    if (strcmp(problem, "found character that cannot start any token") == 0 &&
        at < r->src->text.n) {
        char c = r->src->text.p[at];
        diag_error(r->d, source_pos(r->src, at), STR_NONE,
                   c == '\t' ? "a tab, expected blanks"
                             : "a value cannot begin with \"%c\", expected quotes around it",
                   c);
    } else if (known && w->begins) {
        struct pos found = source_pos(r->src, at);
        diag_error(r->d, place(r, &r->yaml.context_mark), STR_NONE, "%s%s", w->ours,
                   at < r->src->text.n
                       ? arena_printf(r->a, " before line %u, column %u", found.line,
                                      found.column).p
                       : "");
    } else {
        diag_error(r->d, source_pos(r->src, at), STR_NONE, "%s", known ? w->ours : problem);
    }
    return STATUS_INVALID;
}

static enum status refuse(struct reader *r, const yaml_event_t *ev, const char *why)
{
    diag_error(r->d, place(r, &ev->start_mark), STR_NONE, "%s", why);
    return STATUS_INVALID;
}

static void weigh(struct weight *sum, struct weight w)
{
    /* sums stay far below SIZE_MAX: what is beyond the limit counts no further */
    sum->text += w.text <= YAML_ALIAS_TEXT_MAX ? w.text : YAML_ALIAS_TEXT_MAX + 1;
    sum->nodes += w.nodes <= YAML_ALIAS_NODES_MAX ? w.nodes : YAML_ALIAS_NODES_MAX + 1;
    if (sum->height < w.height + 1)
        sum->height = w.height + 1;
}

static void take_key(struct reader *r, struct frame *f, struct node *node, struct pos pos)
{
    f->have_key = true;
    f->drop = true;
    if (node->kind == NODE_LIST || node->kind == NODE_MAP) {
        diag_error(r->d, pos, STR_NONE, "%s as a key, expected a single value",
                   node_kind_text(node->kind));
    } else if (node->text.n == 0 && !node->quoted) { /* "" is a word of a map */
        diag_error(r->d, pos, STR_NONE, "an empty key, expected a name");
    } else if (!node->bad) {
        f->drop = false;
        f->next = (struct raw_entry){
            .e = {.key = node->text, .key_pos = pos},
            .merge = !node->quoted && str_eq(node->text, STR("<<")),
        };
    }
}

/* Hands a complete node, found at `pos`, to the map or list around it. */
static bool deliver(struct reader *r, struct node *node, struct weight w, struct pos pos)
{
    if (r->depth == 0) {
        r->root = node;
        return true;
    }
    struct frame *f = &r->frames[r->depth - 1];
    weigh(&f->weight, w);
    if (f->node->kind == NODE_LIST) {
        struct node **item = vec_push(&f->items, &r->scratch);
        if (item != NULL)
            *item = node;
        return item != NULL;
    }
    if (!f->have_key) {
        take_key(r, f, node, pos);
        return true;
    }
    f->have_key = false;
    if (f->drop)
        return true;
    struct raw_entry *e = vec_push(&f->entries, &r->scratch);
    if (e == NULL)
        return false;
    *e = f->next;
    e->e.value = node;
    f->merges |= e->merge;
    return true;
}

static bool remember(struct reader *r, const yaml_char_t *name, struct anchor anchor,
                     struct anchor **out)
{
    if (name == NULL)
        return true;
    struct anchor *kept = ARENA_NEW(&r->scratch, struct anchor);
    struct str key = arena_str(&r->scratch, str_z((const char *)name));
    if (kept == NULL || key.p == NULL)
        return false;
    *kept = anchor;
    *out = kept;
    return map_set(&r->anchors, key, kept) == STATUS_OK;
}

static void check_tag(struct reader *r, const yaml_event_t *ev, const yaml_char_t *tag,
                      struct node *node)
{
    static const struct str standard = STR_INIT("tag:yaml.org,2002:");
    struct str name = str_z((const char *)tag);
    if (tag == NULL)
        return;
    bool short_form = str_starts(name, standard);
    name = diag_excerpt(r->d, str_skip(name, short_form ? standard.n : 0));
    diag_error(r->d, place(r, &ev->start_mark), STR_NONE,
               "tag \"%s" STR_FMT "\": tags are not used here, expected a plain value",
               short_form ? "!!" : "", STR_ARG(name));
    node->bad = true;
}

static bool is_null(struct str text)
{
    return text.n == 0 || str_eq(text, STR("~")) || str_eq(text, STR("null")) ||
           str_eq(text, STR("Null")) || str_eq(text, STR("NULL"));
}

/* Do the bytes of the scalar stand in the file as they are, so that offsets in it are columns? */
static bool stands_exactly(struct reader *r, const yaml_event_t *ev, const struct node *n)
{
    size_t from = byte_of(r, ev->start_mark.index) + n->quoted;
    size_t to = byte_of(r, ev->end_mark.index) - n->quoted;
    return to > from && to - from == n->text.n &&
           memcmp(r->src->text.p + from, n->text.p, n->text.n) == 0;
}

static void replace_env(struct reader *r, struct node *n)
{
    size_t at = 0;
    struct str why, text;
    bool ok = env_expand(r->a, n->text, &text, &at, &why);
    if (ok && !source_is_utf8(text)) {
        why = STR("the environment variable is not valid UTF-8, expected UTF-8 text");
        ok = false;
    }
    if (ok) {
        n->text = text;
    } else {
        struct pos pos = n->pos;
        if (n->exact)
            pos.column += (uint32_t)(at + n->quoted);
        if (why.p != NULL)
            diag_error(r->d, pos, STR_NONE, STR_FMT, STR_ARG(why));
        n->bad = true;
    }
    n->exact = false;
}

static enum status scalar(struct reader *r, const yaml_event_t *ev)
{
    struct node *n = ARENA_NEW(r->a, struct node);
    if (n == NULL)
        return STATUS_NOMEM;
    n->kind = NODE_SCALAR;
    n->pos = place(r, &ev->start_mark);
    n->quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    n->text = arena_str(r->a, str_make((const char *)ev->data.scalar.value,
                                       ev->data.scalar.length));
    if (n->text.p == NULL)
        return STATUS_NOMEM;
    n->exact = stands_exactly(r, ev, n);
    if (!n->quoted && is_null(n->text))
        n->kind = NODE_NULL;
    if (memchr(n->text.p, '\0', n->text.n) != NULL) {
        diag_error(r->d, n->pos, STR_NONE, "a NUL byte in a value");
        n->bad = true;
    } else if (env_refers(n->text)) {
        replace_env(r, n);
    }
    check_tag(r, ev, ev->data.scalar.tag, n);
    struct anchor *anchor = NULL;
    struct weight w = {.text = n->text.n, .nodes = 1};
    return remember(r, ev->data.scalar.anchor, (struct anchor){n, w, false}, &anchor) &&
                   deliver(r, n, w, n->pos)
               ? STATUS_OK
               : STATUS_NOMEM;
}

static enum status alias(struct reader *r, const yaml_event_t *ev)
{
    const char *name = (const char *)ev->data.alias.anchor;
    const struct anchor *anchor = map_get(&r->anchors, str_z(name));
    if (anchor == NULL) {
        diag_error(r->d, place(r, &ev->start_mark), STR_NONE,
                   "alias \"*%s\" stands for nothing, expected an anchor \"&%s\" above", name,
                   name);
        return STATUS_INVALID;
    }
    if (anchor->open) {
        diag_error(r->d, place(r, &ev->start_mark), STR_NONE,
                   "alias \"*%s\" stands inside of what it stands for", name);
        return STATUS_INVALID;
    }
    r->limits->text += anchor->weight.text;
    r->limits->nodes += anchor->weight.nodes;
    if (r->limits->text > YAML_ALIAS_TEXT_MAX || r->limits->nodes > YAML_ALIAS_NODES_MAX) {
        diag_error(r->d, place(r, &ev->start_mark), STR_NONE,
                   "the aliases stand for too much, expected at most %u KiB of text and %u values",
                   YAML_ALIAS_TEXT_MAX >> 10, YAML_ALIAS_NODES_MAX);
        return STATUS_INVALID;
    }
    if (r->depth + anchor->weight.height > YAML_DEPTH_MAX)
        return refuse(r, ev, "maps and lists are nested too deeply, expected at most 16 levels");
    struct pos pos = place(r, &ev->start_mark);
    return deliver(r, anchor->node, anchor->weight, pos) ? STATUS_OK : STATUS_NOMEM;
}

static enum status open_node(struct reader *r, const yaml_event_t *ev, enum node_kind kind,
                             const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (r->depth == YAML_DEPTH_MAX)
        return refuse(r, ev, "maps and lists are nested too deeply, expected at most 16 levels");
    struct node *n = ARENA_NEW(r->a, struct node);
    if (n == NULL)
        return STATUS_NOMEM;
    n->kind = kind;
    n->pos = place(r, &ev->start_mark);
    check_tag(r, ev, tag, n);
    struct frame *f = &r->frames[r->depth++];
    *f = (struct frame){.node = n, .weight = {.nodes = 1, .height = 1}};
    return remember(r, anchor, (struct anchor){.node = n, .open = true}, &f->anchor)
               ? STATUS_OK
               : STATUS_NOMEM;
}

/* Adds what `from` has and the map has not; what came first stays. */
static bool merge_map(struct node *to, struct map *seen, const struct node *from)
{
    for (size_t i = 0; i < from->count; i++) {
        struct node_entry *e = &from->entries[i];
        enum status st = map_add(seen, e->key, e);
        if (st == STATUS_NOMEM)
            return false;
        if (st == STATUS_OK)
            to->entries[to->count++] = *e;
    }
    return true;
}

/* How many entries the value of a << can add; faults are reported here. */
static size_t merge_size(struct reader *r, const struct raw_entry *e)
{
    static const char want[] = "expected a map or a list of maps behind <<, found %s";
    const struct node *v = e->e.value;
    if (v->kind == NODE_MAP)
        return v->count;
    size_t n = 0;
    for (size_t i = 0; i < v->count && v->kind == NODE_LIST; i++) {
        if (v->items[i]->kind != NODE_MAP) {
            diag_error(r->d, v->items[i]->pos, STR_NONE, want,
                       node_kind_text(v->items[i]->kind));
            return 0;
        }
        n += v->items[i]->count;
    }
    if (v->kind != NODE_LIST)
        diag_error(r->d, e->e.key_pos, STR_NONE, want, node_kind_text(v->kind));
    return n;
}

static bool apply_merge(struct node *to, struct map *seen, const struct node *v)
{
    if (v->kind == NODE_MAP)
        return merge_map(to, seen, v);
    for (size_t i = 0; i < v->count; i++)
        if (v->items[i]->kind == NODE_MAP && !merge_map(to, seen, v->items[i]))
            return false;
    return true;
}

/* Notes the keys that stand in the map itself; the second of a pair loses its value. */
static bool note_keys(struct reader *r, struct frame *f, struct map *seen, size_t *room)
{
    for (size_t i = 0; i < f->entries.n; i++) {
        struct raw_entry *e = &f->entries.v[i];
        if (e->merge) {
            size_t more = merge_size(r, e);
            if (more == 0)
                e->e.value = NULL;
            *room += more;
            continue;
        }
        enum status st = map_add(seen, e->e.key, &e->e);
        if (st == STATUS_NOMEM)
            return false;
        if (st == STATUS_EXISTS) {
            const struct node_entry *first = map_get(seen, e->e.key);
            struct str key = diag_excerpt(r->d, e->e.key);
            diag_error(r->d, e->e.key_pos, STR_NONE,
                       "\"" STR_FMT "\" is given twice, the first time in line %u", STR_ARG(key),
                       first->key_pos.line);
            e->e.value = NULL;
        }
        ++*room;
    }
    return true;
}

static bool close_map(struct reader *r, struct frame *f)
{
    struct map seen;
    size_t room = 0;
    struct node *n = f->node;
    if (f->entries.n == 1 && !f->entries.v[0].merge) { /* as most are in a list of many routes */
        n->entries = arena_array(r->a, 1, sizeof(*n->entries));
        if (n->entries != NULL)
            n->entries[n->count++] = f->entries.v[0].e;
        return n->entries != NULL;
    }
    map_init(&seen, &r->scratch, false);
    if (!note_keys(r, f, &seen, &room))
        return false;
    n->entries = arena_array(r->a, room, sizeof(*n->entries));
    if (n->entries == NULL)
        return false;
    for (size_t i = 0; i < f->entries.n; i++) {
        const struct raw_entry *e = &f->entries.v[i];
        if (e->e.value == NULL)
            continue;
        if (!e->merge)
            n->entries[n->count++] = e->e;
        else if (!apply_merge(n, &seen, e->e.value))
            return false;
    }
    return true;
}

static enum status close_node(struct reader *r)
{
    struct frame *f = &r->frames[--r->depth];
    struct node *n = f->node;
    if (n->kind == NODE_MAP) {
        if (!close_map(r, f))
            return STATUS_NOMEM;
    } else {
        n->items = arena_array(r->a, f->items.n, sizeof(*n->items));
        if (n->items == NULL)
            return STATUS_NOMEM;
        if (f->items.n != 0)
            memcpy(n->items, f->items.v, f->items.n * sizeof(*n->items));
        n->count = f->items.n;
    }
    if (f->anchor != NULL) {
        f->anchor->weight = f->weight;
        f->anchor->open = false;
    }
    return deliver(r, n, f->weight, n->pos) ? STATUS_OK : STATUS_NOMEM;
}

static enum status handle(struct reader *r, const yaml_event_t *ev)
{
    switch (ev->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (r->documents++ == 0)
            return STATUS_OK;
        return refuse(r, ev, "a second document begins here, expected one document in a file");
    case YAML_SCALAR_EVENT:
        return scalar(r, ev);
    case YAML_ALIAS_EVENT:
        return alias(r, ev);
    case YAML_SEQUENCE_START_EVENT:
        return open_node(r, ev, NODE_LIST, ev->data.sequence_start.anchor,
                         ev->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return open_node(r, ev, NODE_MAP, ev->data.mapping_start.anchor,
                         ev->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_node(r);
    default:
        return STATUS_OK;
    }
}

enum status yaml_read(struct arena *a, struct diag *d, const struct source *src,
                      struct yaml_limits *limits, struct node **root)
{
    struct reader r = {.a = a, .d = d, .src = src, .limits = limits};
    *root = NULL;
    if (!yaml_parser_initialize(&r.yaml))
        return STATUS_NOMEM;
    arena_init(&r.scratch, NULL, 0, 64 * 1024, 0);
    map_init(&r.anchors, &r.scratch, false);
    yaml_parser_set_encoding(&r.yaml, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.yaml, (const unsigned char *)src->text.p, src->text.n);

    enum status st = STATUS_OK;
    for (bool more = true; more && st == STATUS_OK;) {
        yaml_event_t ev;
        if (!yaml_parser_parse(&r.yaml, &ev)) {
            st = syntax_error(&r);
            break;
        }
        st = handle(&r, &ev);
        more = ev.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&ev);
    }
    if (st == STATUS_OK && r.root != NULL && r.root->kind != NODE_NULL)
        *root = r.root;
    yaml_parser_delete(&r.yaml);
    arena_fini(&r.scratch);
    return st;
}
