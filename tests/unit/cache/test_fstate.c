/* SPDX-License-Identifier: BSD-2-Clause */
/* What a stat(2) result means: kinds, ages, validators, what counts as unchanged (hostile.md 55). */
#include "cache/fentry.h"
#include "core/clock.h"
#include "unit/cache/unit.h"

static struct stat regular(int64_t mtime, int64_t ctime)
{
    return (struct stat){
        .st_mode = S_IFREG | 0644, .st_size = 5, .st_dev = 7, .st_ino = 9, .st_nlink = 1,
        .st_mtim = {.tv_sec = mtime, .tv_nsec = 123}, .st_ctim = {.tv_sec = ctime, .tv_nsec = 456},
    };
}

static void kinds(void **state)
{
    static const struct {
        mode_t mode;
        enum fentry_kind kind;
    } rows[] = {
        {S_IFREG, FENTRY_FILE},   {S_IFDIR, FENTRY_DIR},    {S_IFIFO, FENTRY_OTHER},
        {S_IFSOCK, FENTRY_OTHER}, {S_IFCHR, FENTRY_OTHER},  {S_IFBLK, FENTRY_OTHER},
        {S_IFLNK, FENTRY_OTHER},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct stat st = {.st_mode = rows[i].mode | 0644};
        assert_int_equal(fstate_kind(&st), rows[i].kind);
    }
}

static void errors_that_pass(void **state)
{
    static const int stay[] = {ENOENT, ENOTDIR, EACCES, EPERM, ELOOP, EXDEV, ENAMETOOLONG};
    static const int pass[] = {EMFILE, ENFILE, ENOMEM, EIO,    EINTR, EAGAIN,
                               ESTALE, EBUSY,  ECANCELED, ETIMEDOUT, ENODEV};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(stay); i++)
        assert_false(fstate_transient(stay[i]));
    for (size_t i = 0; i < ARRAY_LEN(pass); i++)
        assert_true(fstate_transient(pass[i]));
}

static void ages(void **state)
{
    static const struct {
        int64_t mtime, ctime; /* seconds before now; INT64_MAX: the year 9999 */
        bool young, racy;
    } rows[] = {
        {0, 0, true, true},
        {-0, 100, true, true},
        {2, 0, false, true},     /* an old time set just now */
        {2, 2, false, false},
        {100, 100, false, false},
        {-100, 100, false, false}, /* in the future */
        {100, -100, false, true},  /* the clock went back */
        {INT64_MAX, 100, false, false},
        {1000000000000, 1000000000000, false, false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t now = clock_wall().tv_sec;
        struct stat st = regular(rows[i].mtime == INT64_MAX ? 253402300799 : now - rows[i].mtime,
                                 now - rows[i].ctime);
        struct fitem it = {.e.kind = FENTRY_FILE};
        st.st_mtim.tv_nsec = clock_wall().tv_nsec;
        st.st_ctim.tv_nsec = st.st_mtim.tv_nsec;
        fstate_fill(&it, &st);
        if (it.e.young != rows[i].young || it.racy != rows[i].racy)
            fail_msg("row %zu: young %d, racy %d", i, it.e.young, it.racy);
        assert_int_equal(it.e.etag[0], rows[i].young ? 'W' : '"');
        assert_int_equal(it.e.etag[it.e.etag_n - 1], '"');
        assert_int_equal(it.e.size, 5);
    }
}

/* Each difference counts by itself. */
static void unchanged(void **state)
{
    struct stat same = regular(1000, 2000);
    struct fitem it = {.e.kind = FENTRY_FILE};
    (void)state;
    fstate_fill(&it, &same);
    assert_true(fstate_unchanged(&it, &same));
    assert_true(fstate_same(&same, &same));
    for (int i = 0; i < 9; i++) {
        struct stat st = same;
        switch (i) {
        case 0: st.st_dev++; break;
        case 1: st.st_ino++; break;
        case 2: st.st_size--; break;
        case 3: st.st_mode ^= 0400; break;
        case 4: st.st_mtim.tv_sec--; break;
        case 5: st.st_mtim.tv_nsec++; break;
        case 6: st.st_ctim.tv_sec++; break;
        case 7: st.st_ctim.tv_nsec++; break;
        default: st.st_mode = S_IFDIR | 0644; break;
        }
        assert_false(fstate_unchanged(&it, &st));
        assert_int_equal(fstate_same(&st, &same), i == 0 || i == 1 || i == 3 || i == 8);
    }
    it.racy = true;
    assert_false(fstate_unchanged(&it, &same));
}

/* h55: two states of a file never share a tag. */
static void tags(void **state)
{
    char seen[5][64];
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct stat st = regular(i == 1 ? 999 : i == 2 ? -1000 : 1000, 2000);
        struct fitem it = {.e.kind = FENTRY_FILE};
        if (i == 3)
            st.st_mtim.tv_nsec++;
        if (i == 4)
            st.st_size++;
        fstate_fill(&it, &st);
        snprintf(seen[i], sizeof(seen[i]), "%.*s", it.e.etag_n, it.e.etag);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(seen[k], seen[i]);
    }
}

static void time_limits(void **state)
{
    struct loop loop = {.now_ms = 5000};
    struct fcache c = {.loop = &loop, .inotify = 3, .conf = {.valid_ms = 60000,
                                                            .valid_blind_ms = 700}};
    struct fplace dark = {.blind = true}, bright = {.blind = false};
    static const struct {
        bool events, item_blind, place_blind, young;
        enum fentry_kind kind;
        uint64_t at;
    } rows[] = {
        {true, false, false, false, FENTRY_FILE, 65000},
        {true, false, false, true, FENTRY_FILE, 6000},
        {true, false, false, true, FENTRY_DIR, 65000},
        {true, true, false, false, FENTRY_FILE, 5700},
        {true, true, false, true, FENTRY_FILE, 5700},
        {true, false, true, false, FENTRY_ERROR, 5700},
        {false, false, false, false, FENTRY_FILE, 5700},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fitem it = {.blind = rows[i].item_blind,
                           .place = rows[i].place_blind ? &dark : &bright};
        it.e.young = rows[i].young;
        it.e.kind = (uint8_t)rows[i].kind;
        c.inotify = rows[i].events ? 3 : -1;
        assert_int_equal(fstate_check_at(&c, &it), rows[i].at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),     cmocka_unit_test(errors_that_pass), cmocka_unit_test(ages),
        cmocka_unit_test(unchanged), cmocka_unit_test(tags),             cmocka_unit_test(time_limits),
    };
    return cmocka_run_group_tests_name("fstate", tests, NULL, NULL);
}
