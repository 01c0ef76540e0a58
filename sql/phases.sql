-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Specimen authors
-- How does the program change in time? A row for each 10 ms that has samples.
SELECT floor(time_ns / 10000000) AS slice,
       count(*) AS samples,
       avg(total) AS mean,
       count_if(op IN ('load', 'store')) AS memory,
       count_if(event_l1d_miss AND op IN ('load', 'store')) AS l1_misses,
       count_if(op = 'branch') AS branches,
       count_if(event_mispredicted AND op = 'branch') AS mispredicted
FROM samples
WHERE time_ns IS NOT NULL
GROUP BY floor(time_ns / 10000000)
ORDER BY slice
