/* SPDX-License-Identifier: BSD-2-Clause */
/* conf/yaml.c: events to nodes, places, merge keys, and the limits (h122, h123, h127). */
#include "conf/yaml.h"

#include "load.h"

struct parsed {
    struct arena a;
    struct diag d;
    struct node *root;
    enum status status;
    struct yaml_limits limits;
};

static struct source *current;

static struct str find_line(void *arg, const struct pos *pos)
{
    (void)arg;
    return source_line(current, pos->line);
}

static struct parsed *parse(struct str text)
{
    struct parsed *p = calloc(1, sizeof(*p));
    assert_non_null(p);
    arena_init(&p->a, NULL, 0, 4096, 0);
    diag_init(&p->d, &p->a);
    current = source_from_text(&p->a, "f", text);
    assert_non_null(current);
    p->d.source_line = find_line;
    p->status = yaml_read(&p->a, &p->d, current, &p->limits, &p->root);
    return p;
}

static void drop(struct parsed *p)
{
    arena_fini(&p->a);
    free(p);
}

/* A tree in one line: {k: v, l: [a, ~]}; quoted scalars in quotes, bad ones with a '!'. */
static void write_node(struct buf *to, const struct node *n)
{
    if (n->bad)
        buf_char(to, '!');
    if (n->kind == NODE_NULL) {
        buf_char(to, '~');
    } else if (n->kind == NODE_SCALAR) {
        buf_printf(to, n->quoted ? "\"" STR_FMT "\"" : STR_FMT, STR_ARG(n->text));
        assert_int_equal(n->text.p[n->text.n], '\0');
    } else if (n->kind == NODE_LIST) {
        buf_char(to, '[');
        for (size_t i = 0; i < n->count; i++) {
            buf_str(to, i > 0 ? STR(", ") : STR(""));
            write_node(to, n->items[i]);
        }
        buf_char(to, ']');
    } else {
        buf_char(to, '{');
        for (size_t i = 0; i < n->count; i++) {
            buf_printf(to, "%s" STR_FMT ": ", i > 0 ? ", " : "", STR_ARG(n->entries[i].key));
            write_node(to, n->entries[i].value);
        }
        buf_char(to, '}');
    }
}

static void check_tree(const char *text, const char *want)
{
    struct parsed *p = parse(str_z(text));
    struct buf b;
    buf_init(&b, 0);
    if (p->root != NULL)
        write_node(&b, p->root);
    else
        buf_str(&b, STR("none"));
    buf_char(&b, '\0');
    if (p->status != STATUS_OK || strcmp(b.p, want) != 0)
        fail_msg("status %d for\n%s\nfound    %s\nexpected %s", p->status, text, b.p, want);
    buf_fini(&b);
    drop(p);
}

static void trees(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", "none"}, {"# x\n", "none"}, {"---\n", "none"}, {"--- ~\n", "none"},
        {"a", "a"}, {"'a'", "\"a\""}, {"{}", "{}"}, {"[]", "[]"},
        {"a: b\nc: [d, 'e f', ~, null, '~', {g: h}]\n", "{a: b, c: [d, \"e f\", ~, ~, \"~\", {g: h}]}"},
        {"a:\nb: ''\nc: ~\nd: NULL\ne: nULL\n", "{a: ~, b: \"\", c: ~, d: ~, e: nULL}"},
        {"on: yes\n1: 017\n1.0: 1e3\n~: 60:30\nnull: 0x1\n",
         "{on: yes, 1: 017, 1.0: 1e3, ~: 60:30, null: 0x1}"},
        {"- - a\n  - b\n- c\n", "[[a, b], c]"},
        {"a: |\n  x\n  y\nb: >-\n  x\n  y\n", "{a: \"x\ny\n\", b: \"x y\"}"},
        {"'<<': {a: b}\n", "{<<: {a: b}}"},
        {"a: &x [1, 2]\nb: [*x, *x]\n", "{a: [1, 2], b: [[1, 2], [1, 2]]}"},
        {"a: &x 1\nb: &x 2\nc: *x\n", "{a: 1, b: 2, c: 2}"},
        {"&k a: b\nc: {*k : d}\n", "{a: b, c: {a: d}}"},
        /* merge keys: what the map has itself wins, then the first map merged */
        {"a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\n", "{a: {x: 1, y: 2}, b: {x: 1, y: 3}}"},
        {"a: &a {x: 1, y: 2}\nb: {y: 3, <<: *a, z: 4}\n",
         "{a: {x: 1, y: 2}, b: {y: 3, x: 1, z: 4}}"},
        {"b: {<<: [{x: 1}, {x: 2, y: 2}]}\n", "{b: {x: 1, y: 2}}"},
        {"b: {<<: {x: 1}, <<: {x: 2, y: 2}}\n", "{b: {x: 1, y: 2}}"},
        {"a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b}\n",
         "{a: {x: 1}, b: {x: 1, y: 2}, c: {x: 1, y: 2}}"},
        {"b: {<<: {}, x: 1}\n", "{b: {x: 1}}"},
        {"b: {<<: [], x: 1}\n", "{b: {x: 1}}"},
        {"%YAML 1.1\n---\na: b\n...\n", "{a: b}"},
        {"a: ${env:SLUICE_A}\n${env:SLUICE_A}: '${env:SLUICE_A} x'\n", "{a: one, one: \"one x\"}"},
        {"a: ${env:SLUICE_EMPTY}\n", "{a: }"}, /* text it was, text it stays */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_tree(cases[i].text, cases[i].want);
}

/* Faults that leave a tree, and those that end the reading. */
static void faults(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        unsigned line, column;
        bool fatal;
    } cases[] = {
        {"a: &x 1\n&k c: d\n*k : e\n", "\"c\" is given twice, the first time in line 2", 3, 1,
         false},
        {"a: b\n'a': c\n", "\"a\" is given twice, the first time in line 1", 2, 1, false},
        {"a: !!str b\n", "tag \"!!str\": tags are not used here, expected a plain value", 1, 4,
         false},
        {"a: ! b\n", "tag \"!\": tags are not used here, expected a plain value", 1, 4, false},
        {"[a]: b\n", "a list as a key, expected a single value", 1, 1, false},
        {"a: \"\\0\"\n", "a NUL byte in a value", 1, 4, false},
        {"a: ${env:SLUICE_UNSET}\n",
         "the environment variable SLUICE_UNSET is not set; ${env:SLUICE_UNSET:-default} gives a "
         "default",
         1, 4, false},
        {"a: x ${env:SLUICE_UNSET:}\n",
         "\"SLUICE_UNSET:\" is not the name of an environment variable", 1, 6, false},
        {"a: ${env:SLUICE_LATIN1}\n",
         "the environment variable is not valid UTF-8, expected UTF-8 text", 1, 4, false},
        {"a: *b\n", "alias \"*b\" stands for nothing, expected an anchor \"&b\" above", 1, 4, true},
        {"a: &a [*a]\n", "alias \"*a\" stands inside of what it stands for", 1, 8, true},
        {"a: &a {<<: *a}\n", "alias \"*a\" stands inside of what it stands for", 1, 12, true},
        {"a: b\n---\nc: d\n", "a second document begins here, expected one document in a file", 2,
         1, true},
        {"a: b\n...\n---\n", "a second document begins here, expected one document in a file", 3,
         1, true},
        {"a: [b\n", "\"[\" without its \"]\", expected \",\" or \"]\"", 1, 4, true},
        {"a: 'b\n", "quotes that are never closed", 1, 4, true},
        {"a: b: c\n",
         "\": \" inside a value, expected quotes around it, or the line indented like its "
         "neighbours",
         1, 5, true},
        {"a:\n\tb: c\n", "a tab, expected blanks", 2, 1, true},
        {"\xc3\xa4: \xc3\xb6\n\xc3\xbc: @\n",
         "a value cannot begin with \"@\", expected quotes around it", 2, 5, true},
        {"a: &x\n", NULL, 0, 0, false},
        {"%YAML 9.9\n---\na: b\n", "found incompatible YAML document", 1, 1, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct parsed *p = parse(str_z(cases[i].text));
        const struct diag_entry *e = p->d.entries;
        if ((p->status != STATUS_OK) != cases[i].fatal)
            fail_msg("status %d for\n%s", p->status, cases[i].text);
        if (cases[i].message == NULL) {
            assert_int_equal(p->d.count, 0);
        } else if (p->d.count != 1 || !str_eq(e->message, str_z(cases[i].message)) ||
                   e->pos.line != cases[i].line || e->pos.column != cases[i].column) {
            fail_msg("for\n%s\nfound %zu: %u:%u " STR_FMT, cases[i].text, p->d.count,
                     p->d.count > 0 ? e->pos.line : 0, p->d.count > 0 ? e->pos.column : 0,
                     STR_ARG(p->d.count > 0 ? e->message : STR("")));
        }
        drop(p);
    }
}

static void places(void **state)
{
    (void)state;
    struct parsed *p = parse(STR("\xc3\xa4: \xe6\x97\xa5\r\nb: 'x y'\r\n"
                                 "c:   plain  text\n"
                                 "d: \"a\\tb\"\n"
                                 "e: two\n  lines\n"
                                 "f: |\n  block\n"
                                 "g: \xf0\x9f\x98\x80 x # \xc2\xa0 y\nh: z\n"));
    static const struct {
        unsigned line, key_column, column;
        bool exact;
    } want[] = {
        {1, 1, 5, true}, {2, 1, 4, true}, {3, 1, 6, true}, {4, 1, 4, false},
        {5, 1, 4, false}, {7, 1, 4, false}, {9, 1, 4, true}, {10, 1, 4, true},
    };
    assert_int_equal(p->status, STATUS_OK);
    assert_int_equal(p->root->count, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        const struct node_entry *e = &p->root->entries[i];
        if (e->key_pos.line != want[i].line || e->key_pos.column != want[i].key_column ||
            e->value->pos.line != want[i].line || e->value->pos.column != want[i].column ||
            e->value->exact != want[i].exact)
            fail_msg("entry %zu: %u:%u, value %u:%u exact %d", i, e->key_pos.line,
                     e->key_pos.column, e->value->pos.line, e->value->pos.column,
                     e->value->exact);
    }
    drop(p);
}

/* h123: any depth is refused at once; 16 levels are fine, also when aliases add them up. */
static void depth(void **state)
{
    (void)state;
    static const size_t depths[] = {1, 15, 16, 17, 100, 10000, 1000000};
    alarm(60);
    for (size_t i = 0; i < ARRAY_LEN(depths); i++) {
        for (int kind = 0; kind < 3; kind++) {
            size_t n = depths[i];
            struct buf b;
            buf_init(&b, 0);
            for (size_t k = 0; k < n; k++)
                buf_str(&b, kind == 0 ? STR("[") : kind == 1 ? STR("{a: ") : STR("- "));
            buf_char(&b, 'x');
            for (size_t k = 0; k < n && kind < 2; k++)
                buf_char(&b, kind == 0 ? ']' : '}');
            struct parsed *p = parse(buf_view(&b));
            assert_int_equal(p->status, n <= YAML_DEPTH_MAX ? STATUS_OK : STATUS_INVALID);
            drop(p);
            buf_fini(&b);
        }
    }
    alarm(0);
    struct parsed *p = parse(STR("a: &a [[[[[[[[x]]]]]]]]\nb: [[[[[[[*a]]]]]]]\n"));
    assert_int_equal(p->status, STATUS_OK);
    drop(p);
    p = parse(STR("a: &a [[[[[[[[x]]]]]]]]\nb: [[[[[[[[*a]]]]]]]]\n"));
    assert_int_equal(p->status, STATUS_INVALID);
    drop(p);
}

static void check_bomb(const char *first, const char *form, unsigned levels, unsigned width)
{
    struct buf b;
    buf_init(&b, 0);
    buf_printf(&b, "l0: &l0 %s\n", first);
    for (unsigned l = 1; l <= levels; l++) {
        buf_printf(&b, "l%u: &l%u %c", l, l, form[0]);
        for (unsigned w = 0; w < width; w++)
            if (form[0] == '[')
                buf_printf(&b, "*l%u, ", l - 1);
            else
                buf_printf(&b, "k%u: *l%u, ", w, l - 1);
        buf_printf(&b, "%c\n", form[1]);
    }
    alarm(30);
    struct parsed *p = parse(buf_view(&b));
    alarm(0);
    assert_int_equal(p->status, STATUS_INVALID);
    assert_int_equal(p->d.count, 1);
    assert_true(str_starts(p->d.entries[0].message, STR("the aliases stand for too much")));
    assert_true(p->a.used < (size_t)16 << 20);
    drop(p);
    buf_fini(&b);
}

/* h122: bombs cost what their text costs. */
static void bombs(void **state)
{
    (void)state;
    check_bomb("lol", "[]", 9, 9);
    check_bomb("lol", "{}", 9, 9);
    check_bomb("[]", "[]", 12, 9);   /* no text at all, only nodes */
    check_bomb("x", "[]", 2, 1000);
    static char big[70001];
    memset(big, 'x', 70000);
    check_bomb(big, "[]", 1, 20);
}

static void big(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 0);
    buf_str(&b, STR("a: "));
    for (size_t i = 0; i < 1 << 20; i++)
        buf_char(&b, 'x');
    alarm(60);
    struct parsed *p = parse(buf_view(&b));
    assert_int_equal(p->status, STATUS_OK);
    assert_int_equal(node_get(p->root, STR("a"))->text.n, 1 << 20);
    drop(p);
    b.n = 0;
    for (size_t i = 0; i < 100000; i++)
        buf_printf(&b, "key%zu: v\n", i);
    p = parse(buf_view(&b));
    assert_int_equal(p->status, STATUS_OK);
    assert_int_equal(p->root->count, 100000);
    drop(p);
    buf_str(&b, STR("key77777: w\n"));
    p = parse(buf_view(&b));
    assert_int_equal(p->d.errors, 1);
    assert_int_equal(p->root->count, 100000);
    drop(p);
    alarm(0);
    buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees), cmocka_unit_test(faults), cmocka_unit_test(places),
        cmocka_unit_test(depth), cmocka_unit_test(bombs),  cmocka_unit_test(big),
    };
    (void)setenv("SLUICE_A", "one", 1);
    (void)setenv("SLUICE_EMPTY", "", 1);
    (void)setenv("SLUICE_LATIN1", "\xe4", 1);
    (void)unsetenv("SLUICE_UNSET");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
