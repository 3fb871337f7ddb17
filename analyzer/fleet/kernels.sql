-- Kernel totals of a job: the rows and numbers of `prof report kernels --names full` for kernels.
SELECT run,
       name,
       count(*) AS count,
       CAST(sum(duration_ns) AS BIGINT) AS total_ns,
       min(duration_ns) AS min_ns,
       max(duration_ns) AS max_ns,
       count(DISTINCT process_id) AS processes
FROM operations
WHERE kind = 'kernel'
GROUP BY run, name
ORDER BY run, total_ns DESC, name;
