/* SPDX-License-Identifier: BSD-2-Clause */
/* Slabs: alignment, reuse, counts, and (under AddressSanitizer) that free objects are poisoned. */
#include "core/slab.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#endif
#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#endif

static void test_get_put(void **state)
{
    static const size_t sizes[] = {1, 8, 16, 17, 100, 4096};

    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        struct slab s;
        unsigned char *objects[50];
        slab_init(&s, sizes[k], 7);
        for (int i = 0; i < 50; i++) {
            objects[i] = slab_get(&s);
            assert_non_null(objects[i]);
            assert_int_equal((uintptr_t)objects[i] & 15, 0);
            memset(objects[i], i, sizes[k]);
        }
        assert_int_equal(s.in_use, 50);
        assert_int_equal(s.total, 56); /* eight blocks of seven */
        for (int i = 0; i < 50; i++) { /* nothing overlaps */
            assert_int_equal(objects[i][0], i);
            assert_int_equal(objects[i][sizes[k] - 1], i);
        }
        slab_put(&s, objects[3]);
        slab_put(&s, objects[9]);
        slab_put(&s, NULL);
        assert_int_equal(s.in_use, 48);
        assert_ptr_equal(slab_get(&s), objects[9]); /* last in, first out */
        assert_ptr_equal(slab_get(&s), objects[3]);
        assert_int_equal(s.total, 56);
        slab_fini(&s); /* with objects in use */
        assert_int_equal(s.total, 0);
        assert_int_equal(s.in_use, 0);
        assert_non_null(slab_get(&s)); /* and it can be used again */
        slab_fini(&s);
    }
}

static void test_churn(void **state)
{
    struct slab s;
    uint64_t *live[64] = {0};
    uint64_t r = 7;

    (void)state;
    slab_init(&s, sizeof(uint64_t), 5);
    for (int i = 0; i < 20000; i++) {
        r = r * 6364136223846793005u + 1442695040888963407u;
        size_t at = r >> 58;
        if (live[at] == NULL) {
            live[at] = slab_get(&s);
            *live[at] = at;
        } else {
            assert_int_equal(*live[at], at);
            slab_put(&s, live[at]);
            live[at] = NULL;
        }
    }
    assert_true(s.total <= 65);
    slab_fini(&s);
}

static void test_put_too_often(void **state)
{
    int status;

    (void)state;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct slab s;
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        slab_init(&s, 32, 4);
        void *obj = slab_get(&s);
        slab_put(&s, obj);
        slab_put(&s, obj);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

#ifdef WITH_ASAN
static void test_poison(void **state)
{
    struct slab s;

    (void)state;
    slab_init(&s, 40, 4);
    char *a = slab_get(&s), *b = slab_get(&s);
    assert_null(__asan_region_is_poisoned(a, 40));
    assert_null(__asan_region_is_poisoned(b, 40));
    slab_put(&s, a);
    for (int i = 0; i < 40; i++)
        assert_true(__asan_address_is_poisoned(a + i));
    assert_null(__asan_region_is_poisoned(b, 40));
    assert_ptr_equal(slab_get(&s), a);
    assert_null(__asan_region_is_poisoned(a, 40));
    slab_fini(&s);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_get_put),
        cmocka_unit_test(test_churn),
        cmocka_unit_test(test_put_too_often),
#ifdef WITH_ASAN
        cmocka_unit_test(test_poison),
#endif
    };
    return cmocka_run_group_tests_name("core/slab", tests, NULL, NULL);
}
