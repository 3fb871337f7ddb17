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

-- One row a process, also with several GPUs. aligned_end_ns: until when its log shows what it did.
CREATE OR REPLACE TEMPORARY VIEW aligned_processes AS
SELECT t.*,
       CASE WHEN k.process_id IS NULL THEN t.end_ns
            ELSE t.end_ns - k.offset_ns - CAST(round((t.end_ns - k.from_ns) * (k.drift_ps_per_s / 1e12)) AS BIGINT)
       END AS aligned_end_ns,
       k.bound_ns + CAST(ceil(greatest(0, t.end_ns - k.to_ns, k.from_ns - t.end_ns)
                              * (k.bound_drift_ps_per_s / 1e12)) AS BIGINT) AS clock_bound_ns
FROM (SELECT DISTINCT run, process_id, rank, host, pid, source, end_ns, calls_lost, open_end FROM processes) t
LEFT JOIN clocks k ON k.run = t.run AND k.process_id = t.process_id;
