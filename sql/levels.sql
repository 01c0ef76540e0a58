-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Specimen authors
-- Where did loads get their data, and how long did they wait? Percentiles are exact: the least
-- value that so many do not exceed.
SELECT source_name, level,
       count(*) AS loads,
       avg(total) AS mean,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY total) AS median,
       percentile_disc(0.95) WITHIN GROUP (ORDER BY total) AS p95,
       percentile_disc(0.99) WITHIN GROUP (ORDER BY total) AS p99,
       max(total) AS longest
FROM samples
WHERE op = 'load' AND source IS NOT NULL
GROUP BY source_name, level
ORDER BY loads DESC, source_name NULLS LAST
