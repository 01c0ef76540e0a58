-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Specimen authors
-- Which hosts stand out? The mean latency of their loads, and how many standard deviations of the
-- hosts' means it lies above that of all hosts.
WITH hosts AS (
    SELECT host, count(*) AS loads, avg(total) AS mean,
           count_if(event_llc_miss) / count(*) AS llc_misses,
           count_if(event_tlb_walk) / count(*) AS tlb_walks
    FROM samples WHERE op = 'load' GROUP BY host
), fleet AS (
    SELECT avg(mean) AS mean, stddev_samp(mean) AS deviation FROM hosts
)
SELECT host, loads, hosts.mean AS mean, llc_misses, tlb_walks,
       (hosts.mean - fleet.mean) / nullif(deviation, 0) AS deviations
FROM hosts CROSS JOIN fleet
ORDER BY deviations DESC NULLS LAST, host NULLS LAST
LIMIT 20
