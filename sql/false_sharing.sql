-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Specimen authors
-- Which cache lines do several threads of a process use, at several places, with stores among
-- them? Those that others modify meanwhile cost most.
SELECT pid, va - va % 64 AS cache_line,
       count(DISTINCT tid) AS threads,
       count(DISTINCT va % 64) AS places,
       count_if(op = 'load') AS loads,
       count_if(op = 'store') AS stores,
       coalesce(sum(total), 0) AS latency
FROM samples
WHERE va IS NOT NULL AND op IN ('load', 'store')
GROUP BY pid, va - va % 64
HAVING count(DISTINCT tid) > 1 AND count(DISTINCT va % 64) > 1 AND count_if(op = 'store') > 0
ORDER BY latency DESC, cache_line, pid NULLS LAST
LIMIT 20
