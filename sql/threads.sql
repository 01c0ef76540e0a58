-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Specimen authors
-- Which threads wait, and for what?
SELECT pid, tid, max(comm) AS comm,
       count(*) AS samples,
       coalesce(sum(total), 0) AS latency,
       count_if(event_l1d_miss AND op IN ('load', 'store')) AS l1_misses,
       count_if(event_llc_miss AND op IN ('load', 'store')) AS llc_misses,
       count_if(event_tlb_walk AND op IN ('load', 'store')) AS tlb_walks
FROM samples
GROUP BY pid, tid
ORDER BY latency DESC, samples DESC, tid NULLS LAST
LIMIT 20
