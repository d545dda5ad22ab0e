-- SPDX-License-Identifier: BSD-2-Clause
-- For wrk: how many requests were answered, and how many went wrong on the way.
function done(summary)
    local e = summary.errors
    print(string.format("REPORT %d %d", summary.requests, e.connect + e.read + e.write + e.timeout))
end
