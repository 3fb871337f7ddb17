-- The last collective of each rank on each communicator: the rows and states of `prof blame` (docs/blame.md).
-- A rank that is not entered holds the others, unless it waits in another communicator. parameters.after_ns is the
-- option --after. Ranks without a log have no row: compare ranks with logs.
WITH calls AS (
  SELECT run, process_id, rank, host, communicator, communicator_rank, communicator_ranks, number, call, needs_all,
         state, comparable, aligned_start_ns, clock_bound_ns
  FROM aligned_collective_calls
),
communicators AS (
  SELECT run, communicator, max(communicator_ranks) AS ranks, count(DISTINCT process_id) AS members,
         max(CASE WHEN comparable THEN number ELSE -1 END) AS reached,
         min(CASE WHEN rank IS NOT NULL AND rank = communicator_rank THEN 1 ELSE 0 END) AS of_job
  FROM calls GROUP BY run, communicator
),
jobs AS (
  SELECT run, max(rank) + 1 AS ranks FROM aligned_processes GROUP BY run
),
-- Ranks that did not even make a communicator of all ranks, and whose logs have other calls.
others AS (
  SELECT c.run, c.communicator, p.process_id, p.rank AS communicator_rank
  FROM communicators c
  JOIN jobs j ON j.run = c.run AND c.of_job = 1 AND c.ranks >= j.ranks
  JOIN (SELECT DISTINCT run, process_id, rank FROM calls WHERE rank IS NOT NULL) p ON p.run = c.run AND p.rank < c.ranks
  LEFT JOIN (SELECT DISTINCT run, communicator, process_id FROM calls) m
    ON m.run = c.run AND m.communicator = c.communicator AND m.process_id = p.process_id
  WHERE m.process_id IS NULL
),
last_calls AS (
  SELECT run, communicator, process_id, communicator_rank, number, call, state, comparable
  FROM (
    SELECT c.*, row_number() OVER (PARTITION BY run, communicator, process_id, communicator_rank
                                   ORDER BY number DESC, aligned_start_ns DESC) AS place
    FROM calls c
  ) numbered
  WHERE place = 1
  UNION ALL
  SELECT run, communicator, process_id, communicator_rank, -1 AS number, CAST(NULL AS VARCHAR(1)) AS call,
         'unknown' AS state, TRUE AS comparable
  FROM others
),
-- For each last call of a rank that others passed: who entered the next one first, and whether that shows that a call
-- of this rank is not recorded.
passed AS (
  SELECT DISTINCT l.run, l.communicator, l.number
  FROM last_calls l JOIN communicators c ON c.run = l.run AND c.communicator = l.communicator
  WHERE l.comparable AND l.number < c.reached
),
next_calls AS (
  SELECT p.run, p.communicator, p.number, c.host, c.aligned_start_ns, c.clock_bound_ns,
         max(CASE WHEN c.needs_all AND c.state = 'finished' THEN 1 ELSE 0 END)
           OVER (PARTITION BY p.run, p.communicator, p.number) AS finished,
         row_number() OVER (PARTITION BY p.run, p.communicator, p.number
                            ORDER BY c.aligned_start_ns, c.process_id) AS place
  FROM passed p
  JOIN calls c ON c.run = p.run AND c.communicator = p.communicator AND c.number > p.number AND c.comparable
),
joined AS (
  SELECT l.run, l.communicator, l.communicator_rank, c.ranks, c.members AS logs, p.rank, p.host, p.pid, l.number,
         l.call, l.state, l.comparable, l.number < c.reached AS behind, p.calls_lost, p.open_end, n.finished,
         p.aligned_end_ns - n.aligned_start_ns AS after_first_ns,
         CASE WHEN p.host = n.host THEN 0 ELSE p.clock_bound_ns + n.clock_bound_ns END AS bound_ns
  FROM last_calls l
  JOIN communicators c ON c.run = l.run AND c.communicator = l.communicator
  JOIN aligned_processes p ON p.run = l.run AND p.process_id = l.process_id
  LEFT JOIN next_calls n
    ON n.run = l.run AND n.communicator = l.communicator AND n.number = l.number AND n.place = 1
)
SELECT run, communicator, communicator_rank, ranks, logs, rank, host, pid,
       CASE
         WHEN NOT comparable THEN 'unknown'
         WHEN NOT behind THEN state
         WHEN calls_lost IS NOT NULL OR finished = 1 THEN 'unknown'
         WHEN open_end IS NOT NULL AND (bound_ns IS NULL OR after_first_ns < bound_ns + after_ns) THEN 'unknown'
         ELSE 'not entered'
       END AS state,
       CASE WHEN number >= 0 THEN number END AS collective_number,
       call AS last_collective,
       CASE
         WHEN NOT comparable THEN 'its calls have no numbers that can be compared'
         WHEN NOT behind THEN NULL
         WHEN calls_lost IS NOT NULL THEN calls_lost
         WHEN open_end IS NOT NULL AND bound_ns IS NULL THEN 'the clocks of the hosts cannot be compared'
         WHEN open_end IS NOT NULL AND after_first_ns < bound_ns + after_ns THEN open_end
         WHEN finished = 1 THEN 'others finished it, so a call of this rank is not recorded'
       END AS note
FROM joined CROSS JOIN parameters
ORDER BY run, communicator, communicator_rank, rank, host, pid;
