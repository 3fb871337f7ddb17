"""Steps about CUDA graphs: does every replayed kernel name the code that captured it, and what does a replay cost?"""
import collections
import json
import os
import statistics

import coverage_line
import plog
import stats
from lab import Skipped
from log_checks import compare_with_cupti, coverage, load, same_behaviour, tables_of
from steps_overhead import Alternation, cost_table, flat, interval

MAX_WHOLE_OVER_PLAIN = 1.03
MAX_NODES_OVER_CUPTI = 1.05
MAX_BYTES_PER_NODE = 12
KERNELS = 500  # of the replayed graph


def rows_of(lab, report, logs):
    answer = lab.run_prof(["report", report, *logs, "--format", "json"])
    if answer.status != 0:
        raise RuntimeError(f"prof report {report}: {answer.stderr.strip()[-200:]}")
    return [row for table in tables_of(answer.stdout) for row in table.get("rows", [])]


def numbers(step, log):
    """CUPTI's numbers of the nodes that were captured and of those that ran, on which attribution depends."""
    strings, kernels, functions, configs = {}, {}, {}, {}
    made, ran, derived = collections.defaultdict(set), collections.defaultdict(set), []
    pending = {}  # thread -> nodes recorded just before their launch
    for block, r in plog.Log(log).records():
        name = type(r).__name__
        if name == "string":
            strings[r.id] = strings.get(r.id, b"") + r.text
        elif name == "gpu_kernel":
            kernels[r.id] = r.name
        elif name == "function":
            functions[r.id] = r.name
        elif name == "config":
            configs[r.id] = r.function
    def text(string):
        return strings.get(string, b"?").decode(errors="replace")
    for block, r in plog.Log(log).records():
        name = type(r).__name__
        if name == "graph_node":
            pending[block.thread] = r.node
            if r.config:
                made[text(functions.get(configs.get(r.config)))].add(r.node)
        elif name == "kernel_launch" and r.flags & 1 and block.thread in pending:
            made[text(functions.get(configs.get(r.config)))].add(pending.pop(block.thread))
        elif name == "kernel_run" and r.graph_node:
            ran[text(kernels.get(r.kernel))].add((r.graph_node, r.graph))
        elif name == "graph_made":
            derived.append((("created", "clone", "child", "body", "instantiated", "updated")[r.origin], r.graph, r.source,
                            f"{r.node >> 32}.{r.node & 0xffffffff}" if r.node else "", r.renumbered))

    def nodes(values):
        return ", ".join(f"{v >> 32}.{v & 0xffffffff}" for v in sorted(values))
    step.table("Numbers of nodes, graph.index: when captured or added, and in GPU records", ["kernel", "captured", "ran", "graph of the record"],
               [(name, nodes(made[name]), nodes(node for node, _ in ran[name]), ", ".join(sorted({str(g) for _, g in ran[name] if g})) or "the node's")
                for name in sorted(set(made) | set(ran))])
    step.table("Graphs that were made", ["how", "graph", "from", "in node", "renumbered"], derived)


def attribution(step, said, rows, runs_of):
    """Compares every row of graph-nodes about a kernel of the program with the program's own output. runs_of(name, the
    program's output) returns how often it must have run."""
    by_name = collections.defaultdict(list)
    for row in rows:
        if row.get("runs"):
            by_name[row["name"]].append(row)
    wrong_runs, wrong_place, wrong_thread, unknown = [], [], [], []
    table = []
    for name, want in said["kernels"].items():
        mine = by_name.get(name, [])
        runs = sum(row["runs"] for row in mine)
        paths = sorted({row.get("captured_path") or "" for row in mine})
        by = sorted({row.get("captured_by") or "" for row in mine})
        if runs != runs_of(name, want):
            wrong_runs.append(f"{name} {runs} instead of {runs_of(name, want)}")
        if not mine:
            pass
        elif any(not row.get("captured_thread") for row in mine):
            unknown.append(f"{name}: {', '.join(by)}")
        elif paths != [want["path"]]:
            wrong_place.append(f"{name} in {paths} instead of {want['path']}")
        elif any((row["captured_thread"] == row["pid"]) != want["main_thread"] for row in mine):
            wrong_thread.append(name)
        table.append((name, want["path"], want["runs"], runs, ", ".join(paths), ", ".join(by)))
    step.table("Kernels of graphs: the program's output and the log", ["kernel", "captured in", "runs", "runs in the log",
               "captured in, by the log", "by"], table)
    step.check("every kernel ran as often as it should", not wrong_runs, "; ".join(wrong_runs) or "all", "equal")
    step.check("every replayed kernel has its capturing call", not unknown, "; ".join(unknown) or f"{len(said['kernels'])} kernels", "all")
    step.check("… in the NVTX ranges that captured it", not wrong_place, "; ".join(wrong_place) or "all", "equal")
    step.check("… on the thread that captured it", not wrong_thread, ", ".join(wrong_thread) or "all", "equal")


def graphs(lab, step):
    """Graphs built in every way."""
    if lab.sim:
        raise Skipped("needs a GPU")
    command = [lab.program("graphs")]
    plain = lab.run(command)
    if plain.status != 0:
        raise RuntimeError(f"the program fails without the recorder: {plain.stderr.strip()[-200:]}")
    said = json.loads(plain.stdout)
    count = lab.fresh("graphs", "cupti")
    lab.run(command, env=lab.cupti_env(count))
    folder = lab.fresh("graphs", "nodes")
    recorded = lab.run(command, env=lab.recorded_env(folder))
    same_behaviour(step, plain, recorded)
    logs = lab.logs(folder)
    runs = load(lab, folder)
    numbers(step, logs[0])
    coverage(step, runs)
    compare_with_cupti(step, runs, lab.cupti_count(count))
    launches = sum(1 for run in runs for launch in run.launches if launch.kind == "graph_launch" and not launch.flags & 1)
    step.check("graph launches as the program counts them", launches == said["graph_launches"], launches, said["graph_launches"])
    captured = sum(1 for run in runs for launch in run.launches if launch.flags & 1)
    step.check("captured launches as the program counts them", captured == said["captured_launches"], captured, said["captured_launches"])
    for name in ("graph_nodes_unidentified",):
        n = sum(run.log.counters.get(name, 0) for run in runs)
        step.check(f"{name} is 0", n == 0, n, 0)
    attribution(step, said, rows_of(lab, "graph-nodes", logs), lambda name, want: want["runs"])
    launched = rows_of(lab, "cuda-graphs", logs)
    by_thread = [row for row in launched if (row.get("launched_path") or "") == "launcher"]
    step.check("the graph that four threads launch has a row for each", len(by_thread) == 4, len(by_thread), 4)
    step.check("launches in cuda-graphs", sum(row["launches"] for row in launched) == launches, sum(row["launches"] for row in launched), launches)
    trace = lab.path("graphs", "trace.json")
    answer = lab.run_prof(["trace", *logs, "-o", trace])
    step.check("prof trace", answer.status == 0, f"exit status {answer.status}", 0)
    if answer.status == 0:
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        replayed = [event for event in events if event.get("cat") == "kernel" and "graph node id" in event["args"]]
        named = sum(1 for event in replayed if "captured on thread" in event["args"])
        step.check("replayed kernels in the trace name their capturing thread", replayed and named == len(replayed), f"{named} of {len(replayed)}", "all")
    whole(lab, step, command, plain, said)
    special(lab, step)


def special(lab, step):
    """Conditional nodes and launches by kernels: compared with CUPTI's own report, not with the launches of the
    program."""
    command = [lab.program("device_graphs")]
    plain = lab.run(command)
    if plain.status != 0:
        step.note(f"Conditional nodes and launches by kernels do not run here: {plain.stderr.strip()[-200:]}")
        return
    said = json.loads(plain.stdout)
    count, folder = lab.fresh("graphs", "special-cupti"), lab.fresh("graphs", "special")
    lab.run(command, env=lab.cupti_env(count))
    recorded = lab.run(command, env=lab.recorded_env(folder))
    step.check("conditional nodes, launches by kernels: same standard output", recorded.stdout == plain.stdout and recorded.status == 0, recorded.status, 0)
    alone = lab.cupti_count(count)["by_name"]
    logs = lab.logs(folder)
    numbers(step, logs[0])
    step.table("Conditional nodes and launches by kernels: what CUPTI alone reports", ["kernel", "ran", "CUPTI alone"],
               [(name, want["runs"], alone.get(name, [0])[0]) for name, want in said["kernels"].items()])
    attribution(step, said, rows_of(lab, "graph-nodes", logs), lambda name, want: alone.get(name, [0])[0])
    run = load(lab, folder)[0]
    step.figure("operations without a launch call in the independent reader", len(run.unmatched))
    line = coverage_line.of_log(lab, logs[0])
    step.note("prof reports: " + line.text)
    step.check("coverage line: every launch has GPU time or a named reason", "unknown" not in line.without and
               line.launches == line.timed + sum(line.without.values()), f"{line.timed} of {line.launches}, {line.without or 'none without'}", "none unknown")
    step.check("coverage line: every GPU operation has a launch or a named reason", not {"unlinked", "unknown"} & set(line.unlinked) and
               line.operations == line.linked + sum(line.unlinked.values()), f"{line.linked} of {line.operations}, {line.unlinked or 'none without'}", "none unlinked")
    step.check("coverage line: operations", line.operations == len(run.operations), line.operations, len(run.operations))


def whole(lab, step, command, plain, said):
    folder = lab.fresh("graphs", "whole")
    recorded = lab.run(command, env=lab.recorded_env(folder, PROF_GRAPHS="whole"))
    step.check("PROF_GRAPHS=whole: same standard output", recorded.stdout == plain.stdout and recorded.status == 0, recorded.status, 0)
    runs = load(lab, folder)
    step.figure("PROF_GRAPHS=whole: how graphs were timed", runs[0].meta.get("graphs", "?"))
    found = sum(run.by_kind["graph_run"] for run in runs)
    # If several threads launch a graph at the same time, CUPTI, also alone, reports some records without times
    # (observed with 13.0). They are counted.
    without_times = sum(run.log.counters.get("gpu_clock_errors", 0) for run in runs)
    step.figure("PROF_GRAPHS=whole: records that CUPTI gave without valid times", without_times)
    step.check("PROF_GRAPHS=whole: a record for each launch, with its time or counted", found + without_times == said["graph_launches"],
               f"{found} + {without_times}", said["graph_launches"])
    threads_launch = 8  # for the graph that four threads launch, twice each
    step.check("PROF_GRAPHS=whole: none without its time but those of that graph", without_times <= threads_launch, without_times, f"≤ {threads_launch}")
    from_nodes = sum(1 for run in runs for operation in run.operations if operation[0] != "graph" and operation[6])
    step.figure("PROF_GRAPHS=whole: records of single nodes all the same", from_nodes)
    nodes = [row for row in rows_of(lab, "graph-nodes", lab.logs(folder)) if row["name"] in said["kernels"]]
    places = {row["name"]: row.get("captured_path") for row in nodes}
    wrong = [name for name, want in said["kernels"].items() if name in places and places[name] != want["path"]]
    step.check("PROF_GRAPHS=whole: nodes have the place of their capture", nodes and not wrong, f"{len(places)} kernels, wrong: {wrong or 'none'}", "equal")


def torch_graph_nodes(lab, step):
    """PyTorch's replays, in the logs of earlier steps: captured by hand, by make_graphed_callables, by
    torch.compile."""
    seen = False
    for name in ("torch_graph", "torch_reduce_overhead", "torch_graphed_callables"):
        logs = lab.logs(lab.path(name, "log"))
        if not logs:
            continue
        rows = [row for row in rows_of(lab, "graph-nodes", logs) if row.get("runs")]
        if not rows:
            step.note(f"{name}: no graph was replayed")
            continue
        seen = True
        without = collections.Counter(f"{row['captured_by']}: {row['name'][:60]}" for row in rows if not row.get("captured_thread"))
        step.check(f"{name}: every replayed operation has its capturing call", not without, "; ".join(f"{n} {what}" for what, n in without.most_common(5))
                   or f"{len(rows)} nodes, {sum(row['runs'] for row in rows)} runs", "all")
        places = collections.Counter()
        for row in rows:
            same = "the main thread" if row.get("captured_thread") == row["pid"] else "another thread"
            places[(row.get("captured_path") or "(no range)", same, row.get("captured_by") or "")] += row["runs"]
        step.table(f"{name}: where replayed operations were captured", ["ranges", "thread", "by", "runs"], [(*key, n) for key, n in places.most_common(12)])
    if not seen:
        raise Skipped("no log with graphs of PyTorch (run torch_graph first)")


def graph_replay(lab, step):
    """500 kernels of about a microsecond in one graph: plain, graphs as a whole, each node, CUPTI alone."""
    if lab.sim:
        raise Skipped("needs a GPU")
    nodes, whole_folder = lab.fresh("graph_replay", "nodes"), lab.fresh("graph_replay", "whole")
    chosen = {
        "plain": (lab.env(), None),
        "whole": (lab.recorded_env(whole_folder, PROF_CUPTI=lab.cupti, PROF_GRAPHS="whole"), whole_folder),
        "nodes": (lab.recorded_env(nodes, PROF_CUPTI=lab.cupti), nodes),
        "CUPTI alone": (lab.cupti_env(lab.fresh("graph_replay", "cupti"), names=False), None),
    }
    sets, rounds, replays = 5, 6, 400
    command = [lab.program("graph_replay")]
    samples = Alternation(lab, step, "graph_replay", lambda variant: command, chosen).run(sets, rounds, [str(replays)])[str(replays)]
    wall = cost_table(step, f"Replay of {KERNELS} kernels, {replays} replays per round, until the GPU has finished, per replay", samples, "wall_ns", "µs", per=1e3)
    cost_table(step, "The same, GPU time between two events, a replay", samples, "gpu_ns", "µs", per=1e3)
    cost_table(step, "The same, time of the launching thread, a replay", samples, "host_ns", "µs", per=1e3)
    step.figure("GPU time of a node, plain", stats.median(flat([[a["gpu_ns"] for a in answers] for answers in samples["plain"]])) / KERNELS, "ns")
    step.check("whole ÷ plain", wall["whole"][0][0] <= MAX_WHOLE_OVER_PLAIN, interval(wall["whole"][0]), MAX_WHOLE_OVER_PLAIN)
    step.check("nodes ÷ CUPTI alone", wall["nodes"][1][0] <= MAX_NODES_OVER_CUPTI, interval(wall["nodes"][1]), MAX_NODES_OVER_CUPTI)
    replayed = (200 + (rounds + 1) * replays) * KERNELS
    sizes = [os.path.getsize(log) for log in lab.logs(nodes)]
    if not sizes:
        raise RuntimeError("no log")
    size = statistics.median(sizes) / replayed
    step.check("bytes a replayed node, whole file", size <= MAX_BYTES_PER_NODE, f"{size:.2f}", MAX_BYTES_PER_NODE)
    step.figure("bytes a replayed node, PROF_GRAPHS=whole", statistics.median(os.path.getsize(log) for log in lab.logs(whole_folder)) / replayed)
    for log in lab.logs(nodes):
        os.remove(log)
