-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Specimen authors
-- Which branches does the machine not foresee?
SELECT pc, symbol, dso,
       count(*) AS samples,
       count_if(event_mispredicted) AS mispredicted,
       count_if(event_not_taken) AS not_taken,
       coalesce(sum(total), 0) AS latency
FROM samples
WHERE op = 'branch'
GROUP BY pc, symbol, dso
HAVING count_if(event_mispredicted) > 0
ORDER BY mispredicted DESC, samples DESC, pc
LIMIT 10
