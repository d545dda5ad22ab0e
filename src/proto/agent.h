/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of the old browsers whose kept connections make trouble a User-Agent says it is. Pure. */
#ifndef SLUICE_PROTO_AGENT_H
#define SLUICE_PROTO_AGENT_H

#include "core/str.h"

enum agent { AGENT_OTHER, AGENT_MSIE6, AGENT_SAFARI };

/* MSIE up to 6.0 before its service pack 1 (SV1); Safari on macOS, which is no Chrome. */
enum agent agent_of(struct str user_agent);

#endif
