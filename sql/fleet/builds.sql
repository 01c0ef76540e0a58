-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Specimen authors
-- How do two builds of a program differ? A row for each function that both have: its part of the
-- samples of each build, and its mean latency. change +- plus_minus is the 95 % interval of the
-- difference of the means; samples are taken as independent.
WITH functions AS (
    SELECT dso, build_id, symbol,
           count(*) AS samples,
           count(*) / CAST(sum(count(*)) OVER (PARTITION BY dso, build_id) AS DOUBLE) AS share,
           avg(total) AS mean,
           var_samp(total) / count(total) AS variance
    FROM samples
    WHERE build_id IS NOT NULL AND symbol IS NOT NULL
    GROUP BY dso, build_id, symbol
)
SELECT a.dso AS dso, a.symbol AS symbol, a.build_id AS build_a, b.build_id AS build_b,
       a.samples AS samples_a, b.samples AS samples_b,
       a.share AS share_a, b.share AS share_b,
       a.mean AS mean_a, b.mean AS mean_b,
       b.mean - a.mean AS change,
       1.96 * sqrt(a.variance + b.variance) AS plus_minus
FROM functions a JOIN functions b
  ON a.dso = b.dso AND a.symbol = b.symbol AND a.build_id < b.build_id
ORDER BY abs(b.mean - a.mean) DESC NULLS LAST, dso, symbol, build_a, build_b
LIMIT 20
