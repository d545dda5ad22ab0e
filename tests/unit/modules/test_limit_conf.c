/* SPDX-License-Identifier: BSD-2-Clause */
/* The directives of limit_req and limit_conn: what they come to, what they inherit, what is refused. */
#include "../http/unit.h"

#include "../../../modules/limit_conn/limit_conn.h"
#include "../../../modules/limit_req/limit_req.h"

#define HTTP_(lines) "http:\n" lines "  server: {listen: 8080}\n"
#define REQ_ZONE     "  limit_req_zone: $host zone=r:64k rate=10r/s\n"
#define CONN_ZONE    "  limit_conn_zone: $host zone=c:64k\n"

static const struct {
    const char *yaml, *said;
} bad[] = {
    {HTTP_("  limit_req_zone: $host zone=r:64k\n"), "takes 3 arguments, found 2"},
    {HTTP_("  limit_req_zone: $host zone=r rate=1r/s\n"),
     ":2:25: http: limit_req_zone: \"zone=r\" is not valid, expected zone=NAME:SIZE"},
    {HTTP_("  limit_req_zone: $host zone=r:4k rate=1r/s\n"),
     ":2:25: http: limit_req_zone: \"zone=r:4k\" is not valid, expected a size of 32k or more"},
    {HTTP_("  limit_req_zone: $host zone=r:64k rate=1r/h\n"),
     ":2:36: http: limit_req_zone: \"rate=1r/h\" is not valid, expected rate= and 10r/s or 30r/m"},
    {HTTP_("  limit_req_zone: $host zone=r:64k rate=0r/s\n"), "\"rate=0r/s\" is not valid"},
    {HTTP_("  limit_req_zone: $host zone=r:64k rate=r/s\n"), "\"rate=r/s\" is not valid"},
    {HTTP_("  limit_req_zone: $host zone=r:64k burst=1\n"), "\"burst=1\" is not valid, expected zone="},
    {HTTP_("  limit_req_zone: $host zone=r:64k zone=s:64k\n"), "rate=Nr/s is missing"},
    {HTTP_("  limit_req_zone: $hast zone=r:64k rate=1r/s\n"),
     ":2:19: http: unknown variable $hast, did you mean $host?"},
    {HTTP_("  limit_req_zone: [$host zone=r:64k rate=1r/s, $uri zone=r:64k rate=1r/s]\n"),
     "the zone \"r\" exists already, for limit_req"},
    {HTTP_("  limit_req_zone: $host zone=x:64k rate=1r/s\n  limit_conn_zone: $host zone=x:64k\n"),
     "the zone \"x\" exists already, for limit_"},
    {HTTP_(REQ_ZONE "  limit_req: zone=s\n"), ":3:14: http: limit_req: \"zone=s\" is not valid, expected "
                                             "zone= and the name of a zone that limit_req_zone defines"},
    {HTTP_(REQ_ZONE CONN_ZONE "  limit_req: zone=c\n"), "\"zone=c\" is not valid"},
    {HTTP_(REQ_ZONE "  limit_req: burst=4\n"), "limit_req: zone=NAME is missing"},
    {HTTP_(REQ_ZONE "  limit_req: zone=r burst=-1\n"), "\"burst=-1\" is not valid, expected zone=NAME, burst=N"},
    {HTTP_(REQ_ZONE "  limit_req: zone=r burst=1 nodlay\n"), "\"nodlay\" is not valid"},
    {HTTP_(REQ_ZONE "  limit_req: [zone=r, zone=r burst=1]\n"), "the zone \"r\" is used twice here"},
    {HTTP_(REQ_ZONE "  limit_req_status: 200\n"), "limit_req_status"},
    {HTTP_(REQ_ZONE "  limit_req_log_level: debug\n"), "limit_req_log_level"},
    {HTTP_("  limit_conn_zone: $host c:64k\n"), "\"c:64k\" is not valid, expected zone=NAME:SIZE"},
    {HTTP_(CONN_ZONE "  limit_conn: d 1\n"), "\"d\" is not valid, expected the name of a zone"},
    {HTTP_(CONN_ZONE "  limit_conn: c 0\n"), "\"0\" is not valid, expected a number from 1 to 65535"},
    {HTTP_(CONN_ZONE "  limit_conn: c 65536\n"), "\"65536\" is not valid"},
    {HTTP_(CONN_ZONE "  limit_conn: [c 1, c 2]\n"), "the zone \"c\" is used twice here"},
    {HTTP_(CONN_ZONE "  limit_conn_status: 399\n"), "limit_conn_status"},
};

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct site s;
        site_begin(&s, bad[i].yaml);
        if (s.good || strstr(s.report.p, bad[i].said) == NULL)
            fail_msg("%s\nwanted \"%s\"\n%s", bad[i].yaml, bad[i].said, s.report.p);
        site_end(&s);
    }
}

/* Rules are inherited as a whole, replaced as a whole, and taken away by an empty list. */
static void inherited(void **state)
{
    struct site s;
    (void)state;
    site_good(&s, "http:\n" REQ_ZONE CONN_ZONE
                  "  limit_req: zone=r burst=5 delay=2\n"
                  "  limit_conn: c 9\n"
                  "  server:\n    listen: 8080\n    location:\n"
                  "      /same/: {internal: off}\n"
                  "      /own/: {limit_req: zone=r burst=7 nodelay, limit_conn: c 3, limit_req_status: 429}\n"
                  "      /none/: {limit_req: [], limit_conn: []}\n");
    static const struct {
        const char *path;
        size_t count;
        uint64_t burst, delay;
        uint32_t most;
        int64_t status;
    } rows[] = {
        {"/", 1, 5000, 2000, 9, 503},
        {"/same/", 1, 5000, 2000, 9, 503},
        {"/own/", 1, 7000, LIMIT_REQ_NO_DELAY, 3, 429},
        {"/none/", 0, 0, 0, 0, 503},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct location *l = location_find(s.cy.vhosts[0], str_z(rows[i].path), NULL, &(bool){false});
        const struct limit_req_conf *req = CONF(l->block, limit_req);
        const struct limit_conn_conf *conn = CONF(l->block, limit_conn);
        assert_int_equal(req->count, rows[i].count);
        assert_int_equal(conn->count, rows[i].count);
        assert_int_equal(req->status, rows[i].status);
        assert_int_equal(*l->phases[PHASE_PREACCESS] != NULL, rows[i].count != 0);
        assert_true(req->used && conn->used);
        if (rows[i].count == 0)
            continue;
        assert_int_equal(req->rules[0].burst, rows[i].burst);
        assert_true(req->rules[0].delay == rows[i].delay);
        assert_int_equal(req->rules[0].what->rate, 10000);
        assert_int_equal(conn->rules[0].most, rows[i].most);
    }
    site_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused),
        cmocka_unit_test(inherited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
