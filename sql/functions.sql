-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Specimen authors
-- Which functions cost the most cycles, and why?
SELECT symbol, dso,
       count(*) AS samples,
       coalesce(sum(total), 0) AS latency,
       avg(total) AS mean,
       count_if(event_l1d_miss AND op IN ('load', 'store')) AS l1_misses,
       count_if(event_tlb_walk AND op IN ('load', 'store')) AS tlb_walks,
       count_if(event_mispredicted AND op = 'branch') AS mispredicted
FROM samples
GROUP BY symbol, dso
ORDER BY latency DESC, samples DESC, symbol NULLS LAST, dso NULLS LAST
LIMIT 10
