"""The cost of recording programs that are limited by the host: GPT-2 decodes token by token, eager and with CUDA
graphs, and for requests of a server; all variants in turn. Steps of their own (decode_samples_…) decide the limit of
host samples inside processes. PROF_BUDGET is not among the variants: it limits the cost to a share of the run, and here
a process waits most of its run for the others (steps budget…)."""
import collections
import os
import resource
import typing

import stats
from lab import APPS_FOLDER, Skipped
from steps_host_samples import MAX_HOST_SAMPLES
from steps_overhead import MAX_FULL_OVER_CUPTI, Alternation, cost_table, limit_of_ratio
from switched_samples import Loops, switched_samples

class Mode(typing.NamedTuple):
    """A way to decode: tokens or requests of a round; for the limit of full, sets of processes and their rounds. A
    process takes 13 to 45 ms for a round and what comes before it. `switched`: of rounds with and without host samples,
    0.1 s and more each."""
    loop: str
    sets: int
    rounds: int
    switched: Loops


MODES = {"eager": Mode("3", 8, 80, Loops("27", "8")), "graph": Mode("16", 3, 60, Loops("170", "50")),
         "server": Mode("1", 6, 40, Loops("6", "2"))}
TABLE_ROUNDS, TABLE_COPIES = 30, 2
LIMIT_COPIES = 4


def decode(mode):
    """The step of one mode: a few processes of all variants, then many of those that have a limit."""
    def step_of_mode(lab, step):
        if lab.sim:
            raise Skipped("needs a GPU")
        one_mode(lab, step, mode, *MODES[mode][:3])
    return step_of_mode


def decode_samples(mode):
    """The step that decides the limit of host samples in one mode, in 60 s."""
    def step_of_mode(lab, step):
        if lab.sim:
            raise Skipped("needs a GPU")
        command = [lab.python, os.path.join(APPS_FOLDER, "decode_app.py"), mode]
        switched_samples(lab, step, f"decode-{mode}-samples", command, MODES[mode].switched, MAX_HOST_SAMPLES,
                         launches=mode != "graph")
    return step_of_mode


def one_mode(lab, step, mode, loop, sets, rounds):
    def recorded(**options):
        folder = lab.fresh("decode", "-".join([mode, *map(str, options.values())]).replace("%", ""))
        return lab.recorded_env(folder, PROF_CUPTI=lab.cupti, **options), folder
    chosen = {
        "plain": (lab.env(), None),
        "host side only": recorded(PROF_GPU="off"),
        "full": recorded(),
        "--stacks launch": recorded(PROF_STACKS="launch"),
        "--host-samples starved": recorded(PROF_HOST_SAMPLES="starved"),
        "CUPTI alone": (lab.cupti_env(lab.fresh("decode", f"{mode}-cupti"), names=False), None),
        "torch.profiler cpu+cuda": (lab.env(), None),
    }
    if mode == "graph":
        chosen["--graphs whole"] = recorded(PROF_GRAPHS="whole")
    script = os.path.join(APPS_FOLDER, "decode_app.py")

    def command(variant):
        return [lab.python, script, mode, "--profile", "cpu+cuda" if variant.startswith("torch.profiler") else "none"]

    def measure(names, sets, rounds, copies):
        turns = Alternation(lab, step, f"decode-{mode}", command, {name: chosen[name] for name in names})
        return turns.run(sets, rounds, [loop], copies=copies)[loop]

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    what = "request" if mode == "server" else "token"
    cost_table(step, f"{mode}: time of a {what}, {TABLE_ROUNDS} rounds a process of {loop}; the intervals are between processes",
               measure(chosen, 1, TABLE_ROUNDS, TABLE_COPIES), "wall_ns", "us", per=1e3, ratio=stats.ratio_of_processes)
    samples = measure(["CUPTI alone", "full"], sets, rounds, LIMIT_COPIES)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    step.figure("processor seconds of all processes", after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    step.figure("for the limits: processes of each variant, rounds of each", f"{len(samples['full'])}, {rounds}")
    limit_of_ratio(step, samples, "full", "CUPTI alone", MAX_FULL_OVER_CUPTI)


def server_idle(lab, step):
    """The server alone, with host samples: which lines of Python keep the GPU idle."""
    if lab.sim:
        raise Skipped("needs a GPU")
    folder = lab.fresh("server_idle")
    script = os.path.join(APPS_FOLDER, "decode_app.py")
    done = lab.run([lab.python, script, "server"], env=lab.recorded_env(folder, PROF_HOST_SAMPLES="starved:997"), stdin="loop 200\n", timeout=120)
    logs = lab.logs(folder)
    step.check("the server answers", done.status == 0 and "wall_ns" in done.stdout and len(logs) == 1, f"{done.status} {done.stdout[-100:]}", "0")
    answer = lab.run_prof(["report", "flame", "--metric", "idle", "--format", "folded", logs[0]])
    weights = collections.Counter()
    for line in answer.stdout.splitlines():
        stack, _, value = line.rpartition(" ")
        for name in ("tokenize", "Server.handle", "Decoder.decode"):
            weights[name] += int(value) if name in stack else 0
        weights["all"] += int(value)
    step.figure("idle time by function (ms)", ", ".join(f"{name} {value / 1e6:.1f}" for name, value in weights.items()))
    step.check("the handler's lines have idle time", weights["Server.handle"] > 0.2 * weights["all"], f"{weights['Server.handle'] / max(weights['all'], 1):.3f}", "> 0.2")
    advice = lab.run_prof(["report", "advise", logs[0]])
    step.figure("advise", next((line for line in advice.stdout.splitlines() if "idle" in line), "")[:500])
    print(advice.stdout[:4000], flush=True)
