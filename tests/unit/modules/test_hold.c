/* SPDX-License-Identifier: BSD-2-Clause */
/* limit_conn's counts (T7): over workers, of workers that die, in a zone that is full. */
#include "../http/unit.h"

#include "../../../modules/limit_conn/hold.h"

struct both {
    struct site s;
    struct zone *z;
    struct roll roll;
    struct roll_entry entry[2];
    struct holder worker[2];
};

static void begin(struct both *b)
{
    *b = (struct both){.s.arena = arena_new(1 << 16, 0)};
    diag_init(&b->s.diag, b->s.arena);
    buf_init(&b->s.report, 0);
    b->s.cy = (struct cycle_http){.arena = b->s.arena, .diag = &b->s.diag};
    struct zone def = {.name = STR("z"), .kind = &limit_conn_kind, .size = ZONE_SIZE_MIN};
    b->z = zone_define(&b->s.cy, STR("http"), &def);
    assert_true(zones_open(&b->s.cy, NULL, &b->s.report));
    assert_true(roll_open(&b->roll));
    for (int i = 0; i < 2; i++) {
        assert_true(roll_enter(&b->roll, &b->entry[i]));
        b->worker[i] = (struct holder){.roll = &b->roll, .self = b->entry[i]};
        slab_init(&b->worker[i].holds, sizeof(struct hold), 16);
    }
}

static void end(struct both *b)
{
    for (int i = 0; i < 2; i++)
        slab_fini(&b->worker[i].holds);
    roll_close(&b->roll);
    zones_close(&b->s.cy);
    site_end(&b->s);
}

static struct hold *take(struct both *b, int worker, const char *key, uint32_t most,
                         enum hold_result want)
{
    struct hold *k = NULL;
    enum hold_result got = hold_take(&b->worker[worker], b->z, zone_id(b->z, str_z(key)), most, &k);
    assert_int_equal(got, want);
    assert_int_equal(k != NULL, want == HOLD_OK);
    return k;
}

static void over_workers(void **state)
{
    struct both b;
    (void)state;
    begin(&b);
    struct hold *a = take(&b, 0, "k", 3, HOLD_OK), *c = take(&b, 1, "k", 3, HOLD_OK);
    struct hold *d = take(&b, 1, "k", 3, HOLD_OK);
    take(&b, 0, "k", 3, HOLD_TOO_MANY);
    take(&b, 1, "k", 3, HOLD_TOO_MANY);
    struct hold *e = take(&b, 0, "other", 1, HOLD_OK);
    hold_put(&b.worker[1], c);
    struct hold *f = take(&b, 0, "k", 3, HOLD_OK);
    f->refs++; /* shared: put twice */
    hold_put(&b.worker[0], f);
    take(&b, 1, "k", 3, HOLD_TOO_MANY);
    hold_put(&b.worker[0], f);
    hold_put(&b.worker[0], a);
    hold_put(&b.worker[0], e);
    hold_put(&b.worker[1], d);
    assert_int_equal(zone_used(b.z), 0);
    assert_int_equal(b.worker[0].holds.in_use + b.worker[1].holds.in_use, 0);
    end(&b);
}

static void dead_worker(void **state)
{
    struct both b;
    (void)state;
    begin(&b);
    struct hold *mine = take(&b, 0, "k", 5, HOLD_OK);
    for (int i = 0; i < 4; i++)
        take(&b, 1, "k", 5, HOLD_OK);
    take(&b, 0, "k", 5, HOLD_TOO_MANY);
    roll_leave(&b.roll, &b.entry[1]); /* killed */
    struct hold *again = take(&b, 0, "k", 2, HOLD_OK);
    take(&b, 0, "k", 2, HOLD_TOO_MANY);
    struct roll_entry next;
    assert_true(roll_enter(&b.roll, &next)); /* the same seat: what the dead one had is not his */
    b.worker[1].self = next;
    take(&b, 1, "k", 2, HOLD_TOO_MANY);
    hold_put(&b.worker[0], mine);
    hold_put(&b.worker[0], again);
    assert_int_equal(zone_used(b.z), 0);
    end(&b);
}

static void full(void **state)
{
    struct both b;
    char key[16];
    (void)state;
    begin(&b);
    uint32_t room = zone_room(b.z);
    struct hold *last = NULL;
    for (uint32_t i = 0; i < room; i++) {
        snprintf(key, sizeof(key), "%u", i);
        last = take(&b, i < room / 2 ? 1 : 0, key, 1, HOLD_OK);
    }
    take(&b, 0, "new", 1, HOLD_FULL);
    take(&b, 0, "1", 1, HOLD_TOO_MANY);
    hold_put(&b.worker[0], last);
    last = take(&b, 0, "new", 1, HOLD_OK);
    take(&b, 0, "newer", 1, HOLD_FULL);
    roll_leave(&b.roll, &b.entry[1]); /* half of the zone is a dead worker's */
    take(&b, 0, "newer", 1, HOLD_OK);
    assert_int_equal(zone_used(b.z), room - room / 2 + 1);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_workers),
        cmocka_unit_test(dead_worker),
        cmocka_unit_test(full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
