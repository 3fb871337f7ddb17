"""The step that measures what a hook adds to a launch of the real driver, in one process."""
import json
import random
import statistics

import stats
from lab import Skipped

MAX_HOOKED_OVER_DIRECT = 1.05
PROCESSES = 8  # of each row
# KiB of other data read before each launch -> rounds, launches per batch
TOUCHED = {0: (200, 500), 1024: (40, 500), 12288: (40, 40)}


def hook_cost(lab, step):
    """Launches past every preloaded library and through the hook, in turn in one process (hook_cost.cu). Processes of
    one variant differ by more than the cost of a hook; the launches of one process do not."""
    if lab.sim:
        raise Skipped("needs a GPU")
    variants = {"host side only": {"PROF_GPU": "off"}, "host side only, counts": {"PROF_GPU": "off", "PROF_DEPTH": "counts"}, "full": {}}
    order = random.Random(7)
    found = {(variant, touched): [] for touched in TOUCHED for variant in variants}
    for _ in range(PROCESSES):
        for variant, touched in order.sample(list(found), len(found)):
            answer = lab.run([lab.program("hook_cost"), *map(str, TOUCHED[touched]), str(touched)],
                             env=lab.recorded_env(lab.fresh("hook_cost"), **variants[variant]), timeout=60)
            if answer.status != 0:
                raise RuntimeError(f"hook_cost: status {answer.status}: {answer.stderr.strip()[-200:]}")
            times = json.loads(answer.stdout)
            if not times["hook_is_another_function"]:
                raise RuntimeError("dlsym() gave the driver's own function: nothing was recorded")
            found[variant, touched].append(times)
    rows, hot = [], None
    for (variant, touched), processes in found.items():
        direct, hooked = ([statistics.median(one[way]) for one in processes] for way in ("direct", "hooked"))
        added = [statistics.median(b - a for a, b in zip(one["direct"], one["hooked"])) for one in processes]
        ratio = stats.ratio_of_processes([[value] for value in hooked], [[value] for value in direct])
        if (variant, touched) == ("host side only", 0):
            hot = ratio
        rows.append((variant, touched, f"{statistics.median(direct):,.0f}", f"{statistics.median(added):,.0f}", f"{min(added):,.0f}–{max(added):,.0f}",
                     f"{ratio[0]:.3f} ({ratio[1]:.3f}–{ratio[2]:.3f})"))
    step.table(f"ns per launch on the launching thread, {PROCESSES} processes a row; the intervals are between processes",
               ["variant", "KiB read between launches", "direct", "the hook adds", "least–most", "hooked ÷ direct (95 %)"], rows)
    verdict = stats.verdict(hot, MAX_HOOKED_OVER_DIRECT)
    step.check("hooked ÷ direct in a loop, host side only", verdict == "pass", f"{hot[0]:.3f} ({hot[1]:.3f}–{hot[2]:.3f}): {verdict}",
               f"all of the 95 % interval ≤ {MAX_HOOKED_OVER_DIRECT}")
