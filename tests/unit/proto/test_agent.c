/* SPDX-License-Identifier: BSD-2-Clause */
/* What old browsers said of themselves, and what others say. */
#include "proto/agent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* behind the headers it needs */
#include <cmocka.h>

#define MOZ "Mozilla/4.0 (compatible; "

static const struct {
    const char *ua;
    enum agent want;
} rows[] = {
    {MOZ "MSIE 6.0; Windows NT 5.1)", AGENT_MSIE6},
    {MOZ "MSIE 6.0; Windows NT 5.1; SV1)", AGENT_OTHER},
    {MOZ "MSIE 5.5; Windows 98)", AGENT_MSIE6},
    {MOZ "MSIE 4.01; Windows 95)", AGENT_MSIE6},
    {MOZ "MSIE 7.0; Windows NT 6.0)", AGENT_OTHER},
    {MOZ "MSIE 10.0; Windows NT 6.1)", AGENT_OTHER},
    {MOZ "MSIE 6.0; Windows NT 5.1; en) Opera 8.0", AGENT_OTHER},
    {MOZ "MSIE 6", AGENT_OTHER},
    {"MSIE ", AGENT_OTHER},
    {"msie 6.0;", AGENT_OTHER},
    {"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
     "Version/16.1 Safari/605.1.15", AGENT_SAFARI},
    {"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) "
     "Chrome/107.0.0.0 Safari/537.36", AGENT_OTHER},
    {"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 Safari/605.1.15", AGENT_OTHER},
    {"Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:106.0) Gecko/20100101 Firefox/106.0", AGENT_OTHER},
    {"curl/7.88.1", AGENT_OTHER},
    {"", AGENT_OTHER},
};

static void agents(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (agent_of(str_z(rows[i].ua)) != rows[i].want)
            fail_msg("%s: %d", rows[i].ua, agent_of(str_z(rows[i].ua)));
    assert_int_equal(agent_of(STR_NONE), AGENT_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agents)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
