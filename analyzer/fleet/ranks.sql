-- The ranks of a job: the rows and numbers of `prof report ranks`, each rank on its own clock. slower_ns: by how much
-- its steps are longer than those of the median rank, without exposed communication; the slowest ranks hold a job back.
WITH of_job AS (
  SELECT run, median(own_step_ns) AS own_step_ns FROM ranks GROUP BY run
)
SELECT r.run, r.rank, r.host, p.pid, r.device_name,
       CASE WHEN r.steps > 0 THEN r.steps END AS step_count,
       r.step_ns AS step_time_ns,
       r.window_ns AS length_ns,
       r.busy_ns, r.compute_ns, r.exposed_communication_ns,
       r.copy_ns AS copy_time_ns,
       r.idle_ns, r.launches, r.operations,
       CAST(round(r.own_step_ns - j.own_step_ns) AS BIGINT) AS slower_ns
FROM ranks r
JOIN aligned_processes p ON p.run = r.run AND p.process_id = r.process_id
JOIN of_job j ON j.run = r.run
ORDER BY r.run, r.rank, r.host, p.pid;
