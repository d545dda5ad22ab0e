/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order of hooks and filters: by phase and rank whatever the order of the modules, enabled
 * ones only, shared between locations, and two of one rank are a fault of the program.
 */
#include "unit.h"

#include "http/hooks.h"

#include <signal.h>
#include <sys/wait.h>

struct toy_conf {
    bool on, constant;
};

static bool toy_on(const void *conf)
{
    return ((const struct toy_conf *)conf)->on;
}

static bool toy_constant(const void *conf)
{
    return ((const struct toy_conf *)conf)->constant;
}

#define HOOK(name)                                       \
    static enum verdict name(struct request *r)          \
    {                                                    \
        (void)r;                                         \
        return VERDICT_NEXT;                             \
    }
HOOK(a_rewrite) HOOK(a_content) HOOK(b_server) HOOK(b_content) HOOK(b_log) HOOK(c_content)

static void run_filter(struct request *r, struct response *res)
{
    (void)r;
    (void)res;
}

static unsigned b_slot = 0;
static const struct directive b_rows[] = {
    {.name = "b", .type = CTYPE_SWITCH, .scopes = SCOPE_ANY_HTTP,
     .offset = offsetof(struct toy_conf, on)},
    {.name = NULL},
};

static const struct hook a_hooks[] = {
    {PHASE_CONTENT, 30, NULL, a_content}, {PHASE_REWRITE, 1, NULL, a_rewrite}, {.run = NULL}};
static const struct hook b_hooks[] = {
    {PHASE_LOG, 1, toy_on, b_log}, {PHASE_CONTENT, -5, toy_on, b_content},
    {PHASE_SERVER_REWRITE, 7, toy_on, b_server}, {.run = NULL}};
static const struct hook c_hooks[] = {{PHASE_CONTENT, 10, NULL, c_content}, {.run = NULL}};
static const struct hook clash_hooks[] = {{PHASE_CONTENT, 30, NULL, c_content}, {.run = NULL}};
static const struct filter a_filter = {.rank = 9, .run = run_filter};
static const struct filter b_filter = {
    .rank = 3, .enabled = toy_on, .run = run_filter, .constant = toy_constant};
static const struct filter clash_filter = {.rank = 9, .run = run_filter};

static const struct module a = {.magic = MODULE_MAGIC, .section = {.name = "a"}, .hooks = a_hooks,
                                .filter = &a_filter};
static const struct module b = {.magic = MODULE_MAGIC,
                                .section = {"b", b_rows, sizeof(struct toy_conf), &b_slot},
                                .hooks = b_hooks, .filter = &b_filter};
static const struct module c = {.magic = MODULE_MAGIC, .section = {.name = "c"}, .hooks = c_hooks};
static const struct module clash = {
    .magic = MODULE_MAGIC, .section = {.name = "clash"}, .hooks = clash_hooks};
static const struct module filter_clash = {
    .magic = MODULE_MAGIC, .section = {.name = "clash"}, .filter = &clash_filter};
static const struct module old = {.magic = MODULE_MAGIC - 1, .section = {.name = "old"}};

static const struct module *const forward[] = {&a, &b, &c, NULL};
static const struct module *const backward[] = {&c, &b, &a, NULL};

/* A location of a kind whose module b is configured so. */
struct place {
    struct toy_conf conf;
    void *slots[1];
    struct block block;
    struct location l;
};

static void put(struct hooks *h, struct place *p, enum location_kind kind, bool on, bool constant)
{
    p->conf = (struct toy_conf){on, constant};
    p->slots[0] = &p->conf;
    p->block = (struct block){.conf = p->slots};
    p->l = (struct location){.kind = kind, .block = &p->block};
    assert_true(hooks_place(h, &p->l));
}

static size_t list(hook_f *const *hooks, hook_f **out)
{
    size_t n = 0;
    for (; hooks != NULL && hooks[n] != NULL; n++)
        out[n] = hooks[n];
    return n;
}

static void check_order(const struct module *const *modules)
{
    struct arena *mem = arena_new(4096, 0);
    struct hooks h;
    struct place on, off, again, own;
    hook_f *got[8];
    assert_true(hooks_init(&h, mem, modules));
    put(&h, &on, LOCATION_PREFIX, true, true);
    put(&h, &again, LOCATION_EXACT, true, false);
    put(&h, &off, LOCATION_PREFIX, false, false);
    put(&h, &own, LOCATION_SERVER, true, true);

    assert_int_equal(list(on.l.phases[PHASE_CONTENT], got), 3);
    assert_ptr_equal(got[0], b_content); /* -5, 10, 30 */
    assert_ptr_equal(got[1], c_content);
    assert_ptr_equal(got[2], a_content);
    assert_int_equal(list(on.l.phases[PHASE_REWRITE], got), 1);
    assert_int_equal(list(on.l.phases[PHASE_ACCESS], got), 0);
    assert_non_null(on.l.phases[PHASE_ACCESS]);
    assert_int_equal(list(on.l.phases[PHASE_LOG], got), 1);
    assert_null(on.l.phases[PHASE_SERVER_REWRITE]); /* the server's only */
    assert_int_equal(list(own.l.phases[PHASE_SERVER_REWRITE], got), 1);
    assert_ptr_equal(got[0], b_server);

    assert_int_equal(list(off.l.phases[PHASE_CONTENT], got), 2);
    assert_ptr_equal(got[0], c_content);
    assert_int_equal(list(off.l.phases[PHASE_LOG], got), 0);

    assert_ptr_equal(on.l.filters[0], &b_filter);
    assert_ptr_equal(on.l.filters[1], &a_filter);
    assert_null(on.l.filters[2]);
    assert_ptr_equal(off.l.filters[0], &a_filter);
    assert_null(off.l.filters[1]);

    assert_ptr_equal(on.l.phases[PHASE_CONTENT], again.l.phases[PHASE_CONTENT]); /* shared */
    assert_true(on.l.heads_constant);
    assert_false(again.l.heads_constant);
    assert_true(off.l.heads_constant); /* what is off does not count */
    arena_delete(mem);
}

static void order(void **state)
{
    (void)state;
    check_order(forward);
    check_order(backward);
}

static void none(void **state)
{
    static const struct module *const modules[] = {NULL};
    struct arena *mem = arena_new(4096, 0);
    struct hooks h;
    struct place p;
    (void)state;
    assert_true(hooks_init(&h, mem, modules));
    put(&h, &p, LOCATION_PREFIX, true, true);
    assert_null(p.l.phases[PHASE_CONTENT][0]);
    assert_null(p.l.filters[0]);
    assert_true(p.l.heads_constant);
    arena_delete(mem);
}

/* hooks_init in a child, which has to abort. */
static void aborts(const struct module *const *modules)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct hooks h;
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        hooks_init(&h, arena_new(4096, 0), modules);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void equal_ranks(void **state)
{
    static const struct module *const hooks[] = {&a, &clash, NULL};
    static const struct module *const filters[] = {&a, &filter_clash, NULL};
    static const struct module *const magic[] = {&old, NULL};
    (void)state;
    aborts(hooks);
    aborts(filters);
    aborts(magic);
}

/* The modules of this very build. */
static void built_in(void **state)
{
    struct arena *mem = arena_new(4096, 0);
    struct hooks h;
    (void)state;
    assert_true(hooks_init(&h, mem, http_modules));
    arena_delete(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order), cmocka_unit_test(none), cmocka_unit_test(equal_ranks),
        cmocka_unit_test(built_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
