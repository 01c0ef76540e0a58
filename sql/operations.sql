-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Specimen authors
-- What does the program do: loads, stores, branches, and of which kind?
SELECT op, kind, count(*) AS samples, coalesce(sum(total), 0) AS latency, avg(total) AS mean
FROM samples
GROUP BY op, kind
ORDER BY samples DESC, op, kind
