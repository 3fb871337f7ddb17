"""Does `prof diff` find a kernel that is 5 % slower, and nothing if nothing changed? A CUDA program is recorded
repeatedly, three runs per side and one run per side, ten times with the change and ten times without (using the next
trial's runs)."""
import json
import os

from lab import Skipped

TRIALS, RUNS = 10, 3
CHANGED = 1050  # per mille of the work of one kernel


def record(lab, folder, per_mille):
    os.makedirs(folder)
    more = {}
    if lab.sim:  # the script sets the duration of its kernels
        lasting = {"_Z8multiplyPfi": 100 * per_mille, "_Z6followPKiPii": 60_000, "_Z6add_upPKfPfi": 50_000, "_Z5curvePfi": 40_000}
        more["SIM"] = "; ".join(f"kernel {name} {ns}" for name, ns in lasting.items())
    done = lab.run([lab.program("diff_runs"), str(per_mille)], env=lab.recorded_env(folder, **more), timeout=30)
    if done.status != 0 or done.stdout != "done\n":
        raise RuntimeError(f"diff_runs {per_mille}: status {done.status}: {done.stderr.strip()[-300:]}")


def verdicts(lab, now, before):
    """(status of --fail-if slower:2%, {name of a kernel: verdict} of all changed kernels, the text of the notes)"""
    answer = lab.run_prof(["diff", *now, "--vs", *before, "--fail-if", "slower:2%", "--format", "json"], timeout=30)
    if answer.status not in (0, 1, 3):
        raise RuntimeError(f"prof diff: status {answer.status}: {answer.stderr.strip()[-300:]}")
    page = json.loads(answer.stdout)
    changed = {row["name"].split("(")[0]: row["verdict"] for row in page["rows"] if row["verdict"] not in ("same", "within noise")}
    return answer.status == 3, changed, " ".join(page["notes"])


def diff_runs(lab, step):
    """A change of 5 % is found in ten of ten trials, and nothing else; ten unchanged pairs raise no alarm."""
    if not lab.prof:
        raise Skipped("no prof")
    root, wrong = lab.fresh("diff_runs"), []
    trials = 2 if lab.sim else TRIALS

    def runs_of(side, trial, count=RUNS):
        return [os.path.join(root, f"{side}_{trial}_{run}") for run in range(count)]

    for trial in range(trials + 1):
        for old, slow in zip(runs_of("old", trial), runs_of("slow", trial)):  # in turn: a drift over time changes both
            record(lab, old, 1000)
            if trial < trials:
                record(lab, slow, CHANGED)
    found = {(runs, side): 0 for runs in (RUNS, 1) for side in ("slow", "same")}
    within = 0
    for trial in range(trials):
        for runs, side in found:
            now = runs_of("slow", trial, runs) if side == "slow" else runs_of("old", trial + 1, runs)
            failed, changed, notes = verdicts(lab, now, runs_of("old", trial, runs))
            right = failed and changed == {"multiply": "slower"} if side == "slow" else not failed and not changed
            found[runs, side] += right
            within += "within one run only" in notes
            if not right:
                wrong.append((trial, runs, side, failed, ", ".join(f"{name} {verdict}" for name, verdict in changed.items())))
    for runs in (RUNS, 1):
        side = f"{runs} run{'s' if runs > 1 else ''} a side"
        step.check(f"{side}: a kernel that is 5 % slower is found, and nothing else", found[runs, "slow"] == trials, found[runs, "slow"], trials)
        step.check(f"{side}: unchanged runs raise no alarm", found[runs, "same"] == trials, found[runs, "same"], trials)
    step.check("one run per side reports that its verdicts are valid within one run only, three do not", within == 2 * trials, within, 2 * trials)
    if wrong:
        step.table("Trials that went wrong", ["trial", "runs a side", "side", "status 3", "verdicts"], wrong)
