-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Specimen authors
-- Which functions are hot over all hosts, by build-id and symbol? share is the part of all samples;
-- share +- plus_minus is its 95 % interval. Samples of one host are alike, so that the interval is
-- out of the differences between hosts; with fewer than about 30 hosts it is too narrow.
WITH parts AS (
    SELECT build_id, symbol, dso, host,
           CAST(count(*) AS DOUBLE) AS n,
           coalesce(sum(total), 0) AS latency,
           CAST(sum(count(*)) OVER (PARTITION BY host) AS DOUBLE) AS host_n
    FROM samples GROUP BY build_id, symbol, dso, host
), hosts AS (
    SELECT CAST(count(*) AS DOUBLE) AS n FROM samples GROUP BY host
), fleet AS (
    SELECT count(*) AS hosts, sum(n) AS n, sum(n * n) AS squares FROM hosts
), functions AS (
    SELECT build_id, symbol, max(dso) AS dso,
           count(DISTINCT host) AS hosts,
           sum(parts.n) AS samples,
           sum(latency) AS latency,
           sum(parts.n) / max(fleet.n) AS share,
           sum(parts.n * parts.n) AS squares,
           sum(parts.n * host_n) AS products,
           max(fleet.hosts) AS all_hosts,
           max(fleet.n) AS all_n,
           max(fleet.squares) AS all_squares
    FROM parts CROSS JOIN fleet GROUP BY build_id, symbol
)
SELECT build_id, symbol, dso, hosts, samples, latency, share,
       CASE WHEN all_hosts > 1 THEN
           1.96 * sqrt(greatest(squares - 2 * share * products + share * share * all_squares, 0)
                       * all_hosts / (all_hosts - 1)) / all_n END AS plus_minus
FROM functions
ORDER BY samples DESC, latency DESC, build_id NULLS LAST, symbol NULLS LAST
LIMIT 20
