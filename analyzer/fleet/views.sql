-- The tables of `prof export` with times on one clock, that of the reference of table clocks (docs/host_clocks.md).
-- Each view has the columns of its table, aligned_start_ns, and clock_bound_ns: the most error of it, null if the clock
-- is unknown. A process without a row in clocks keeps its times: run `prof export --align` after ranks are appended.
-- The same text for DuckDB and Spark SQL; statements end with a semicolon at the end of a line.

CREATE OR REPLACE TEMPORARY VIEW aligned_operations AS
SELECT t.*,
       CASE WHEN k.process_id IS NULL THEN t.start_ns
            ELSE t.start_ns - k.offset_ns - CAST(round((t.start_ns - k.from_ns) * (k.drift_ps_per_s / 1e12)) AS BIGINT)
       END AS aligned_start_ns,
       k.bound_ns + CAST(ceil(greatest(0, t.start_ns - k.to_ns, k.from_ns - t.start_ns)
                              * (k.bound_drift_ps_per_s / 1e12)) AS BIGINT) AS clock_bound_ns
FROM operations t LEFT JOIN clocks k ON k.run = t.run AND k.process_id = t.process_id;

CREATE OR REPLACE TEMPORARY VIEW aligned_calls AS
SELECT t.*,
       CASE WHEN k.process_id IS NULL THEN t.start_ns
            ELSE t.start_ns - k.offset_ns - CAST(round((t.start_ns - k.from_ns) * (k.drift_ps_per_s / 1e12)) AS BIGINT)
       END AS aligned_start_ns,
       k.bound_ns + CAST(ceil(greatest(0, t.start_ns - k.to_ns, k.from_ns - t.start_ns)
                              * (k.bound_drift_ps_per_s / 1e12)) AS BIGINT) AS clock_bound_ns
FROM calls t LEFT JOIN clocks k ON k.run = t.run AND k.process_id = t.process_id;

CREATE OR REPLACE TEMPORARY VIEW aligned_ranges AS
SELECT t.*,
       CASE WHEN k.process_id IS NULL THEN t.start_ns
            ELSE t.start_ns - k.offset_ns - CAST(round((t.start_ns - k.from_ns) * (k.drift_ps_per_s / 1e12)) AS BIGINT)
       END AS aligned_start_ns,
       k.bound_ns + CAST(ceil(greatest(0, t.start_ns - k.to_ns, k.from_ns - t.start_ns)
                              * (k.bound_drift_ps_per_s / 1e12)) AS BIGINT) AS clock_bound_ns
FROM ranges t LEFT JOIN clocks k ON k.run = t.run AND k.process_id = t.process_id;

CREATE OR REPLACE TEMPORARY VIEW aligned_collective_calls AS
SELECT t.*,
       CASE WHEN k.process_id IS NULL THEN t.start_ns
            ELSE t.start_ns - k.offset_ns - CAST(round((t.start_ns - k.from_ns) * (k.drift_ps_per_s / 1e12)) AS BIGINT)
       END AS aligned_start_ns,
       k.bound_ns + CAST(ceil(greatest(0, t.start_ns - k.to_ns, k.from_ns - t.start_ns)
                              * (k.bound_drift_ps_per_s / 1e12)) AS BIGINT) AS clock_bound_ns
FROM collective_calls t LEFT JOIN clocks k ON k.run = t.run AND k.process_id = t.process_id;

CREATE OR REPLACE TEMPORARY VIEW aligned_pair_calls AS
SELECT t.*,
       CASE WHEN k.process_id IS NULL THEN t.start_ns
            ELSE t.start_ns - k.offset_ns - CAST(round((t.start_ns - k.from_ns) * (k.drift_ps_per_s / 1e12)) AS BIGINT)
       END AS aligned_start_ns,
       k.bound_ns + CAST(ceil(greatest(0, t.start_ns - k.to_ns, k.from_ns - t.start_ns)
                              * (k.bound_drift_ps_per_s / 1e12)) AS BIGINT) AS clock_bound_ns
FROM pair_calls t LEFT JOIN clocks k ON k.run = t.run AND k.process_id = t.process_id;

-- One row a process, also with several GPUs. aligned_end_ns: until when its log shows what it did.
CREATE OR REPLACE TEMPORARY VIEW aligned_processes AS
SELECT t.*,
       CASE WHEN k.process_id IS NULL THEN t.end_ns
            ELSE t.end_ns - k.offset_ns - CAST(round((t.end_ns - k.from_ns) * (k.drift_ps_per_s / 1e12)) AS BIGINT)
       END AS aligned_end_ns,
       k.bound_ns + CAST(ceil(greatest(0, t.end_ns - k.to_ns, k.from_ns - t.end_ns)
                              * (k.bound_drift_ps_per_s / 1e12)) AS BIGINT) AS clock_bound_ns
FROM (SELECT DISTINCT run, process_id, rank, host, pid, source, end_ns, calls_lost, open_end, open_start,
                      world_size FROM processes) t
LEFT JOIN clocks k ON k.run = t.run AND k.process_id = t.process_id;

-- The pairs of rank and item that are compared, by the rules of docs/reports/ranks.md. worse: by how much the value is
-- worse than that of the median rank, as measured and at the confidence limit nearest to it (certainly_worse).
CREATE OR REPLACE TEMPORARY TABLE tested_items AS
WITH of_gpu AS (
  SELECT run, coalesce(device_name, '') AS gpu, process_id, steps, coalesce(step_ns, 0) AS step_ns, window_ns,
         compute_ns, count(*) OVER (PARTITION BY run, coalesce(device_name, '')) AS ranks_of_gpu,
         row_number() OVER (PARTITION BY run, coalesce(device_name, '') ORDER BY coalesce(step_ns, 0)) AS place
  FROM ranks
),
usual_steps AS (
  SELECT run, gpu, max(step_ns) AS usual_step_ns FROM of_gpu
  WHERE place = CAST(floor(ranks_of_gpu / 2) AS BIGINT) + 1 GROUP BY run, gpu
),
known AS (
  SELECT r.run, r.gpu, r.process_id, i.kind, i.name, coalesce(i.shape, '') AS shape, i.count AS calls, i.bytes,
         i.typical, i.low, i.high
  FROM of_gpu r JOIN rank_items i ON i.run = r.run AND i.process_id = r.process_id
  WHERE i.count >= 8 OR (i.kind = 'idle' AND r.steps = 0)
),
-- A rank without idle time of a cause has the value 0.
items AS (
  SELECT * FROM known
  UNION ALL
  SELECT r.run, r.gpu, r.process_id, c.kind, c.name, c.shape, 0, 0, 0.0e0, 0.0e0, 0.0e0
  FROM (SELECT DISTINCT run, gpu, kind, name, shape FROM known WHERE kind = 'idle') c
  JOIN of_gpu r ON r.run = c.run AND r.gpu = c.gpu
  LEFT JOIN known k ON k.run = r.run AND k.gpu = r.gpu AND k.process_id = r.process_id AND k.kind = c.kind
                       AND k.name = c.name AND k.shape = c.shape
  WHERE k.process_id IS NULL
),
middles AS (
  SELECT run, gpu, kind, name, shape, count(*) AS ranks, median(typical) AS middle
  FROM items GROUP BY run, gpu, kind, name, shape HAVING count(*) >= 4
)
SELECT i.run, i.gpu, i.process_id, i.kind, i.name, i.shape, i.calls, i.bytes, i.typical, m.ranks, m.middle,
       CASE WHEN i.kind = 'collective' THEN m.middle - i.typical ELSE i.typical - m.middle END AS worse,
       CASE WHEN i.kind = 'collective' THEN m.middle - i.high ELSE i.low - m.middle END AS certainly_worse,
       CASE i.kind WHEN 'kernel' THEN greatest(16.0e0, 0.002e0 * abs(m.middle))
                   WHEN 'copy' THEN 0.01e0 * abs(m.middle)
                   WHEN 'collective' THEN greatest(1000.0e0, 0.0025e0 * u.usual_step_ns)
                   WHEN 'idle' THEN CASE WHEN u.usual_step_ns > 0 THEN 0.0025e0 * u.usual_step_ns ELSE 0.01e0 END
                   ELSE 0.002e0 * abs(m.middle) END AS least_deviation,
       r.steps, CASE WHEN r.steps = 0 THEN r.window_ns ELSE r.step_ns END AS step_or_window_ns, r.window_ns, r.compute_ns
FROM items i
JOIN middles m ON m.run = i.run AND m.gpu = i.gpu AND m.kind = i.kind AND m.name = i.name AND m.shape = i.shape
JOIN of_gpu r ON r.run = i.run AND r.process_id = i.process_id
JOIN usual_steps u ON u.run = i.run AND u.gpu = i.gpu;
