/* SPDX-License-Identifier: BSD-2-Clause */
/* Browsers by what they say of themselves, in nginx's order: everybody claims to be another. */
#include "proto/agent.h"

static bool has(struct str s, struct str word)
{
    return str_find(s, word) >= 0;
}

enum agent agent_of(struct str ua)
{
    ssize_t msie = str_find(ua, STR("MSIE "));
    if (has(ua, STR("Opera")))
        return AGENT_OTHER;
    if (msie >= 0) {
        struct str version = str_skip(ua, (size_t)msie + 5);
        if (version.n < 3 || version.p[1] != '.')
            return AGENT_OTHER;
        bool old = version.p[0] == '4' || version.p[0] == '5' ||
                   (version.p[0] == '6' && !has(version, STR("SV1")));
        return old ? AGENT_MSIE6 : AGENT_OTHER;
    }
    if (has(ua, STR("Gecko/")) || has(ua, STR("Chrome/")))
        return AGENT_OTHER;
    return has(ua, STR("Safari/")) && has(ua, STR("Mac OS X")) ? AGENT_SAFARI : AGENT_OTHER;
}
