"""Steps about PROF_BUDGET: the cost of a run compared with its budget, and GPU time extrapolated from bursts compared
with the time of a run that was recorded completely.

Each process measures itself twice: before cudaProfilerStart, where nothing is recorded, and after it. So it has the
same addresses and clock rates as its own reference. Plain processes do the same, to measure changes without a recorder.
Processes never run at the same time: one that waits for its turn would save up budget for the time when it is measured.
Means are used instead of medians, because bursts are rare."""
import csv
import io
import os
import random
import statistics
import time

import plog
import recorded_run
import stats
from lab import APPS_FOLDER, Skipped
from steps_overhead import Server, interval

SECONDS, SPARSE_SECONDS = (2, 8), (0.4, 2)  # before cudaProfilerStart and after it
OWN_ACCOUNT_LIMIT = 1.1  # of the budget: the recorder does not check it continuously
TOTAL, HALF = "Est Total (ns)", "+- (95 %) (ns)"  # columns of the report
OTHER_RUN = 0.02  # how much kernels of two runs differ on one GPU


def variants(lab, name, percents):
    """variant -> (environment, log folder)"""
    def recorded(label, **options):
        folder = lab.fresh(name, label)
        return lab.recorded_env(folder, PROF_START="profiler", PROF_CUPTI=lab.cupti, **options), folder
    return {"plain": (lab.env(), None), "host side only": recorded("host", PROF_GPU="off"), "full": recorded("full"),
            **{f"{percent} %": recorded(f"budget{percent}", PROF_BUDGET=f"{percent}%") for percent in percents}}


def mean_loop(server, loop, seconds, count, key):
    """ns per launch or step, over all rounds in that time."""
    end, total, done = time.monotonic() + seconds, 0.0, 0
    while done == 0 or time.monotonic() < end:
        answer = server.loop(loop)
        total += answer[key] * answer[count]
        done += answer[count]
    return total / done


def one_process(lab, name, variant, command, env, loop, count, key, seconds):
    """Time of the recorded part ÷ time of the part before it."""
    share = 4 if lab.sim else 1
    server = Server(lab, f"{name}-{variant.replace(' ', '-')}", command, env)
    try:
        server.ready()
        server.take_cores()
        before = mean_loop(server, loop, seconds[0] / share, count, key)
        server.command("start")
        return mean_loop(server, loop, seconds[1] / share, count, key) / before
    finally:
        server.stop()


def measured(lab, step, name, percents, command, loop, count, key, sets, seconds=SECONDS, without=(), once=()):
    """variant -> one ratio per set, a single one for variants in `once`; and the folders of the logs."""
    chosen, order = variants(lab, name, percents), random.Random(7)
    for variant in without:
        del chosen[variant]
    found = {variant: [] for variant in chosen}
    began = time.monotonic()
    for number in range(sets):
        if number and lab.left() < 1.2 * (time.monotonic() - began) / number + 30:
            step.note(f"Stopped after {number} of {sets} sets: no time left.")
            break
        part = [variant for variant in chosen if number == 0 or variant not in once]
        for variant in order.sample(part, len(part)):
            env, folder = chosen[variant]
            for log in lab.logs(folder) if folder and number else []:  # the logs of the last set are read
                os.remove(log)
            found[variant].append(one_process(lab, name, variant, command, env, loop, count, key, seconds))
    return found, {variant: folder for variant, (_, folder) in chosen.items()}


def overheads(lab, step, title, percents, found):
    """The cost of each variant, and whether the budgets were kept: (ratio, low, high) of plain's."""
    costs = {variant: stats.ratio_of_means(ratios, found["plain"]) for variant, ratios in found.items()}
    step.table(title, ["variant", "recorded part ÷ part before it, mean", "÷ plain's (95 %)", "processes"],
               [(variant, f"{statistics.mean(ratios):.4f}", interval(costs[variant]), len(ratios)) for variant, ratios in found.items()])
    if lab.sim:
        step.note("Rehearsed on the simulated GPU: nothing here is a measurement, limits are not checked.")
        return
    for percent in percents:
        # The host side is always recorded. If it alone costs more than the budget, no cost may be added.
        limit = max(1 + percent / 100, costs["host side only"][2])
        step.check(f"PROF_BUDGET={percent}% ÷ plain", costs[f"{percent} %"][1] <= limit, interval(costs[f"{percent} %"]),
                   f"95 % interval reaches {1 + percent / 100:.2f}, or that of the host side alone")


def own_account(lab, step, percents, folders):
    """The recorder's own account of its cost."""
    rows = []
    for percent in percents:
        counters = plog.Log(lab.logs(folders[f"{percent} %"])[0]).counters
        elapsed, bursts = counters["budget_elapsed_ns"], counters["budget_bursts"]
        parts = [counters[f"budget_{part}_ns"] / elapsed for part in ("own", "hooks", "cupti")]
        rows.append((f"{percent} %", *(f"{100 * part:.2f} %" for part in parts), f"{100 * sum(parts):.2f} %", bursts))
        if not lab.sim:
            step.check(f"PROF_BUDGET={percent}%: by the recorder's own account", sum(parts) <= OWN_ACCOUNT_LIMIT * percent / 100 or bursts == 0,
                       rows[-1][4], f"{OWN_ACCOUNT_LIMIT * percent:.1f} %, or no bursts at all")
    step.table("What the recorder took by its own account, of the run's time",
               ["budget", "own", "hooks", "CUPTI", "together", "bursts"], rows)


def kernels(lab, log):
    """name -> row of the report"""
    answer = lab.run_prof(["report", "kernels", "--names", "mangled", "--format", "csv", log])
    if answer.status != 0:
        raise RuntimeError(f"prof report kernels: {answer.stderr[-300:]}")
    return {row["Name"]: row for row in csv.DictReader(io.StringIO(answer.stdout))}


def extrapolation(lab, step, percents, folders):
    """Total GPU time of kernels, compared with their mean in the run that was recorded completely."""
    truth = {name: row[1] / row[0] for name, row in recorded_run.Run(lab.logs(folders["full"])[0]).kernel_table().items()}
    rows = []
    for percent in percents:
        log = lab.logs(folders[f"{percent} %"])[0]
        run = recorded_run.Run(log)
        covered = run.coverage()
        untimed = sum(1 for launch in run.launches if not launch.operations and launch.result == 0 and launch.flags & 3 == recorded_run.NO_GPU_TIMES)
        step.check(f"{percent} %: each launch has a GPU time, or a flag that it has none", covered["timed"] + untimed == covered["expected"],
                   f"{covered['timed']:,} + {untimed:,}", f"{covered['expected']:,}")
        if covered["timed"] == 0:
            step.note(f"PROF_BUDGET={percent}%: no launch was timed: the budget leaves nothing for bursts.")
            continue
        found = [row for row in kernels(lab, log).values() if row["Name"] in truth and row[HALF]]
        inside = 0
        for row in found:
            expected = truth[row["Name"]] * float(row["Est Count"])
            off = abs(float(row[TOTAL]) - expected)
            inside += off <= float(row[HALF]) + OTHER_RUN * expected
        total = sum(float(row[TOTAL]) for row in found)
        expected = sum(truth[row["Name"]] * float(row["Est Count"]) for row in found)
        rows.append((f"{percent} %", f"{covered['timed'] / covered['expected']:.2%}", len(found), f"{inside}", f"{total / 1e6:,.2f}",
                     f"{expected / 1e6:,.2f}", f"{total / expected - 1:+.2%}" if expected else ""))
        step.check(f"{percent} %: kernels have an extrapolated total with its interval", found, len(found), "> 0")
        if not lab.sim:
            step.check(f"{percent} %: intervals that hold the total of the whole run", inside >= 0.9 * len(found), f"{inside} of {len(found)}",
                       f"90 %, {OTHER_RUN:.0%} allowed between two runs")
    step.table("GPU time extrapolated from bursts, against mean durations of the run that was recorded whole",
               ["budget", "launches timed", "kernels", "within their interval", "extrapolated, ms", "expected, ms", "off"], rows)


def budget_step(lab, step, name, title, percents, command, loop, count, key, sets):
    found, folders = measured(lab, step, name, percents, command, loop, count, key, 1 if lab.sim else sets)
    overheads(lab, step, title, percents, found)
    own_account(lab, step, percents, folders)
    extrapolation(lab, step, percents, folders)
    remove_logs(lab, folders)


def remove_logs(lab, folders):
    for folder in filter(None, folders.values()):
        for log in lab.logs(folder):
            os.remove(log)


def budget_sparse(lab, step):
    """A launch about every 400 µs, of kernels of 5, 40 and 150 µs: here small budgets have room for bursts."""
    percents = (1, 2, 5)
    found, folders = measured(lab, step, "budget_sparse", percents, [lab.program("launch_loop"), "--serve"], "sparse 300 400000", "launches", "wall_ns",
                              1 if lab.sim else 3, SPARSE_SECONDS, without=["host side only"], once=["full"])
    plain = found["plain"]
    noise = (max(plain) - min(plain)) / statistics.mean(plain)
    costs = {variant: stats.ratio_of_means(ratios, plain) for variant, ratios in found.items()}
    step.table("A launch every 400 µs, kernels of three lengths: time per launch", ["variant", "recorded part ÷ part before it, mean", "÷ plain's (95 %)", "processes"],
               [(variant, f"{statistics.mean(ratios):.5f}", f"{costs[variant][0]:.5f} ({costs[variant][1]:.5f}–{costs[variant][2]:.5f})", len(ratios))
                for variant, ratios in found.items()])
    step.figure("noise: plain's processes, largest less smallest", f"{100 * noise:.3f}", "%")
    for percent in percents:
        limit = 1 + percent / 100 + noise
        bursts = plog.Log(lab.logs(folders[f"{percent} %"])[0]).counters["budget_bursts"]
        step.check(f"PROF_BUDGET={percent}%: bursts", bursts > 1, bursts, "> 1")
        if not lab.sim:
            step.check(f"PROF_BUDGET={percent}% ÷ plain", costs[f"{percent} %"][0] <= limit, f"{costs[f'{percent} %'][0]:.5f}", f"{limit:.5f}: the budget and the noise")
    own_account(lab, step, percents, folders)
    extrapolation(lab, step, percents, folders)
    remove_logs(lab, folders)


def budget(lab, step):
    """A launch of a 5 µs kernel about every 20 µs, like a program that is limited by its host launches."""
    budget_step(lab, step, "budget", "A 5 µs kernel, then 15 µs of pause: time per launch", (2, 10), [lab.program("launch_loop"), "--serve"],
                "2000 5000 15000", "launches", "wall_ns", 3)


def budget_back_to_back(lab, step):
    """Launches of empty kernels as fast as possible: the host side alone costs more than small budgets."""
    budget_step(lab, step, "budget_back_to_back", "Empty kernels back to back: time per launch", (5,), [lab.program("launch_loop"), "--serve"],
                "2000 0" if lab.sim else "30000 0", "launches", "wall_ns", 3)


def budget_pytorch(lab, step):
    """The MLP training step, limited by the host."""
    if lab.sim:
        raise Skipped("needs a GPU")
    command = [lab.python, os.path.join(APPS_FOLDER, "torch_app.py"), "serve", "--profile", "none"]
    budget_step(lab, step, "budget_pytorch", "PyTorch MLP training step: time per step", (5, 20), command, "20", "steps", "wall_ns", 3)
