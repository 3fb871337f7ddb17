"""The step about recording one part of a run: the cost of a launch before, inside and after it."""
import statistics

import stats
from lab import Skipped
from log_checks import load

ROUNDS = 15
PARTS, PROCESSES = 100, 5
# of a launch's cost, from the first recording to the last, as the median over processes: a single process varies by a
# third even without recordings
GROWTH = 1.25


def window(lab, step):
    """PROF_START=profiler: only the part is recorded; launches cost nothing before it, and afterwards only what remains
    of CUPTI."""
    if lab.sim:
        raise Skipped("needs a GPU")
    command = [lab.program("window")]

    def times(env, *arguments):
        words = lab.run([*command, *arguments], env=env).stdout.split()
        return dict(zip(words[::2], map(float, words[1::2])))

    rounds = {"plain": [], "host side": [], "with GPU times": []}
    for round_number in range(ROUNDS):  # in turn, so that drifts of the machine affect all of them
        rounds["plain"].append(times(lab.env()))
        for variant, gpu in (("host side", "off"), ("with GPU times", "on")):
            folder = lab.fresh(f"window_{gpu}_{round_number}")
            rounds[variant].append(times(lab.recorded_env(folder, PROF_START="profiler", PROF_GPU=gpu)))
            if round_number != 0:
                continue
            expected = int(rounds[variant][-1]["launches_inside"])
            covered = load(lab, folder)[0].coverage()
            step.check(f"launches recorded, {variant}", covered["launches"] == expected, covered["launches"], expected)
            if gpu == "on":
                step.check("launches with GPU time", covered["timed"] == expected, covered["timed"], expected)
    middle = {variant: {part: statistics.median(row[part] for row in rows) for part in ("before", "inside", "after")} for variant, rows in rounds.items()}
    step.table("ns per launch, medians", ["", "before", "inside", "after"], [(variant, *(f"{row[part]:.0f}" for part in row)) for variant, row in middle.items()])
    for part, variant in (("before", "host side"), ("before", "with GPU times"), ("after", "host side")):
        ratio = stats.ratio_of_processes(*([[row[part]] for row in rows] for rows in (rounds[variant], rounds["plain"])))
        step.check(f"{part} the part, {variant} ÷ plain", ratio[1] <= 1.05, f"{ratio[0]:.3f} ({ratio[1]:.3f}–{ratio[2]:.3f})",
                   "95 % interval reaches 1.05")
    step.figure("after the part, with GPU times: ns per launch more than plain", middle["with GPU times"]["after"] - middle["plain"]["after"])

    rows = []
    for variant, gpu in (("plain", None), ("host side", "off"), ("with GPU times", "on")):
        folders = [lab.fresh(f"window_parts_{gpu}_{number}") for number in range(PROCESSES)]
        envs = [lab.env() if gpu is None else lab.recorded_env(folder, PROF_START="profiler", PROF_PARTS="0", PROF_GPU=gpu) for folder in folders]
        found = [times(env, str(PARTS)) for env in envs]
        rows.append((variant, {when: statistics.median(row[when] for row in found) for when in found[0]}))
        growth = statistics.median(row[f"after_{PARTS}"] / row["after_1"] for row in found)
        step.check(f"cost of a launch after {PARTS:,} parts ÷ after the first, {variant}", growth <= GROWTH, f"{growth:.2f}", GROWTH)
        if gpu is None:
            continue
        runs = [run for folder in folders for run in load(lab, folder)]
        step.check(f"parts, a log each, {variant}", len(runs) == PARTS * PROCESSES, len(runs), PARTS * PROCESSES)
        coverage = [run.coverage() for run in runs]
        whole = sum(1 for part in coverage if part["launches"] == 10 and (part["timed"] == 10 or gpu == "off"))
        step.check(f"parts with ten launches, each with its GPU time where there are any, {variant}", whole == PARTS * PROCESSES, whole, PARTS * PROCESSES)
    step.table(f"ns per launch outside of parts, median of {PROCESSES} processes", ["", *rows[0][1]], [(variant, *(f"{ns:.0f}" for ns in row.values())) for variant, row in rows])
