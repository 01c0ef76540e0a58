-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Specimen authors
-- Which pages of memory cost the most cycles? Few pages: a smaller working set helps. Many: larger
-- pages do.
SELECT pid, va - va % 4096 AS page,
       count(*) AS samples,
       coalesce(sum(total), 0) AS latency,
       count_if(event_l1d_miss) AS l1_misses,
       count_if(event_tlb_walk) AS tlb_walks
FROM samples
WHERE va IS NOT NULL AND op IN ('load', 'store')
GROUP BY pid, va - va % 4096
ORDER BY latency DESC, page, pid NULLS LAST
LIMIT 20
