-- The last collective of each rank on each communicator: the rows and states of `prof blame` (docs/blame.md). finding
-- names the ranks that hold the others: not entered, other collective, other order, no partner or circle, joined by
-- "; ". parameters.after_ns is the option --after. Ranks without a log have no row: compare ranks with logs.

-- Processes with one rank of one communicator, and whether their sends and receives can be counted.
CREATE OR REPLACE TEMPORARY TABLE blame_members AS
SELECT m.run, m.communicator, m.communicator_rank, m.process_id, max(m.communicator_ranks) AS communicator_ranks,
       min(CASE WHEN m.comparable AND p.calls_lost IS NULL THEN 1 ELSE 0 END) AS pairs_known,
       max(m.of_collective) AS has_collective
FROM (SELECT run, communicator, communicator_rank, process_id, communicator_ranks, comparable, 1 AS of_collective
      FROM collective_calls
      UNION ALL
      SELECT run, communicator, communicator_rank, process_id, communicator_ranks, comparable, 0 FROM pair_calls) m
JOIN aligned_processes p ON p.run = m.run AND p.process_id = m.process_id
GROUP BY m.run, m.communicator, m.communicator_rank, m.process_id;

CREATE OR REPLACE TEMPORARY TABLE blame_states AS
WITH calls AS (
  SELECT run, process_id, rank, host, communicator, communicator_rank, communicator_ranks, number, call, needs_all,
         state, comparable, aligned_start_ns, clock_bound_ns
  FROM aligned_collective_calls
  UNION ALL
  SELECT m.run, m.process_id, p.rank, p.host, m.communicator, m.communicator_rank, m.communicator_ranks, -1,
         CAST(NULL AS VARCHAR(1)), FALSE, 'unknown', TRUE, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT)
  FROM blame_members m JOIN aligned_processes p ON p.run = m.run AND p.process_id = m.process_id
  WHERE m.has_collective = 0
),
communicators AS (
  SELECT run, communicator, max(communicator_ranks) AS ranks, count(DISTINCT process_id) AS members,
         max(CASE WHEN comparable THEN number ELSE -1 END) AS reached,
         min(CASE WHEN rank IS NOT NULL AND rank = communicator_rank THEN 1 ELSE 0 END) AS of_job
  FROM calls GROUP BY run, communicator
),
jobs AS (
  SELECT p.run, max(greatest(coalesce(p.rank + 1, 0), coalesce(p.world_size, 0), coalesce(c.ranks, 0))) AS ranks
  FROM aligned_processes p
  LEFT JOIN (SELECT run, max(ranks) AS ranks FROM communicators GROUP BY run) c ON c.run = p.run
  GROUP BY p.run
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
         CASE WHEN l.number < 0 THEN p.open_start END AS open_start,
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
         WHEN calls_lost IS NOT NULL OR finished = 1 OR open_start IS NOT NULL THEN 'unknown'
         WHEN open_end IS NOT NULL AND (bound_ns IS NULL OR after_first_ns < bound_ns + after_ns) THEN 'unknown'
         ELSE 'not entered'
       END AS state
  FROM joined j CROSS JOIN parameters
)
SELECT * FROM states;

-- The calls with numbers that can be compared. Calls from ranges of NCCL have other arguments than those from records
-- of starts, so ranks with the one are not compared with ranks with the other.
CREATE OR REPLACE TEMPORARY TABLE blame_entered AS
SELECT run, communicator, process_id, communicator_rank, number, max(call) AS call,
       max(CASE WHEN call LIKE '%(bytes=%' THEN 1 ELSE 0 END) AS of_ranges
FROM aligned_collective_calls WHERE comparable AND number > 0
GROUP BY run, communicator, process_id, communicator_rank, number;

-- The first number of a communicator with which ranks made different calls.
CREATE OR REPLACE TEMPORARY TABLE blame_different AS
SELECT run, communicator, of_ranges, number
FROM (SELECT n.*, row_number() OVER (PARTITION BY run, communicator ORDER BY of_ranges, number) AS place
      FROM (SELECT run, communicator, of_ranges, number FROM blame_entered
            GROUP BY run, communicator, of_ranges, number HAVING count(DISTINCT call) > 1) n) numbered
WHERE place = 1;

-- Ranks that made other calls than most, then. A call of most ranks is right.
CREATE OR REPLACE TEMPORARY TABLE blame_differing AS
WITH variants AS (
  SELECT e.run, e.communicator, e.number, e.of_ranges, e.call, count(*) AS ranks,
         min(e.communicator_rank) AS first_rank, m.members,
         row_number() OVER (PARTITION BY e.run, e.communicator ORDER BY count(*) DESC, e.call) AS place
  FROM blame_entered e
  JOIN blame_different d ON d.run = e.run AND d.communicator = e.communicator AND d.number = e.number
                        AND d.of_ranges = e.of_ranges
  JOIN (SELECT run, communicator, of_ranges, count(DISTINCT process_id) AS members FROM blame_entered
        GROUP BY run, communicator, of_ranges) m
    ON m.run = e.run AND m.communicator = e.communicator AND m.of_ranges = e.of_ranges
  GROUP BY e.run, e.communicator, e.number, e.of_ranges, e.call, m.members
)
SELECT e.run, e.communicator, e.process_id,
       CASE WHEN mine.call = o.call AND coalesce(theirs.call, e.call) = e.call THEN 'other order'
            ELSE 'other collective' END AS finding
FROM blame_entered e
JOIN variants v ON v.run = e.run AND v.communicator = e.communicator AND v.number = e.number
               AND v.of_ranges = e.of_ranges AND v.call = e.call
JOIN variants o ON o.run = e.run AND o.communicator = e.communicator
               AND o.place = CASE v.place WHEN 1 THEN 2 ELSE 1 END
LEFT JOIN blame_entered mine ON mine.run = e.run AND mine.communicator = e.communicator
                            AND mine.process_id = e.process_id AND mine.number = e.number + 1
LEFT JOIN blame_entered theirs ON theirs.run = e.run AND theirs.communicator = e.communicator
                              AND theirs.of_ranges = e.of_ranges
                              AND theirs.communicator_rank = o.first_rank AND theirs.number = e.number + 1
WHERE v.place > 1 OR 2 * v.ranks <= v.members;

-- Sends and receives match in order, by their two ranks. A row is one end: the calls of one rank with one other rank.
CREATE OR REPLACE TEMPORARY TABLE blame_ends AS
WITH members AS (
  SELECT run, communicator, communicator_rank, max(process_id) AS process_id, count(*) AS processes,
         min(pairs_known) AS known
  FROM blame_members WHERE communicator_rank IS NOT NULL GROUP BY run, communicator, communicator_rank
),
sides AS (
  SELECT run, communicator, process_id, communicator_rank, peer, kind, count(*) AS calls
  FROM pair_calls WHERE communicator_rank IS NOT NULL
  GROUP BY run, communicator, process_id, communicator_rank, peer, kind
)
SELECT s.run, s.communicator, s.process_id, s.communicator_rank, s.peer, s.kind, s.calls,
       CASE WHEN o.processes = 1 THEN o.process_id END AS other_process,
       CASE WHEN m.known = 1 AND o.known = 1 AND o.processes = 1 THEN 1 ELSE 0 END AS known,
       coalesce(t.calls, 0) AS partners
FROM sides s
JOIN members m ON m.run = s.run AND m.communicator = s.communicator AND m.communicator_rank = s.communicator_rank
              AND m.processes = 1
LEFT JOIN members o ON o.run = s.run AND o.communicator = s.communicator AND o.communicator_rank = s.peer
LEFT JOIN sides t ON t.run = s.run AND t.communicator = s.communicator AND t.process_id = o.process_id
                 AND t.communicator_rank = s.peer AND t.peer = s.communicator_rank AND t.kind <> s.kind;

-- The first send of a rank to another one whose receive has other arguments. The receiver is named.
CREATE OR REPLACE TEMPORARY TABLE blame_other_pairs AS
SELECT e.run, e.communicator, e.process_id AS sender, e.communicator_rank AS sender_rank, e.other_process AS process_id,
       min(a.number) AS number
FROM blame_ends e
JOIN pair_calls a ON a.run = e.run AND a.communicator = e.communicator AND a.process_id = e.process_id
                 AND a.communicator_rank = e.communicator_rank AND a.peer = e.peer AND a.kind = 'send'
JOIN pair_calls b ON b.run = e.run AND b.communicator = e.communicator AND b.process_id = e.other_process
                 AND b.communicator_rank = e.peer AND b.peer = e.communicator_rank AND b.kind = 'receive'
                 AND b.number = a.number
WHERE e.kind = 'send' AND e.known = 1 AND a.arguments <> b.arguments
  AND (a.arguments LIKE '(bytes=%') = (b.arguments LIKE '(bytes=%')
GROUP BY e.run, e.communicator, e.process_id, e.communicator_rank, e.other_process;

-- Calls that wait for their partner: its rank did not make it ('no partner'), or it is not known ('unknown').
CREATE OR REPLACE TEMPORARY TABLE blame_waits AS
SELECT e.run, e.communicator, e.process_id, e.communicator_rank, e.kind, c.number, e.other_process,
       CASE WHEN e.known = 0 THEN 'unknown'
            WHEN p.open_end IS NULL THEN 'no partner'
            WHEN coalesce(p.aligned_end_ns - c.aligned_start_ns
                          < after_ns + CASE WHEN p.host = w.host THEN 0 ELSE p.clock_bound_ns + c.clock_bound_ns END,
                          TRUE) THEN 'unknown'
            ELSE 'no partner' END AS state
FROM blame_ends e
JOIN aligned_pair_calls c ON c.run = e.run AND c.communicator = e.communicator AND c.process_id = e.process_id
                         AND c.communicator_rank = e.communicator_rank AND coalesce(c.peer, -1) = coalesce(e.peer, -1)
                         AND c.kind = e.kind
                         AND c.number = CASE WHEN e.known = 1 THEN e.partners + 1 ELSE e.calls END
JOIN (SELECT run, max(aligned_end_ns) AS end_ns FROM aligned_processes GROUP BY run) n ON n.run = e.run
JOIN aligned_processes w ON w.run = e.run AND w.process_id = e.process_id
LEFT JOIN aligned_processes p ON p.run = e.run AND p.process_id = e.other_process
LEFT JOIN blame_other_pairs d ON d.run = e.run AND d.communicator = e.communicator AND d.sender = e.process_id
                             AND d.process_id = e.other_process AND e.kind = 'send'
CROSS JOIN parameters
WHERE c.state <> 'finished' AND n.end_ns - c.aligned_start_ns >= after_ns AND d.number IS NULL;

-- Ranks for which others wait, as 'not entered', 'no partner', or 'unknown' if that is not known. process_id is null if
-- the rank has no log.
CREATE OR REPLACE TEMPORARY TABLE blame_absent AS
WITH waiting AS (
  SELECT run, communicator, max(number) AS number
  FROM blame_states WHERE comparable AND own_state <> 'finished' GROUP BY run, communicator
)
SELECT s.run, s.communicator, s.process_id, s.number, s.state, 1 AS of_collective
FROM blame_states s
JOIN waiting w ON w.run = s.run AND w.communicator = s.communicator AND w.number > s.number
LEFT JOIN blame_different d ON d.run = s.run AND d.communicator = s.communicator
WHERE s.comparable AND s.behind AND s.others_wait AND d.number IS NULL
UNION ALL
SELECT DISTINCT run, communicator, other_process, CAST(NULL AS BIGINT), state, 0 FROM blame_waits;

-- A rank that waits for another one is not named. Ranks without a log may hold those that are last.
CREATE OR REPLACE TEMPORARY TABLE blame_waiting AS
SELECT w.run, w.process_id, 0 AS for_unknown
FROM blame_states w
JOIN (SELECT run, communicator, min(number) AS number FROM blame_absent WHERE of_collective = 1
      GROUP BY run, communicator) a ON a.run = w.run AND a.communicator = w.communicator AND w.number > a.number
WHERE w.comparable AND w.own_state <> 'finished'
UNION ALL
SELECT l.run, l.process_id, 1
FROM blame_states l
JOIN (SELECT s.run, s.communicator FROM blame_states s
      LEFT JOIN blame_different d ON d.run = s.run AND d.communicator = s.communicator
      WHERE d.number IS NULL
      GROUP BY s.run, s.communicator
      HAVING max(s.ranks) > count(*)
         AND max(CASE WHEN s.comparable AND s.is_last AND s.is_old AND s.own_state <> 'finished' THEN 1 ELSE 0 END) = 1
     ) m ON m.run = l.run AND m.communicator = l.communicator
WHERE l.comparable AND l.is_last
UNION ALL
SELECT run, process_id, CASE state WHEN 'unknown' THEN 1 ELSE 0 END FROM blame_waits;

-- If every rank for which others wait waits itself, and all of that is known, they are a circle.
CREATE OR REPLACE TEMPORARY TABLE blame_named AS
WITH free AS (
  SELECT DISTINCT a.run, a.communicator, a.process_id, a.state AS finding
  FROM blame_absent a
  LEFT JOIN blame_waiting w ON w.run = a.run AND w.process_id = a.process_id
  WHERE a.state <> 'unknown' AND w.process_id IS NULL
),
other AS (
  SELECT run, communicator, process_id, finding FROM blame_differing
  UNION
  SELECT run, communicator, process_id, 'other collective' FROM blame_other_pairs
  UNION
  SELECT run, communicator, process_id, finding FROM free
),
open AS (
  SELECT run FROM other
  UNION
  SELECT run FROM blame_absent WHERE state = 'unknown'
  UNION
  SELECT run FROM blame_waiting WHERE for_unknown = 1
)
SELECT run, communicator, process_id, finding FROM other
UNION
SELECT a.run, a.communicator, a.process_id, 'circle'
FROM blame_absent a LEFT JOIN open o ON o.run = a.run
WHERE o.run IS NULL;

WITH findings AS (
  SELECT run, communicator, process_id, max(CASE finding WHEN 'other collective' THEN 1 ELSE 0 END) AS other_collective,
         max(CASE finding WHEN 'other order' THEN 1 ELSE 0 END) AS other_order,
         max(CASE finding WHEN 'not entered' THEN 1 ELSE 0 END) AS not_entered,
         max(CASE finding WHEN 'no partner' THEN 1 ELSE 0 END) AS no_partner,
         max(CASE finding WHEN 'circle' THEN 1 ELSE 0 END) AS circle
  FROM blame_named GROUP BY run, communicator, process_id
)
SELECT s.run, s.communicator, s.communicator_rank, s.ranks, s.logs, s.rank, s.host, s.pid, s.state,
       CASE WHEN s.number >= 0 THEN s.number END AS collective_number,
       s.call AS last_collective,
       CASE WHEN f.process_id IS NOT NULL THEN
         substr(concat(CASE WHEN other_collective = 1 THEN '; other collective' ELSE '' END,
                       CASE WHEN other_order = 1 THEN '; other order' ELSE '' END,
                       CASE WHEN not_entered = 1 THEN '; not entered' ELSE '' END,
                       CASE WHEN no_partner = 1 THEN '; no partner' ELSE '' END,
                       CASE WHEN circle = 1 THEN '; circle' ELSE '' END), 3) END AS finding,
       CASE
         WHEN NOT comparable THEN 'its calls have no numbers that can be compared'
         WHEN NOT behind THEN NULL
         WHEN calls_lost IS NOT NULL THEN calls_lost
         WHEN open_end IS NOT NULL AND bound_ns IS NULL THEN 'the clocks of the hosts cannot be compared'
         WHEN open_end IS NOT NULL AND after_first_ns < bound_ns + after_ns THEN open_end
         WHEN open_start IS NOT NULL THEN open_start
         WHEN finished = 1 THEN 'others finished it, so a call of this rank is not recorded'
       END AS note
FROM blame_states s
LEFT JOIN findings f ON f.run = s.run AND f.communicator = s.communicator AND f.process_id = s.process_id
CROSS JOIN parameters
ORDER BY s.run, s.communicator, s.communicator_rank, s.rank, s.host, s.pid;
