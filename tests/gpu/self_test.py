"""Tests the tools of gpu_check on the simulated GPU: the independent reader, the CUPTI-only count, the statistics, and
that a failing step is reported and does not stop the others. Run by ctest."""
import argparse
import glob
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "steps")]
import coverage_line  # noqa: E402
import plog  # noqa: E402
import recorded_run  # noqa: E402
import stats  # noqa: E402
import steps_overhead  # noqa: E402
import steps_profilers  # noqa: E402
import steps_stacks  # noqa: E402
import switched_samples  # noqa: E402
from lab import ROOT, Lab, Skipped, claim  # noqa: E402
from results import Results, Step, join  # noqa: E402

LAUNCHES = 200_000  # from hook_bench --case everything
options = None


class OnTheSimulatedGpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        base = {k: v for k, v in os.environ.items() if not k.startswith("PROF_")}
        base.update(LD_LIBRARY_PATH=options.sim, SIM_CLOCK="real")
        cupti = os.path.join(options.sim, "libcupti.so.13")
        command = [options.program, "--case", "everything"]
        env = {**base, "LD_PRELOAD": options.libprof, "PROF_OUTPUT": cls.folder, "PROF_CUPTI": cupti}
        subprocess.run(command, env=env, check=True, timeout=60, stdout=subprocess.DEVNULL)
        cls.logs = glob.glob(os.path.join(cls.folder, "*.plog"))
        # hook_bench refuses to run if its calls are not hooked, so the baseline is loaded together with libprof, with
        # GPU times off.
        env.update(LD_PRELOAD=f"{options.baseline}:{options.libprof}", PROF_GPU="off", CUPTI_BASELINE_PRELOAD="1",
                   CUPTI_BASELINE_NAMES="1", CUPTI_BASELINE_LIB=cupti,
                   CUPTI_BASELINE_OUT=os.path.join(cls.folder, "cupti.%p.json"), PROF_OUTPUT=cls.folder)
        subprocess.run(command, env=env, check=True, timeout=60, stdout=subprocess.DEVNULL)
        cls.run_of_log = recorded_run.Run(cls.logs[0])

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_every_launch_has_its_kernel(self):
        coverage = self.run_of_log.coverage()
        self.assertEqual((coverage["launches"], coverage["timed"], coverage["operations_without_launch"]),
                         (LAUNCHES, LAUNCHES, 0))
        self.assertEqual(self.run_of_log.inversions(), 0)

    def test_live_depth_is_an_upper_bound(self):
        # a thread may lose its processor between its entry and the reading
        pairs = self.run_of_log.depths(lambda launch: launch.end)
        self.assertEqual(len(pairs), LAUNCHES)
        self.assertEqual([p for p in pairs if p[0] < p[1]], [])
        self.assertGreater(max(p[0] for p in pairs), 100)

    def test_cupti_alone_counts_the_same(self):
        lab = types.SimpleNamespace()
        count = Lab.cupti_count(lab, self.folder)
        self.assertEqual(count["kernels"], LAUNCHES)
        self.assertEqual({name: row[0] for name, row in count["by_name"].items()},
                         {name: row[0] for name, row in self.run_of_log.kernel_table().items()})

    def test_bytes_behind_the_commit_are_damage(self):
        log = plog.Log(self.logs[0])
        block = max(log.blocks(), key=lambda b: b.committed)
        at = log.first_block + block.index * log.block_bytes
        data = bytearray(log.data)
        data[at + 64:at + 80] = b"\xff" * 16  # a varint that never ends
        log.data = bytes(data)
        with self.assertRaises(plog.Damage):
            for _ in log.records():
                pass


class Statistics(unittest.TestCase):
    def test_ratio_of_medians_lies_in_its_interval(self):
        plain = [[100 + i % 7 + s for i in range(5)] for s in range(5)]
        double = [[2 * value for value in values] for values in plain]
        ratio, low, high = stats.ratio(double, plain)
        self.assertEqual(ratio, 2.0)
        self.assertTrue(1.9 < low <= 2.0 <= high < 2.1)

    def test_sets_must_match(self):
        with self.assertRaises(ValueError):
            stats.ratio([[1]], [])

    def test_ratio_of_means_sees_what_a_median_does_not(self):
        plain, rare = [1.0] * 10, [1.0] * 8 + [1.5] * 2
        ratio, low, high = stats.ratio_of_means(rare, plain)
        self.assertAlmostEqual(ratio, 1.1)
        self.assertTrue(1.0 <= low < 1.1 < high < 1.3)


def processes(ratio, count, luck, rounds=2, noise=0.01, seed=3):
    """Times of `count` processes of each side, (over, under), that differ by `luck` between processes and by `noise`
    within one."""
    draw = random.Random(seed)

    def side(true):
        sets = []
        for _ in range(count):
            own = true * math.exp(draw.gauss(0, luck))
            sets.append([own * math.exp(draw.gauss(0, noise)) for _ in range(rounds)])
        return sets
    return side(100.0 * ratio), side(100.0)


class BetweenProcesses(unittest.TestCase):
    LIMIT = 1.05

    def verdict(self, *arguments, **more):
        return stats.verdict(stats.ratio_of_processes(*processes(*arguments, **more)), self.LIMIT)

    def test_a_true_1_10_fails_and_a_true_1_00_passes(self):
        for seed in range(30):
            self.assertEqual(self.verdict(1.10, 20, 0.03, seed=seed), "fail", seed)
            self.assertEqual(self.verdict(1.00, 20, 0.03, seed=seed), "pass", seed)

    def test_a_wide_interval_is_no_pass_whatever_its_middle(self):
        ratio, low, high = stats.ratio_of_processes(*processes(1.0, 12, 0.3))
        self.assertGreater(high - low, 0.2)
        self.assertEqual(stats.verdict((1.0, 0.9, 1.1), self.LIMIT), "undecided")
        self.assertTrue(low <= ratio <= high)

    def test_equal_ratios_have_an_interval_of_one_point(self):
        for value in stats.ratio_of_processes([[22, 22], [44, 44], [11, 11]], [[20, 20], [40, 40], [10, 10]]):
            self.assertAlmostEqual(value, 1.1)

    def test_a_core_that_changes_its_speed_between_rounds_does_not_widen_it(self):
        draw = random.Random(5)

        def time(true, speed):  # sometimes the speed changes within a turn
            return true * (draw.choice((1, 2)) if draw.random() < 0.3 else speed) * math.exp(draw.gauss(0, 0.01))
        over, under = [], []
        for _ in range(8):
            speeds = [draw.choice((1, 2)) for _ in range(61)]
            over.append([time(102, speed) for speed in speeds])
            under.append([time(100, speed) for speed in speeds])
        ratio, low, high = stats.ratio_of_processes(over, under)
        self.assertAlmostEqual(ratio, 1.02, delta=0.01)
        self.assertLess(high - low, 0.02)

    def test_rounds_counted_twice_do_not_make_it_surer(self):
        over, under = processes(1.0, 12, 0.05)
        repeated = [[2 * list(rounds) for rounds in side] for side in (over, under)]
        self.assertEqual(stats.ratio_of_processes(over, under), stats.ratio_of_processes(*repeated))

    def test_four_times_the_processes_halve_the_interval(self):
        def width(count):
            widths = []
            for seed in range(20):
                _, low, high = stats.ratio_of_processes(*processes(1.0, count, 0.05, seed=seed))
                widths.append(high - low)
            return sum(widths) / len(widths)
        self.assertAlmostEqual(width(24) / width(96), 2.0, delta=0.25)

    def test_the_interval_holds_the_truth_about_as_often_as_it_says(self):
        held = 0
        for seed in range(200):
            _, low, high = stats.ratio_of_processes(*processes(1.03, 6, 0.04, seed=seed))
            held += low <= 1.03 <= high
        self.assertTrue(180 <= held <= 198, held)

    def test_student_s_t_is_that_of_the_tables(self):
        for degrees, t in ((5, 2.571), (11, 2.201), (30, 2.042), (10**6, 1.960)):
            self.assertAlmostEqual(stats.student_t(degrees) / t, 1.0, delta=0.01)

    def test_sets_that_do_not_fit_into_the_time_are_not_begun(self):
        step, now = Step("x"), [0.0]
        lab = types.SimpleNamespace(left=lambda: 1000)
        turns = steps_overhead.Alternation(lab, step, "x", None, {"plain": None})
        turns.one_set = lambda rounds, loops, copies: (now.__setitem__(0, now[0] + 10), [{"1": {"plain": [{}]}}] * copies)[1]
        with unittest.mock.patch.object(steps_overhead.time, "monotonic", lambda: now[0]):
            self.assertEqual(len(turns.run(50, 2, ["1"], 45)["1"]["plain"]), 4)
            self.assertEqual(now[0], 40)
            self.assertEqual(len(turns.run(50, 2, ["1"], 45, copies=3)["1"]["plain"]), 12)

    def test_every_process_of_a_set_takes_its_turn_and_counts_by_itself(self):
        seeds = []

        class Answers:
            def __init__(self, _lab, name, _command, env):
                self.name = name
                seeds.append(env["PYTHONHASHSEED"])

            def ready(self):
                pass

            def take_cores(self):
                pass

            def loop(self, _arguments):
                return {"ns": self.name}

            def end(self):
                pass

            def stop(self):
                pass
        turns = steps_overhead.Alternation(types.SimpleNamespace(left=lambda: 1000), Step("x"), "x", lambda variant: [], {"a b": ({}, None), "c": ({}, None)})
        with unittest.mock.patch.object(steps_overhead, "Server", Answers):
            found = turns.run(2, 3, ["1"], copies=2)["1"]
        self.assertEqual({variant: steps_overhead.pick(processes, "ns") for variant, processes in found.items()},
                         {"a b": [["x-a-b-0"] * 3, ["x-a-b-1"] * 3] * 2, "c": [["x-c-0"] * 3, ["x-c-1"] * 3] * 2})
        self.assertEqual(sorted(seeds), ["0", "0", "1", "1", "2", "2", "3", "3"], "alike in those that are compared")

    def test_the_gate_says_what_the_interval_says(self):
        for full, count, states in (((1.0, 0.98, 1.02), 12, [True, True, True]), ((1.1, 1.08, 1.12), 12, [True, True, False]),
                                    ((1.0, 0.9, 1.1), 12, [True, True, False]), ((1.0, 0.98, 1.02), 5, [False, True, True])):
            step = Step("x")
            ratios = {"host side only": ((1.0, 0.99, 1.01), None), "plain spread": 1.02}
            steps_overhead.gate_of_processes(types.SimpleNamespace(sim=None), step, ratios, full, count, count)
            self.assertEqual([check["pass"] for check in step.checks], states)


class InsideProcesses(unittest.TestCase):
    """Rounds of two variants in turn in the same processes."""
    @staticmethod
    def neighbours(ratio, seed, count=4, rounds=28):
        """Times of processes that differ by 3 %, whose speed changes from pair to pair, and whose own ratio differs by
        0.1 %."""
        draw = random.Random(seed)
        over, under = [], []
        for _ in range(count):
            own, true = math.exp(draw.gauss(0, 0.03)), ratio * math.exp(draw.gauss(0, 0.001))
            speeds = [own * draw.choice((1, 1.4)) for _ in range(rounds)]
            over.append([true * speed * math.exp(draw.gauss(0, 0.007)) for speed in speeds])
            under.append([speed * math.exp(draw.gauss(0, 0.007)) for speed in speeds])
        return over, under

    def test_a_true_1_02_fails_and_a_true_1_002_passes_a_limit_of_1_01(self):
        for seed in range(10):
            for ratio, verdict in ((1.02, "fail"), (1.002, "pass")):
                found = stats.ratio_of_neighbours(*self.neighbours(ratio, seed), resamples=400)
                self.assertEqual(stats.verdict(found, 1.01), verdict, f"{seed}: {found}")

    def test_the_interval_holds_the_truth_about_as_often_as_it_says(self):
        held = 0
        for seed in range(200):
            _, low, high = stats.ratio_of_neighbours(*self.neighbours(1.006, seed), resamples=200)
            held += low <= 1.006 <= high
        self.assertGreaterEqual(held, 180)

    def test_one_process_decides_nothing(self):
        with self.assertRaises(ValueError):
            stats.ratio_of_neighbours([[1, 2]], [[1, 2]])

    @staticmethod
    def launches(lost_us, seed, seconds=10):
        """Launches 30 us apart with noise, and moments 10 ms apart; after each moment the program loses some time."""
        draw = random.Random(seed)
        launches, moments, now, next_moment = [], [], 0.0, 5000.0
        while now < seconds * 1e6:
            now += draw.expovariate(1 / 30)
            if now >= next_moment:
                moments.append(next_moment)
                now += lost_us
                next_moment += draw.uniform(5000, 15000)
            launches.append(now)
        return launches, moments

    def test_the_time_lost_after_each_moment_is_found(self):
        for seed in range(5):
            for true in (0, 50, 200):
                found, low, high = stats.lost_after(*self.launches(true, seed), 2000, resamples=300)
                self.assertLess(high - low, 60)
                self.assertLess(abs(found - true), 45, f"{seed}: {found} for {true}")

    def test_its_interval_holds_the_truth_about_as_often_as_it_says(self):
        held = 0
        for seed in range(60):
            _, low, high = stats.lost_after(*self.launches(50, seed, 4), 2000, resamples=200)
            held += low <= 50 <= high
        self.assertGreaterEqual(held, 51)

    def test_few_moments_show_no_lost_time(self):
        with self.assertRaises(ValueError):
            stats.lost_after([1, 2, 3], [2], 1)

    def test_each_round_is_switched_and_warmed_up_and_the_first_pair_is_left_out(self):
        done = []

        class Program:
            def __init__(self, pid):
                self.process, self.on = types.SimpleNamespace(pid=pid), None

            def take_cores(self):
                pass

            def loop(self, arguments):
                done.append((self.process.pid, arguments, programs[self.process.pid].on))
                return {"ns": 2 if self.on else 1}
        programs = {pid: Program(pid) for pid in (7, 8)}
        lab = types.SimpleNamespace(left=lambda: 1000)

        def switch(_lab, pid, on):
            programs[pid].on = on
        with unittest.mock.patch.object(switched_samples, "switch", switch):
            loops = switched_samples.Loops("9", "3")
            found = switched_samples.run_pairs(lab, list(programs.values()), loops, "ns", 12, 100)
        self.assertEqual([len(pairs) for pairs in found], [12, 12])
        for pairs in found:
            self.assertEqual([(a.on, a.value, b.on, b.value) for a, b in pairs], 12 * [(True, 2, False, 1)])
            self.assertEqual({a.begin_ns < b.begin_ns for a, b in pairs}, {True, False}, "in random order")
        self.assertEqual([arguments for _, arguments, _ in done], 13 * 2 * 2 * ["3", "9"])
        self.assertTrue(all(first[::2] == second[::2] for first, second in zip(done[::2], done[1::2])), "one state")

    def states(self, on, off, busy_share=0.2):
        """The checks of 20 rounds of 100 ms each with and without samples, of which so many are found."""
        step, second = Step("x"), 10**9
        pairs = [(switched_samples.Round(True, i * second, i * second + second // 10, 1),
                  switched_samples.Round(False, i * second + second // 2, i * second + second // 2 + second // 10, 1))
                 for i in range(20)]
        times = [i % 20 * second + 10**7 for i in range(on)] + [i % 20 * second + 6 * 10**8 - 1 for i in range(off)]
        fakes = {"sample_times": lambda log: times, "busy_ns": lambda lab, log: busy_share * 10**9}
        with unittest.mock.patch.multiple(switched_samples, **fakes):
            switched_samples.check_samples(None, step, ["log"], [pairs], [10**9])
        return [check["pass"] for check in step.checks]

    def test_samples_must_be_there_in_rounds_with_samples_and_only_there(self):
        self.assertEqual(self.states(160, 0), [True, True])
        self.assertEqual(self.states(0, 0), [False, True])
        self.assertEqual(self.states(20, 0), [False, True])
        self.assertEqual(self.states(400, 0), [False, True])
        self.assertEqual(self.states(160, 1), [True, False])
        self.assertEqual(self.states(0, 0, busy_share=1.1), [False, True], "a GPU that is never idle shows nothing")

    PROGRAM = """
import ctypes, json, sys, time
cuda = ctypes.CDLL("libcuda.so.1")
context, module, kernel = (ctypes.c_void_p() for _ in range(3))
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0 and cuda.cuModuleLoadData(ctypes.byref(module), b"image") == 0
assert cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"vector_add") == 0
print("ready", flush=True)
for line in sys.stdin:
    begin = time.perf_counter_ns()
    for _ in range(int(line.split()[1])):
        assert cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None) == 0 and cuda.cuCtxSynchronize() == 0
        time.sleep(0.002)
    print(json.dumps({"wall_ns": time.perf_counter_ns() - begin}), flush=True)
"""

    def test_processes_on_the_simulated_gpu_are_switched(self):
        with tempfile.TemporaryDirectory() as folder:
            lab = Lab(types.SimpleNamespace(work=f"{folder}/work", out=f"{folder}/out", built="", sim=options.sim,
                                            bin="", budget=300, pytorch_seconds=0, python=""))
            lab.prof, lab.libprof = options.prof, options.libprof
            step, loops = Step("x"), switched_samples.Loops("80", "5")
            switched_samples.switched_samples(lab, step, "sim", [sys.executable, "-c", self.PROGRAM], loops, 1e9,
                                              processes=2, pairs=3, seconds=0)
            lab.journal.close()
            for held in lab.claims:
                held.close()
        expected = ["samples in rounds with samples: 99 a second while the GPU is idle",
                    "samples in rounds without samples",
                    "rounds with --host-samples starved / rounds without, in the same processes"]
        self.assertEqual([(check["what"], check["pass"]) for check in step.checks],
                         [(what, True) for what in expected], step.checks)
        self.assertEqual(step.figures[0]["value"], "2, 3")


class WhatProfSays(unittest.TestCase):
    def test_a_coverage_line_is_taken_apart(self):
        found = coverage_line.parse("==7== coverage: launches 12, with GPU time 8 (captured into a graph 3, pending 1); GPU operations 9, with launch 7, "
                                    "internal 1, call pending 1; lost records 0")
        self.assertEqual(found[:6], (12, 8, {"captured into a graph": 3, "pending": 1}, 9, 7, {"internal": 1, "call pending": 1}))

    def test_a_coverage_line_without_reasons(self):
        found = coverage_line.parse("coverage: launches 2, with GPU time 2; GPU operations 2, with launch 2; lost records 0")
        self.assertEqual(found[:6], (2, 2, {}, 2, 2, {}))

    def test_lines_of_python_are_found_in_folded_stacks(self):
        folded = ["/a/train.py(7):_<module>;/a/train.py(5):_step;[ctypes];gemm 30", "start_thread;[forward_of_aten::mm];<string>(3):_<module>;gemm 5",
                  "start_thread;at::native::mm(int);gemm 2"]
        self.assertEqual(steps_stacks.python_share(folded), (35, 37))


class Order(unittest.TestCase):
    OURS = [("make", 10), ("add", 20), ("mul", 30), ("add", 25), ("mul", 35), ("end", 5)]

    def states(self, theirs):
        step = Step("x")
        steps_profilers.same_kernels_in_order(step, self.OURS, theirs, "the other")
        return [check["pass"] for check in step.checks]

    def test_a_part_is_found_where_its_times_fit(self):
        self.assertEqual(self.states([("add", 25), ("mul", 36)]), [True, True])

    def test_a_kernel_that_is_missing_shows(self):
        self.assertFalse(all(self.states([("add", 20), ("add", 25)])))

    def test_a_wrong_time_shows(self):
        self.assertEqual(self.states([("add", 25), ("mul", 39)]), [True, False])

    def test_nothing_is_no_agreement(self):
        self.assertEqual(self.states([]), [False])


class Folders(unittest.TestCase):
    def test_two_runs_cannot_work_in_one_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            held = claim(folder)
            with self.assertRaises(SystemExit):
                claim(folder)
            held.close()
            claim(folder).close()


class Page(unittest.TestCase):
    def test_a_failing_step_is_shown_and_stops_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            lab = types.SimpleNamespace(out=folder, note=lambda text: None, left=lambda: 100)
            results = Results(lab, {"gpu": "none", "date": "today", "commit": "x"})

            def skip(lab, step):
                raise Skipped("no such thing here")
            results.run("breaks", lambda lab, step: 1 / 0)
            results.run("fails", lambda lab, step: step.check("a | b", False, 1, 2))
            results.run("skips", skip)
            results.run("passes", lambda lab, step: step.check("c", True))
            self.assertEqual([step.state for step in results.steps], ["ERROR", "FAIL", "skipped", "pass"])
            self.assertFalse(results.ok())
            with open(os.path.join(folder, "gpu-check.md"), encoding="utf-8") as file:
                page = file.read()
            self.assertIn("ZeroDivisionError", page)
            self.assertIn("| a | b | **FAIL** | 1 | 2 |".replace("a | b", "a \\| b"), page)
            self.assertIn("no such thing here", page)

    def test_pages_of_several_runs_become_one(self):
        with tempfile.TemporaryDirectory() as folder:
            def run(name, machine, **steps):
                out = os.path.join(folder, name)
                os.mkdir(out)
                lab = types.SimpleNamespace(out=out, note=lambda text: None, left=lambda: 100)
                results = Results(lab, {"gpu": "none", "date": name, "commit": machine})
                for step, ok in steps.items():
                    results.run(step, lambda lab, step, ok=ok: step.check("x", ok, os.path.join(ROOT, "a")))
                return out
            first, second, other = run("first", "x", one=True, two=False), run("second", "x", two=True), run("other", "y", one=True)
            join([first, second], os.path.join(folder, "joined"))
            with open(os.path.join(folder, "joined", "gpu-check.json"), encoding="utf-8") as file:
                steps = json.load(file)["steps"]
            self.assertEqual([(step["name"], step["state"], step["checks"][0]["found"]) for step in steps], [("one", "pass", "a"), ("two", "pass", "a")])
            with self.assertRaisesRegex(ValueError, "another commit"):
                join([first, other], os.path.join(folder, "joined"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("program", "libprof", "prof", "baseline", "sim"):
        parser.add_argument(f"--{name}", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
