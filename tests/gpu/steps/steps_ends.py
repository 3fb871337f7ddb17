"""Steps about the start and the end of a recording: every way to end a program after its work, signals and kills soon
after the work, a device-side assertion, first calls of several threads, and what flushes cost."""
import re
import signal
import statistics
import subprocess
import time

import coverage_line
import stats
from log_checks import load
from steps_overhead import Alternation, interval, pick

LAUNCHES = 2000
MOST_LATER_S = 0.7  # that a recorded program may end later than the same program alone
WAYS = ("return", "exit", "_exit", "_Exit", "quick_exit", "abort")
WAYS_WITHOUT_HANDLERS = ("syscall", "instruction")
PAUSES_MS = (0, 1, 5, 20, 50, 300)
STARTS = 100
MOST_LOST_MS = 0.2


def timed_of(run):
    launches = [launch for launch in run.launches if launch.kind == "kernel_launch"]
    return len(launches), sum(1 for launch in launches if launch.operations)


def ended(lab, name, arguments, **options):
    """(the run's answer, launches, launches with GPU time)"""
    folder = lab.fresh("exits", name)
    answer = lab.run([lab.program("ends"), *arguments], env=lab.recorded_env(folder, **options), timeout=60)
    run = load(lab, folder)[0]
    return answer, *timed_of(run)


def signalled(lab, name, how, number, seconds):
    """Sends a signal `seconds` after the work: (status, launches, launches with GPU time)"""
    folder = lab.fresh("exits", name)
    process = subprocess.Popen([lab.program("ends"), how], env=lab.recorded_env(folder), stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    try:
        process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(number)
        status = process.wait(timeout=30)
    finally:
        process.kill()
        process.wait()
    run = load(lab, folder)[0]
    return status, *timed_of(run)


def exits(lab, step):
    """2,000 kernels, a synchronisation, and then one way to end."""
    rows = []
    for how in WAYS:
        plain = lab.run([lab.program("ends"), how], timeout=60)
        answer, launches, timed = ended(lab, how, [how])
        rows.append((how, answer.status, launches, timed, f"{plain.seconds:.2f}", f"{answer.seconds:.2f}"))
        step.check(f"{how}: the status is that of the program alone", answer.status == plain.status, answer.status, plain.status)
        if how != "abort":
            step.check(f"{how}: every launch has its GPU time", launches == timed == LAUNCHES, f"{timed} of {launches}", LAUNCHES)
    if not lab.sim:  # threads of the simulated CUPTI keep the process alive; CUDA's own may do so without a recorder
        plain = lab.run([lab.program("ends"), "pthread_exit"], timeout=10)
        recorded = lab.run([lab.program("ends"), "pthread_exit"], env=lab.recorded_env(lab.fresh("exits", "pthread_exit")), timeout=10)
        step.check("pthread_exit: ends, or does not end, as the program alone", recorded.status == plain.status, recorded.status, plain.status)
    for how in WAYS_WITHOUT_HANDLERS:
        for ms in PAUSES_MS:
            name = f"{how} after {ms} ms"
            answer, launches, timed = ended(lab, name.replace(" ", "_"), [how, str(ms)])
            rows.append((name, answer.status, launches, timed, "", f"{answer.seconds:.2f}"))
            step.check(f"{name}: all launches are in the log", launches == LAUNCHES, launches, LAUNCHES)
            if how == "syscall" or ms >= 20:
                step.check(f"{name}: every launch has its GPU time", timed == LAUNCHES, timed, LAUNCHES)
            else:
                without = {"pending": launches - timed} if timed != launches else {}
                said = coverage_line.of_log(lab, lab.logs(lab.path("exits", name.replace(" ", "_")))[0]).without if lab.prof else without
                step.check(f"{name}: launches without GPU time are counted as pending", said == without, said, without)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for how, least in (("wait", 0.05), ("wait_unsynchronised", 0.5)):
            for seconds in (0.05, 0.3, 0.5, 1):
                name = f"{number.name} {seconds} s after the work, {how}"
                status, launches, timed = signalled(lab, f"{number.name}-{how}-{seconds}", how, number, seconds)
                rows.append((name, status, launches, timed, "", ""))
                step.check(f"{name}: ends by the signal", status == -number, status, -number)
                if seconds >= least:
                    step.check(f"{name}: every launch has its GPU time", launches == timed == LAUNCHES, f"{timed} of {launches}", LAUNCHES)
                else:
                    step.figure(f"{name}: launches without GPU time", launches - timed)
    for how in ("assert", "assert_unseen"):
        plain, recorded = [], []
        for turn in range(3):
            plain.append(lab.run([lab.program("ends"), how], timeout=60))
            answer, launches, timed = ended(lab, f"{how}-{turn}", [how], PROF_LOG="debug")
            recorded.append(answer)
            step.figure(f"{how}: where the exit waits", "; ".join(re.findall(r"the last flush: (.*)", answer.stderr)))
            step.check(f"{how}: the launches before it have GPU times", timed >= LAUNCHES and launches == LAUNCHES + 1, f"{timed} of {launches}", LAUNCHES)
        step.check(f"{how}: status and output are those of the program alone",
                   (recorded[0].status, recorded[0].stdout) == (plain[0].status, plain[0].stdout), recorded[0].status, plain[0].status)
        alone, beside = (statistics.median(a.seconds for a in answers) for answers in (plain, recorded))
        rows.append((how, recorded[0].status, "", "", f"{alone:.2f}", f"{beside:.2f}"))
        step.check(f"{how}: the exit does not wait for a record that cannot come", beside - alone <= MOST_LATER_S,
                   f"{beside - alone:.2f} s later", f"≤ {MOST_LATER_S} s")
    step.table("Ways to end", ["how", "status", "launches", "with GPU time", "seconds alone", "seconds recorded"], rows)


def starts(lab, step):
    """8 threads make the first CUDA calls of a process together. The log names the calls that each thread lost."""
    most, calls, untimed, opened = [], 0, 0, 0
    for turn in range(5 if lab.sim else STARTS):
        folder = lab.fresh("starts", "log")
        answer = lab.run([lab.program("ends"), "together"], env=lab.recorded_env(folder), timeout=60)
        if answer.status != 0:
            raise RuntimeError(f"ends together: status {answer.status}: {answer.stderr[-300:]}")
        run = load(lab, folder)[0]
        launches, timed = timed_of(run)
        untimed += launches - timed
        opened += launches
        lost = [(r.calls_lost, r.lost_ns) for _, r in run.log.records() if type(r).__name__ == "thread"]
        calls += sum(count for count, _ in lost)
        most.append(max(ns for _, ns in lost) / 1e6)
    step.check("launches of all threads are recorded with their GPU times", untimed == 0 and opened == 8000 * len(most),
               f"{untimed} of {opened} without", "0")
    step.figure("calls lost while the recorder started", calls)
    step.figure("longest time in which a thread lost calls, median", f"{statistics.median(most):.3f}", "ms")
    p99 = stats.quantile(most, 0.99)
    step.check("longest time in which a thread lost calls, 99th percentile", p99 <= MOST_LOST_MS or lab.sim, f"{p99:.3f} ms", f"≤ {MOST_LOST_MS} ms")


def flush_costs(lab, step):
    """Launch loops with flushes at several periods, and a loop that synchronises after every launch, which makes the
    helper thread flush too. PROF_FLUSH=0 never flushes before the end."""
    periods = ("0", "1", "0.25", "0.1", "0.05")
    chosen = {f"PROF_FLUSH={period}": (lab.recorded_env(lab.fresh("flush_costs", period), PROF_FLUSH=period, PROF_CUPTI=lab.cupti), None)
              for period in periods}
    loops = ["2000 0", "sync 500"] if lab.sim else ["20000 0", "sync 10000"]
    sets, rounds = (2, 2) if lab.sim else (8, 10)
    command = [lab.program("launch_loop"), "--serve"]
    samples = Alternation(lab, step, "flush_costs", lambda variant: command, chosen).run(sets, rounds, loops)
    for loop in loops:
        base = pick(samples[loop]["PROF_FLUSH=0"], "wall_ns")
        rows = []
        for variant, values in samples[loop].items():
            ratio = stats.ratio_of_processes(pick(values, "wall_ns"), base)
            rows.append((variant, f"{statistics.median(v for one in pick(values, 'wall_ns') for v in one):,.0f}", interval(ratio)))
            if variant == "PROF_FLUSH=0.25" and not lab.sim:
                step.check(f"loop {loop}: the default period costs at most 2 %", ratio[1] <= 1.02, interval(ratio), "the 95 % interval reaches 1.02 or less")
        step.table(f"Time per launch until the GPU has finished, loop {loop}", ["variant", "median ns", "÷ PROF_FLUSH=0 (95 %)"], rows)
