"""Steps about GPUs and their memory: managed memory; pools and a reset; two GPUs in one process; one process per GPU
with NCCL between them."""
import collections
import os
import pathlib
import re
import subprocess

import recorded_run
from lab import APPS_FOLDER, Skipped
from log_checks import coverage, load, same_behaviour, tables_of
from steps_processes import in_order, told_apart

MOST_APART_US = 200  # between the ends of one all-reduce on two GPUs, which wait for each other


def needs_two_gpus(lab):
    """UUIDs of this machine's GPUs, in the form of a log."""
    if lab.sim:
        raise Skipped("needs a GPU")
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout
    found = [uuid.replace("-", "") for uuid in re.findall(r"UUID: GPU-([0-9a-f-]+)", listed)]
    if len(found) < 2:
        raise Skipped(f"needs two GPUs, this machine has {len(found)}")
    return found


def compared(lab, name, command):
    """Runs the program without and with the recorder; returns the folder of its logs."""
    plain = lab.run(command)
    if plain.status != 0:
        raise Skipped(f"does not run here without the recorder either: {plain.stderr.strip()[-300:]}")
    folder = lab.fresh(name)
    return plain, lab.run(command, env=lab.recorded_env(folder)), folder


def defined(run, kind):
    return [record for _, record in run.log.records() if type(record).__name__ == kind]


def two_gpus(lab, step):
    """One process, kernels and copies on two GPUs."""
    uuids = needs_two_gpus(lab)
    plain, recorded, folder = compared(lab, "two_gpus", [lab.python, os.path.join(APPS_FOLDER, "devices_app.py"), "one"])
    same_behaviour(step, plain, recorded)
    runs = load(lab, folder)
    coverage(step, runs)
    seen = {device.ordinal: device.uuid.decode() for device in defined(runs[0], "device")}
    step.check("GPUs by ordinal and UUID", [seen.get(i) for i in range(2)] == uuids[:2], seen, uuids[:2])
    streams = {stream.id: stream.device for stream in defined(runs[0], "gpu_stream")}
    kernels = collections.Counter(streams[op[4]] for op in runs[0].operations if op[0] == "kernel")
    step.check("kernels on each GPU", min(kernels[0], kernels[1]) >= 40, dict(kernels), "≥ 40 each")
    peers = {copy.peer for copy in defined(runs[0], "copy_run") if copy.peer}
    both_ways = {1 + a | 1 + b << 16 for a, b in ((0, 1), (1, 0))}
    step.check("copies between the GPUs name both", peers == both_ways, sorted(peers), sorted(both_ways))


def managed(lab, step):
    """Managed memory, written by the CPU and by the GPU in turn: every page moves."""
    if lab.sim:
        raise Skipped("needs a GPU")
    command = [lab.program("managed")]
    plain = lab.run(command)
    folder = lab.fresh("managed")
    recorded = lab.run(command, env=lab.recorded_env(folder, PROF_UNIFIED="on"))
    same_behaviour(step, plain, recorded)
    run = load(lab, folder)[0]
    step.check("CUPTI reports managed memory", run.meta.get("unified_memory") == "on", run.meta.get("unified_memory"), "on")
    count, total = collections.Counter(), collections.Counter()
    for event in defined(run, "unified_memory"):
        count[event.what] += 1
        total[event.what] += event.value
    size = 64 << 20
    for what, name in ((1, "to the GPU"), (2, "to the CPU")):
        step.check(f"bytes that moved {name}", size <= total[what] <= 3 * size, total[what], f"{size} a round at most, two rounds")
        step.figure(f"migrations {name}", count[what])
    step.check("page faults of the GPU", total[4] > 0, total[4], "> 0")
    step.figure("page faults of the CPU", count[3])
    if lab.prof:
        answer = lab.run_prof(["report", "unified-memory", "um_total_sum", run.log.path])
        step.check("prof report unified-memory", answer.status == 0 and "migration" in answer.stdout, f"exit status {answer.status}", 0)


def contexts(lab, step):
    """Memory from two pools; a device that is reset and used again."""
    if lab.sim:
        raise Skipped("needs a GPU")
    plain, recorded, folder = compared(lab, "contexts", [lab.program("contexts")])
    same_behaviour(step, plain, recorded)
    runs = load(lab, folder)
    coverage(step, runs)
    run = runs[0]
    kernels = {name: row[0] for name, row in run.kernel_table().items()}
    step.check("kernels before and after the reset", kernels == {"before_reset": 20, "after_reset": 10}, kernels, "20 and 10")
    pools = sorted(pool.origin for pool in defined(run, "memory_pool"))
    step.check("pools: the default one and the program's", pools == [1, 2], pools, [1, 2])
    made = defined(run, "context")
    numbers = {context.gpu_context for context in made}
    of_gpu = {stream.context for stream in defined(run, "gpu_stream")}
    step.check("contexts of the GPU's records are known by their handles", of_gpu <= numbers, sorted(of_gpu), sorted(numbers))
    step.figure("contexts and their handles", f"{len(made)}, {len({context.handle for context in made})}")
    if lab.prof:
        answer = lab.run_prof(["report", "memory", run.log.path, "--format", "csv"])
        rows = [line.split(",") for line in answer.stdout.splitlines() if ",device 0," in line]
        peaks = {row[2]: int(row[9]) for row in rows}
        step.check("prof report memory: peak by pool", {"default": 2 << 20, "pool 1": 3 << 20}.items() <= peaks.items(), peaks,
                   "2 MiB and 3 MiB")
        step.check("bytes still allocated after the reset", int(rows[0][12]) == 0, rows[0][12], 0)


def green_contexts(lab, step):
    """Kernels in streams of a green context, and in its primary context: streams and contexts are distinguished."""
    if lab.sim:
        raise Skipped("needs a GPU")
    plain, recorded, folder = compared(lab, "green_contexts", [lab.program("green_contexts")])
    if not plain.stdout.startswith("green"):
        raise Skipped(plain.stdout.strip()[:200])
    same_behaviour(step, plain, recorded)
    runs = load(lab, folder)
    coverage(step, runs)
    run = runs[0]
    kernels = {name: row[0] for name, row in run.kernel_table().items()}
    step.check("kernels in the green context and outside", kernels == {"in_green": 20, "in_primary": 10}, kernels, "20 and 10")
    of_kernel = collections.defaultdict(set)
    for operation in run.operations:
        if operation[0] == "kernel":
            of_kernel[run.kernel_names[operation[5]]].add(run.gpu_streams[operation[4]])  # device, context, stream
    green, primary = of_kernel["in_green"], of_kernel["in_primary"]
    step.check("two streams of the green context, one of the primary one", (len(green), len(primary)) == (2, 1), f"{len(green)}, {len(primary)}", "2, 1")
    step.check("no stream is of both", not green & primary, sorted(green & primary), "none")
    unknown = {context for _, context, _ in green | primary} - {context.gpu_context for context in defined(run, "context")}
    step.figure("contexts of the GPU's records without a known handle", len(unknown))
    calls = {name: count for name, count in run.api_calls.items() if "Green" in name}
    step.check("the calls that make and end it", calls.get("cuGreenCtxCreate") == 1 and calls.get("cuGreenCtxDestroy") == 1, calls, "1 and 1")


def nccl(lab, step):
    """torchrun with one process per GPU: one log per rank, one trace of both on one time axis."""
    needs_two_gpus(lab)
    command = [lab.python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
               os.path.join(APPS_FOLDER, "devices_app.py"), "ranks"]
    plain, recorded, folder = compared(lab, "nccl", command)
    plain, recorded = in_order(plain), in_order(recorded)
    same_behaviour(step, plain, recorded)
    runs = load(lab, folder)
    step.figure("other logs, of a launcher that counts the GPUs", len(lab.logs(folder)) - len(runs))
    coverage(step, runs)
    events = told_apart(lab, step, runs, lab.path("nccl.trace.json.gz"))
    if not events:
        return
    reduces = collections.defaultdict(list)
    for event in events:
        if event.get("cat") == "kernel" and "AllReduce" in event["name"]:
            reduces[event["pid"]].append((float(event["ts"]), float(event["ts"]) + float(event["dur"])))
    counts = [len(found) for found in reduces.values()]
    step.check("all-reduce kernels by GPU", len(counts) == 2 and counts[0] == counts[1] >= 30, counts, "equal, ≥ 30")
    if len(counts) == 2:
        pairs = list(zip(*[sorted(found) for found in reduces.values()]))
        apart = sorted(abs(a[1] - b[1]) for a, b in pairs)
        overlap = sum(1 for a, b in pairs if a[0] < b[1] and b[0] < a[1])
        step.check("ends of one all-reduce on the two GPUs, µs apart", apart[len(apart) // 2] <= MOST_APART_US,
                   f"median {apart[len(apart) // 2]:.1f}, largest {apart[-1]:.1f}", f"median ≤ {MOST_APART_US}")
        step.check("all-reduces that run at the same time on both", overlap >= 0.9 * len(pairs), f"{overlap} of {len(pairs)}",
                   "90 %")
    said_of_collectives(lab, step, runs, events)
    device_uuids = {plog_device.uuid for run in runs for plog_device in defined(run, "device")}
    step.check("devices of both ranks", len(device_uuids) == 2, len(device_uuids), 2)


def blame(lab, step):
    """Two ranks, one of which never enters an all-reduce; kill -9 ends both. prof blame names it, with its line and
    NCCL's own number of the communicator."""
    needs_two_gpus(lab)
    folder, debug = lab.fresh("blame"), lab.path("blame_nccl.%p.txt")
    env = lab.recorded_env(folder, PROF_COLLECTIVES="1", NCCL_DEBUG="INFO", NCCL_DEBUG_SUBSYS="INIT", NCCL_DEBUG_FILE=debug)
    done = lab.run([lab.python, os.path.join(APPS_FOLDER, "devices_app.py"), "hang", folder], env=env, timeout=150)
    if done.stdout != "ended by [-9, -9]\n":
        raise Skipped(f"the job does not run here: {done.stdout} {done.stderr.strip()[-300:]}")
    logs = lab.logs(folder)
    answer = lab.run_prof(["blame", *logs])
    step.check("exit status: a rank is named", answer.status == 3, answer.status, 3)
    first = next((line for line in answer.stdout.splitlines() if line.startswith("rank ")), "")
    step.figure("the first line", first)
    step.check("rank 1 never entered the all-reduce after the 20th", re.match(r"rank 1 never entered all-reduce #2[01] of communicator", first) is not None, first[:60], "rank 1, #20 or #21")
    step.check("its line", "data_is_late (devices_app.py:" in first, first[-120:], "data_is_late")
    communicator = re.search(r"communicator (0x[0-9a-f]+)", first)
    said = "".join(path.read_text(errors="replace") for path in pathlib.Path(debug).parent.glob("blame_nccl.*.txt"))
    step.check("the communicator is the one of NCCL_DEBUG", communicator is not None and f"commId {communicator[1]} " in said,
               communicator and communicator[1], sorted(set(re.findall(r"commId (0x[0-9a-f]+)", said))))


def late_data(lab, step):
    """DDP on two GPUs. Rank 1 sleeps 19 times 10 ms while its GPU is idle: its stack is named with that time, and rank 0
    waits for it. FSDP without a late rank: each collective is named, and no rank is an outlier."""
    needs_two_gpus(lab)
    command = [lab.python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", os.path.join(APPS_FOLDER, "devices_app.py")]
    for mode in ("ddp", "fsdp"):
        part = step.named(mode)
        folder = lab.fresh(f"late_data_{mode}")
        done = lab.run([*command, mode], env=lab.recorded_env(folder, PROF_HOST_SAMPLES="starved:997"), timeout=120)
        if done.status != 0:
            part.check("the job runs", False, done.stderr.strip()[-300:], "0")
            continue
        runs = {run.meta.get("rank"): run for run in map(recorded_run.Run, lab.logs(folder)) if run.launches}
        part.check("a log for each rank", set(runs) == {"0", "1"}, sorted(runs, key=str), "0 and 1")
        logs = [run.log.path for run in runs.values()]
        answer = lab.run_prof(["report", "collectives", *logs, "--format", "json"])
        rows = [row for table in tables_of(answer.stdout) for row in table.get("rows", [])]
        waited = collections.Counter()
        for row in rows:
            waited[row["rank"]] += row.get("waited_ns") or 0
        part.figure("collectives, without communicator", f"{len(rows)}, {sum(not row.get('communicator') for row in rows)}")
        part.figure("waited for the other rank (ms)", ", ".join(f"rank {rank} {ns / 1e6:.1f}" for rank, ns in sorted(waited.items())))
        ranks = lab.run_prof(["report", "ranks", *logs, "--format", "json"])
        findings = [row["findings"] for table in tables_of(ranks.stdout) for row in table.get("rows", []) if "findings" in row]
        part.check("prof report ranks: a row for each, no outlier of two", ranks.status == 0 and findings == [0, 0], findings, "[0, 0]")
        if mode == "fsdp":
            part.check("each collective has its communicator", rows and all(row.get("communicator") for row in rows), len(rows), "all")
            continue
        part.check("rank 0 waits for rank 1", waited[0] > 19 * 8e6 and waited[1] < waited[0] / 3, dict(waited), "19 x 8 ms and more; a third")
        idle = lab.run_prof(["report", "flame", "--metric", "idle", "--format", "folded", runs["1"].log.path])
        sleeping = sum(int(line.rsplit(" ", 1)[1]) for line in idle.stdout.splitlines() if "data_takes_long" in line)
        part.check("idle time of rank 1 below data_takes_long()", abs(sleeping / 190e6 - 1) < 0.05, f"{sleeping / 1e6:.1f} ms", "190 ms within 5 %")
        advice = lab.run_prof(["report", "advise", runs["1"].log.path])
        print(idle.stdout[:2000] + advice.stdout[:3000], flush=True)


def said_of_collectives(lab, step, runs, events):
    """What NCCL reports about its calls (2.26 and later report everything): communicator, rank, ranks and bytes, in the
    trace and in the report."""
    reduces = [event for event in events if event.get("cat") == "kernel" and "AllReduce" in event["name"]]
    named = [event for event in reduces if "nccl communicator" in event["args"]]
    step.check("all-reduce kernels in the trace with their communicator", reduces and len(named) == len(reduces), f"{len(named)} of {len(reduces)}", "all")
    ranks = {(event["pid"], event["args"].get("nccl rank")) for event in named}
    step.check("each process has one rank in it", sorted(int(rank) for _, rank in ranks if rank is not None) == [0, 1], sorted(ranks, key=str), "0 and 1")
    answer = lab.run_prof(["report", "collectives", *[run.log.path for run in runs], "--format", "json"])
    rows = [row for table in tables_of(answer.stdout) for row in table.get("rows", []) if "AllReduce" in row["name"]]
    step.check("prof report collectives: a row a kernel", answer.status == 0 and len(rows) == len(reduces), len(rows), len(reduces))
    large = [row for row in rows if row.get("bytes") == 4 << 22]
    step.check("all-reduces of 16 MiB with two ranks", len(large) >= 60 and all(row.get("ranks") == 2 for row in large), len(large), "≥ 60, 30 a rank")
    step.check("both ranks on one communicator", len({row.get("communicator") for row in large}) == 1 and {row.get("rank") for row in large} == {0, 1},
               sorted({(row.get("communicator"), row.get("rank")) for row in large}, key=str), "one communicator, ranks 0 and 1")
    rates = [row["bus_gb_per_s"] for row in large if row.get("bus_gb_per_s")]
    if rates:
        step.figure("bus bandwidth of these, the fastest", max(rates), "GB/s")
