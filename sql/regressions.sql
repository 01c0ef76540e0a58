-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Specimen authors
-- What became slower from one recording to another? Views: samples_before and samples. A function's
-- part of all cycles, then and now; standard_error is that of the difference of the mean latencies:
-- a difference below twice of it may be chance.
WITH earlier AS (
    SELECT symbol, dso, count(total) AS samples, sum(total) AS latency, avg(total) AS mean,
           var_samp(total) / count(total) AS variance,
           sum(sum(total)) OVER () AS all_latency
    FROM samples_before GROUP BY symbol, dso
), later AS (
    SELECT symbol, dso, count(total) AS samples, sum(total) AS latency, avg(total) AS mean,
           var_samp(total) / count(total) AS variance,
           sum(sum(total)) OVER () AS all_latency
    FROM samples GROUP BY symbol, dso
), changes AS (
    SELECT coalesce(earlier.symbol, later.symbol) AS symbol,
           coalesce(earlier.dso, later.dso) AS dso,
           coalesce(earlier.samples, 0) AS samples_before,
           coalesce(later.samples, 0) AS samples_after,
           earlier.mean AS mean_before,
           later.mean AS mean_after,
           coalesce(earlier.latency / earlier.all_latency, 0) AS share_before,
           coalesce(later.latency / later.all_latency, 0) AS share_after,
           sqrt(earlier.variance + later.variance) AS standard_error
    FROM earlier FULL OUTER JOIN later ON earlier.symbol = later.symbol AND earlier.dso = later.dso
)
SELECT *
FROM changes
ORDER BY share_after - share_before DESC, symbol NULLS LAST, dso NULLS LAST
LIMIT 20
