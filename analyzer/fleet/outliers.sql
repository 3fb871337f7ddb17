-- Which ranks hold a job back, and by what: the findings of `prof report ranks`, the largest cost first. late_per_step_ns:
-- by how much the rank takes longer in the item than a typical rank, per step. deviations_limit: corrected for the
-- number of pairs of rank and item. Most kernels of a rank are one finding without an item.
CREATE OR REPLACE TEMPORARY TABLE outliers_found AS
WITH spread AS (
  SELECT run, gpu, kind, name, shape, median(abs(worse)) AS mad,
         CASE WHEN sum(CASE WHEN worse > 0 THEN 1 ELSE 0 END) >= 4
              THEN median(CASE WHEN worse > 0 THEN worse END) ELSE 0 END AS mad_of_worse
  FROM tested_items GROUP BY run, gpu, kind, name, shape
),
deviating AS (
  SELECT t.*, greatest(1.4826e0 * greatest(s.mad, s.mad_of_worse), t.least_deviation) AS deviation,
         CASE WHEN t.steps > 0 THEN t.steps ELSE 1 END AS parts
  FROM tested_items t
  JOIN spread s ON s.run = t.run AND s.gpu = t.gpu AND s.kind = t.kind AND s.name = t.name AND s.shape = t.shape
)
SELECT d.run, d.process_id, d.kind, d.name, d.shape, d.calls, d.typical, d.middle, d.step_or_window_ns,
       d.worse / d.deviation AS deviations, l.deviations_limit,
       CAST(round(CASE d.kind WHEN 'copy' THEN d.worse * d.bytes / d.parts
                              WHEN 'idle' THEN d.worse * CASE WHEN d.steps = 0 THEN d.window_ns ELSE 1 END
                              WHEN 'clock' THEN d.compute_ns / d.parts * (1 - d.middle / d.typical)
                              ELSE d.worse * d.calls / d.parts END) AS BIGINT) AS cost_ns
FROM deviating d JOIN outlier_limits l ON l.run = d.run AND l.ranks = d.ranks
WHERE d.deviation > 0 AND d.worse / d.deviation > l.deviations_limit AND d.certainly_worse > 0;

-- If more than half of the kernels of a rank are slow, and at least 5, they are one finding: the GPU is slow.
WITH slow_gpus AS (
  SELECT f.run, f.process_id, f.slow
  FROM (SELECT run, process_id, count(*) AS slow FROM outliers_found WHERE kind = 'kernel' GROUP BY run, process_id) f
  JOIN (SELECT r.run, r.process_id, count(*) AS kinds FROM rank_items r WHERE r.kind = 'kernel' AND r.count >= 8
        GROUP BY r.run, r.process_id) k ON k.run = f.run AND k.process_id = f.process_id
  WHERE f.slow >= 5 AND 2 * f.slow > k.kinds
),
of_slow_gpus AS (
  SELECT f.*, g.slow,
         row_number() OVER (PARTITION BY f.run, f.process_id ORDER BY f.typical / f.middle) AS place,
         row_number() OVER (PARTITION BY f.run, f.process_id ORDER BY f.deviations DESC) AS by_deviations
  FROM outliers_found f JOIN slow_gpus g ON g.run = f.run AND g.process_id = f.process_id
  WHERE f.kind = 'kernel'
),
findings AS (
  SELECT f.run, f.process_id, f.kind, f.name, f.shape, f.calls, f.typical / f.middle AS times_typical, f.deviations,
         f.deviations_limit, f.cost_ns, f.step_or_window_ns, f.middle
  FROM outliers_found f LEFT JOIN slow_gpus g ON g.run = f.run AND g.process_id = f.process_id
  WHERE g.process_id IS NULL OR f.kind <> 'kernel'
  UNION ALL
  SELECT run, process_id, 'kernel', CAST(NULL AS VARCHAR(1)), CAST(NULL AS VARCHAR(1)), CAST(sum(calls) AS BIGINT),
         max(CASE WHEN place = CAST(floor(slow / 2) AS BIGINT) + 1 THEN typical / middle END),
         max(deviations), max(CASE WHEN by_deviations = 1 THEN deviations_limit END), CAST(sum(cost_ns) AS BIGINT),
         max(step_or_window_ns), 1.0e0
  FROM of_slow_gpus GROUP BY run, process_id
),
-- A rank that is late has short collectives, which other findings may explain.
explained AS (
  SELECT run, process_id, sum(CASE WHEN kind = 'collective' THEN cost_ns ELSE 0 END) AS late_ns,
         sum(CASE WHEN kind = 'collective' THEN 0 ELSE cost_ns END) AS other_ns
  FROM findings GROUP BY run, process_id
)
SELECT f.run, p.rank, p.host, p.pid, f.kind, f.cost_ns AS late_per_step_ns, f.calls AS count,
       CASE WHEN f.middle > 0 THEN round(f.times_typical, 4) END AS times_typical,
       round(f.deviations, 2) AS deviations, round(f.deviations_limit, 4) AS deviations_limit, f.name, f.shape
FROM findings f
JOIN explained e ON e.run = f.run AND e.process_id = f.process_id
JOIN aligned_processes p ON p.run = f.run AND p.process_id = f.process_id
WHERE f.cost_ns >= 0.001e0 * f.step_or_window_ns AND NOT (f.kind = 'collective' AND 2 * e.other_ns >= e.late_ns)
ORDER BY f.run, f.cost_ns DESC, p.rank, p.host, p.pid, f.kind, f.name, f.shape;
