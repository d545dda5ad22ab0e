/* SPDX-License-Identifier: BSD-2-Clause */
/* conf/include.c: patterns, cycles, what is no file, and how much may come in (h128). */
#include "conf/include.h"

#include "load.h"

#include <sys/socket.h>
#include <sys/un.h>

static void check_index(const char *yaml, const char *want)
{
    struct loaded *l = load_good(yaml);
    struct http_conf *c = CONF(http_of(l), http);
    assert_string_equal(words_of(&c->add_header), want);
    unload(l);
}

static void joined(void **state)
{
    (void)state;
    put_text("h1.inc", "add_header: X-1 one\n");
    put_text("h2.inc", "add_header: [X-2 two, X-3 three]\n");
    put_text("h3.inc", "include: h1.inc\nadd_header: X-4 four\ninclude: h2.inc\n");
    put_text("none.inc", "# nothing\n");
    check_index("http: {include: h1.inc}\n", "X-1 one");
    check_index("http: {include: [h1.inc, h2.inc]}\n", "X-1 one|X-2 two|X-3 three");
    check_index("http:\n  include: h2.inc\n  add_header: X-0 zero\n",
                "X-2 two|X-3 three|X-0 zero");
    check_index("http:\n  add_header: X-0 zero\n  include: h2.inc\n",
                "X-0 zero|X-2 two|X-3 three");
    check_index("http: {include: 'h[12].inc'}\n", "X-1 one|X-2 two|X-3 three");
    check_index("http: {include: h*.none}\n", "");
    check_index("http: {include: [nodir/*.inc, none.inc, none.inc]}\n", "");
    check_index("http: {include: []}\n", "");
    /* the same key include twice in one map is a key given twice */
    assert_string_equal(report_of("http: {include: h3.inc}\n"),
                        "h3.inc:3:1: \"include\" is given twice, the first time in line 1\n"
                        "    include: h2.inc\n"
                        "    ^\n");
}

static void blocks(void **state)
{
    (void)state;
    put_text("all.inc", "http:\n  server:\n    - server_name: b\n  index: i.html\n");
    put_text("server.inc", "server: [{server_name: c}, {server_name: d}]\n");
    put_text("loc.inc", "location:\n  /x: {root: /x}\n");
    struct loaded *l = load_good("http:\n  server: {server_name: a, include: loc.inc}\n"
                                 "  include: server.inc\ninclude: all.inc\n");
    static const char *const names[] = {"a", "c", "d", "b"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct block *s = server_of(l, i);
        char path[32];
        assert_string_equal(words_of(&CONF(s, http)->server_name), names[i]);
        (void)snprintf(path, sizeof(path), "http.server[%zu]", i);
        assert_true(str_eq(s->path, str_z(path)));
    }
    const struct block *x = child_of(server_of(l, 0), SCOPE_LOCATION, 0);
    assert_string_equal(CONF(x, http)->root.text.p, "/x");
    assert_string_equal(words_of(&CONF(http_of(l), http)->index), "i.html");
    unload(l);
}

/* Relative names start at the main file, in whatever file they stand. */
static void directories(void **state)
{
    (void)state;
    assert_int_equal(mkdir(scratch("sub"), 0755), 0);
    put_text("sub/a.inc", "include: sub/b.inc\n");
    put_text("sub/b.inc", "worker_processes: 3\n");
    struct loaded *l = load_good("include: sub/a.inc\n");
    assert_string_equal(CONF(l->top, main)->worker_processes.text.p, "3");
    assert_string_equal(strrchr(CONF(l->top, main)->worker_processes.pos.file, '/'), "/b.inc");
    unload(l);
    char yaml[256];
    (void)snprintf(yaml, sizeof(yaml), "include: %s\n", scratch("sub/b.inc"));
    unload(load_good(yaml));
}

static void cycles(void **state)
{
    (void)state;
    put_text("self.inc", "include: self.inc\n");
    put_text("a.inc", "include: b.inc\n");
    put_text("b.inc", "include: a.inc\n");
    put_text("l.inc", "location: {/a: {include: l.inc}}\n");
    assert_int_equal(symlink("l2.inc", scratch("l2-again.inc")), 0);
    put_text("l2.inc", "location: {/a: {include: l2-again.inc}}\n");
    static const struct {
        const char *yaml, *want;
    } cases[] = {
        {"include: main.yaml\n", "main.yaml:1:10: include: \"main.yaml\" is included by itself\n"},
        {"include: self.inc\n", "self.inc:1:10: include: \"self.inc\" is included by itself\n"},
        {"include: a.inc\n", "b.inc:1:10: include: \"a.inc\" is included by itself\n"},
        {"http: {server: {include: l.inc}}\n",
         "l.inc:1:26: http.server[0].location[\"/a\"].include: \"l.inc\" is included by itself\n"},
        {"http: {server: {include: l2.inc}}\n", "l2.inc:1:26: http.server[0].location[\"/a\"]"
                                                ".include: \"l2-again.inc\" is included by itself"},
        {"include: '*.yaml'\n", "main.yaml:1:11: include: \"main.yaml\" is included by itself\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (strncmp(report_of(cases[i].yaml), cases[i].want, strlen(cases[i].want)) != 0)
            fail_msg("%s\n%s", cases[i].yaml, report_of(cases[i].yaml));
}

static void too_deep(void **state)
{
    (void)state;
    char name[16], text[32];
    for (unsigned i = 1; i <= INCLUDE_DEPTH_MAX + 1; i++) {
        (void)snprintf(name, sizeof(name), "d%u.inc", i);
        (void)snprintf(text, sizeof(text), "include: d%u.inc\n", i + 1);
        put_text(name, text);
    }
    put_text("d16.inc", "worker_processes: 2\n");
    unload(load_good("include: d1.inc\n"));
    put_text("d16.inc", "include: d17.inc\n");
    put_text("d17.inc", "worker_processes: 2\n");
    assert_string_equal(report_of("include: d1.inc\n"),
                        "d16.inc:1:10: include: files include files, expected at most 16 levels\n"
                        "    include: d17.inc\n"
                        "             ^\n");
}

/* Includes of includes multiply as aliases do. */
static void bomb(void **state)
{
    (void)state;
    struct buf b;
    char name[16];
    buf_init(&b, 0);
    for (unsigned i = 0; i < 12; i++) {
        b.n = 0;
        buf_str(&b, STR("include: ["));
        for (unsigned k = 0; k < 10; k++)
            buf_printf(&b, "bomb%u.inc, ", i + 1);
        buf_str(&b, STR("]\n"));
        (void)snprintf(name, sizeof(name), "bomb%u.inc", i);
        put_bytes(name, b.p, b.n);
    }
    put_text("bomb12.inc", "add_header: a b\n");
    buf_fini(&b);
    alarm(100);
    const char *report = report_of("http: {include: bomb0.inc}\n");
    alarm(0);
    assert_non_null(strstr(report, "the included files are too much, expected at most 64 MiB"));
}

static void no_files(void **state)
{
    (void)state;
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)snprintf(un.sun_path, sizeof(un.sun_path), "%s", scratch("socket.inc"));
    assert_int_equal(bind(s, (struct sockaddr *)&un, sizeof(un)), 0);
    close(s);
    assert_int_equal(mkfifo(scratch("fifo.inc"), 0644), 0);
    assert_int_equal(mkdir(scratch("dir.inc"), 0755), 0);
    assert_int_equal(symlink("nowhere", scratch("dangling.inc")), 0);
    static const struct {
        const char *name, *want;
    } cases[] = {
        {"missing.inc", "cannot open \"missing.inc\": No such file or directory"},
        {"dangling.inc", "cannot open \"dangling.inc\": No such file or directory"},
        {"'dangl*.inc'", "cannot open \"dangling.inc\": No such file or directory"},
        {"fifo.inc", "\"fifo.inc\" is not a regular file"},
        {"'fi*.inc'", "\"fifo.inc\" is not a regular file"},
        {"dir.inc", "\"dir.inc\" is a directory, expected a file"},
        {"socket.inc", "cannot open \"socket.inc\": No such device or address"},
        {"main.yaml/x", "cannot open \"main.yaml/x\": Not a directory"},
    };
    alarm(20);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char yaml[64], want[128];
        bool quoted = cases[i].name[0] == '\'';
        (void)snprintf(yaml, sizeof(yaml), "include: %s\n", cases[i].name);
        (void)snprintf(want, sizeof(want), "main.yaml:1:%d: include: %s\n", 10 + quoted,
                       cases[i].want);
        const char *report = report_of(yaml);
        if (strncmp(report, want, strlen(want)) != 0)
            fail_msg("%s\n%s", yaml, report);
    }
    alarm(0);
    /* all faults of one pattern, and the rest of the file */
    const char *report = report_of("include: [fifo.inc, dir.inc]\npidd: x\n");
    assert_non_null(strstr(report, "fifo.inc"));
    assert_non_null(strstr(report, "dir.inc"));
    assert_non_null(strstr(report, "did you mean \"pid\""));
}

static void unreadable(void **state)
{
    (void)state;
    if (geteuid() == 0) /* root reads everything; the message is the same as for a missing one */
        return;
    put_text("secret.inc", "pid: x\n");
    assert_int_equal(chmod(scratch("secret.inc"), 0), 0);
    assert_non_null(strstr(report_of("include: secret.inc\n"), "Permission denied"));
}

static void many_files(void **state)
{
    (void)state;
    char name[32], text[64];
    assert_int_equal(mkdir(scratch("many"), 0755), 0);
    for (unsigned i = 0; i < 10000; i++) {
        (void)snprintf(name, sizeof(name), "many/%05u.inc", i);
        (void)snprintf(text, sizeof(text), "server: {server_name: n%u}\n", i);
        put_text(name, text);
    }
    alarm(100);
    struct loaded *l = load_good("http: {include: 'many/*.inc'}\n");
    alarm(0);
    assert_int_equal(http_of(l)->child_count, 10000);
    assert_string_equal(words_of(&CONF(server_of(l, 9999), http)->server_name), "n9999");
    unload(l);
}

/* A file included in many places is read once, and its fault is told once. */
static void shared(void **state)
{
    (void)state;
    put_text("shared.inc", "etag: maybe\n");
    assert_string_equal(report_of("http: {server: [{include: shared.inc}, {include: shared.inc}]}\n"),
                        "shared.inc:1:7: http.server[0].etag: \"maybe\" is not valid, expected on, "
                        "off or content\n"
                        "    etag: maybe\n"
                        "          ^\n");
    put_text("shared.inc", "etag: [maybe\n");
    assert_string_equal(report_of("http: {server: [{include: shared.inc}, {include: shared.inc}]}\n"),
                        "shared.inc:1:7: \"[\" without its \"]\", expected \",\" or \"]\"\n"
                        "    etag: [maybe\n"
                        "          ^\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined),   cmocka_unit_test(blocks),     cmocka_unit_test(directories),
        cmocka_unit_test(cycles),   cmocka_unit_test(too_deep),   cmocka_unit_test(bomb),
        cmocka_unit_test(no_files), cmocka_unit_test(unreadable), cmocka_unit_test(many_files),
        cmocka_unit_test(shared),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
