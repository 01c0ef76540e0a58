-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Specimen authors
-- Which lines miss the TLB? File and line are there if the export had --lines.
SELECT symbol, file, line,
       count(*) AS accesses,
       count_if(event_tlb_walk) AS walks,
       coalesce(sum(CASE WHEN event_tlb_walk THEN translation END), 0) AS translation_cycles
FROM samples
WHERE op IN ('load', 'store')
GROUP BY symbol, file, line
HAVING count_if(event_tlb_walk) > 0
ORDER BY walks DESC, accesses DESC, symbol NULLS LAST, file NULLS LAST, line NULLS LAST
LIMIT 20
