-- The last collective of each rank on each communicator: the rows and states of `prof blame` (docs/blame.md). finding
-- names the ranks that hold the others: not entered, other collective or other order. parameters.after_ns is the option
-- --after. Ranks without a log have no row: compare ranks with logs.
CREATE OR REPLACE TEMPORARY TABLE blame_states AS
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
  SELECT run, communicator, process_id, communicator_rank, number, call, state, comparable, aligned_start_ns
  FROM (
    SELECT c.*, row_number() OVER (PARTITION BY run, communicator, process_id, communicator_rank
                                   ORDER BY number DESC, aligned_start_ns DESC) AS place
    FROM calls c
  ) numbered
  WHERE place = 1
  UNION ALL
  SELECT run, communicator, process_id, communicator_rank, -1 AS number, CAST(NULL AS VARCHAR(1)) AS call,
         'unknown' AS state, TRUE AS comparable, CAST(NULL AS BIGINT) AS aligned_start_ns
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
ends AS (
  SELECT run, max(aligned_end_ns) AS end_ns FROM aligned_processes GROUP BY run
),
joined AS (
  SELECT l.run, l.communicator, l.process_id, l.communicator_rank, c.ranks, c.members AS logs, p.rank, p.host, p.pid,
         l.number, l.call, l.state AS own_state, l.comparable, l.number < c.reached AS behind, p.calls_lost, p.open_end,
         n.finished, p.aligned_end_ns - n.aligned_start_ns AS after_first_ns, l.number = c.reached AS is_last,
         e.end_ns - l.aligned_start_ns >= after_ns AS is_old, e.end_ns - n.aligned_start_ns >= after_ns AS others_wait,
         CASE WHEN p.host = n.host THEN 0 ELSE p.clock_bound_ns + n.clock_bound_ns END AS bound_ns
  FROM last_calls l
  JOIN communicators c ON c.run = l.run AND c.communicator = l.communicator
  JOIN ends e ON e.run = l.run
  JOIN aligned_processes p ON p.run = l.run AND p.process_id = l.process_id
  LEFT JOIN next_calls n
    ON n.run = l.run AND n.communicator = l.communicator AND n.number = l.number AND n.place = 1
  CROSS JOIN parameters
),
states AS (
  SELECT j.*, CASE
         WHEN NOT comparable THEN 'unknown'
         WHEN NOT behind THEN own_state
         WHEN calls_lost IS NOT NULL OR finished = 1 THEN 'unknown'
         WHEN open_end IS NOT NULL AND (bound_ns IS NULL OR after_first_ns < bound_ns + after_ns) THEN 'unknown'
         ELSE 'not entered'
       END AS state
  FROM joined j CROSS JOIN parameters
)
SELECT * FROM states;

-- The calls with numbers that can be compared.
CREATE OR REPLACE TEMPORARY TABLE blame_entered AS
SELECT run, communicator, process_id, communicator_rank, number, max(call) AS call
FROM aligned_collective_calls WHERE comparable GROUP BY run, communicator, process_id, communicator_rank, number;

-- different: the first number of a communicator with which ranks made different calls. A call of most ranks is right.
WITH different AS (
  SELECT run, communicator, min(number) AS number
  FROM (SELECT run, communicator, number FROM blame_entered
        GROUP BY run, communicator, number HAVING count(DISTINCT call) > 1) n
  GROUP BY run, communicator
),
variants AS (
  SELECT e.run, e.communicator, e.number, e.call, count(*) AS ranks, min(e.communicator_rank) AS first_rank, m.members,
         row_number() OVER (PARTITION BY e.run, e.communicator ORDER BY count(*) DESC, e.call) AS place
  FROM blame_entered e
  JOIN different d ON d.run = e.run AND d.communicator = e.communicator AND d.number = e.number
  JOIN (SELECT run, communicator, count(DISTINCT process_id) AS members FROM blame_entered
        GROUP BY run, communicator) m ON m.run = e.run AND m.communicator = e.communicator
  GROUP BY e.run, e.communicator, e.number, e.call, m.members
),
differing AS (
  SELECT e.run, e.communicator, e.process_id,
         CASE WHEN mine.call = o.call AND coalesce(theirs.call, e.call) = e.call THEN 'other order'
              ELSE 'other collective' END AS finding
  FROM blame_entered e
  JOIN variants v ON v.run = e.run AND v.communicator = e.communicator AND v.number = e.number AND v.call = e.call
  JOIN variants o ON o.run = e.run AND o.communicator = e.communicator AND o.place = CASE v.place WHEN 1 THEN 2 ELSE 1 END
  LEFT JOIN blame_entered mine ON mine.run = e.run AND mine.communicator = e.communicator
                        AND mine.process_id = e.process_id AND mine.number = e.number + 1
  LEFT JOIN blame_entered theirs ON theirs.run = e.run AND theirs.communicator = e.communicator
                          AND theirs.communicator_rank = o.first_rank AND theirs.number = e.number + 1
  WHERE v.place > 1 OR 2 * v.ranks <= v.members
),
-- Ranks for which others wait, and whether that is known.
absent AS (
  SELECT s.run, s.communicator, s.process_id, s.number
  FROM blame_states s LEFT JOIN different d ON d.run = s.run AND d.communicator = s.communicator
  WHERE s.comparable AND s.behind AND s.others_wait AND d.number IS NULL
),
waiting AS (
  SELECT w.run, w.communicator, w.process_id, w.number
  FROM blame_states w WHERE w.comparable AND w.own_state <> 'finished'
),
-- A rank that waits in another communicator is not named. Ranks without a log may hold those that are last.
waiting_ranks AS (
  SELECT DISTINCT w.run, w.process_id
  FROM waiting w
  JOIN (SELECT run, communicator, min(number) AS number FROM absent GROUP BY run, communicator) a
    ON a.run = w.run AND a.communicator = w.communicator AND w.number > a.number
  UNION
  SELECT DISTINCT l.run, l.process_id
  FROM blame_states l
  JOIN (SELECT s.run, s.communicator FROM blame_states s
        LEFT JOIN different d ON d.run = s.run AND d.communicator = s.communicator
        WHERE d.number IS NULL
        GROUP BY s.run, s.communicator
        HAVING max(s.ranks) > count(*)
           AND max(CASE WHEN s.comparable AND s.is_last AND s.is_old AND s.own_state <> 'finished' THEN 1 ELSE 0 END) = 1
       ) m ON m.run = l.run AND m.communicator = l.communicator
  WHERE l.comparable AND l.is_last
),
named AS (
  SELECT a.run, a.communicator, a.process_id
  FROM absent a
  JOIN (SELECT run, communicator, max(number) AS number FROM waiting GROUP BY run, communicator) w
    ON w.run = a.run AND w.communicator = a.communicator AND w.number > a.number
  LEFT JOIN waiting_ranks r ON r.run = a.run AND r.process_id = a.process_id
  WHERE r.process_id IS NULL
)
SELECT s.run, s.communicator, s.communicator_rank, s.ranks, s.logs, s.rank, s.host, s.pid, s.state,
       CASE WHEN s.number >= 0 THEN s.number END AS collective_number,
       s.call AS last_collective,
       CASE WHEN d.finding IS NOT NULL THEN d.finding
            WHEN n.process_id IS NOT NULL AND s.state = 'not entered' THEN 'not entered' END AS finding,
       CASE
         WHEN NOT comparable THEN 'its calls have no numbers that can be compared'
         WHEN NOT behind THEN NULL
         WHEN calls_lost IS NOT NULL THEN calls_lost
         WHEN open_end IS NOT NULL AND bound_ns IS NULL THEN 'the clocks of the hosts cannot be compared'
         WHEN open_end IS NOT NULL AND after_first_ns < bound_ns + after_ns THEN open_end
         WHEN finished = 1 THEN 'others finished it, so a call of this rank is not recorded'
       END AS note
FROM blame_states s
LEFT JOIN differing d ON d.run = s.run AND d.communicator = s.communicator AND d.process_id = s.process_id
LEFT JOIN named n ON n.run = s.run AND n.communicator = s.communicator AND n.process_id = s.process_id
CROSS JOIN parameters
ORDER BY s.run, s.communicator, s.communicator_rank, s.rank, s.host, s.pid;
