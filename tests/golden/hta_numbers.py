#!/usr/bin/env python3
"""Do the reports with `--definitions hta` give the numbers of Holistic Trace Analysis (HTA) itself on the same traces?

Needs `scripts/setup --readers`, or HTA for this Python. Exit status 77: it is not installed. Times may differ by
the rounding of HTA, which adds binary fractions of microseconds."""
import argparse
import json
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("PROF_SHARED_DATA", SOURCE / "../shared/data"))
OWN = SOURCE / "tests/golden/report_definitions"
TRACES = [OWN / "graph.json", OWN / "steps.json",
          *(DATA / name for name in ("h200/gpt2.trace.json.gz", "h200/resnet18.trace.json.gz",
                                     "h100/Falconsai_nsfw_image_detection__1016002.json.gz",
                                     "hta/critical_path_cuda_event_sync__event_sync_trace.json.gz",
                                     "hta/amd_trace__mi250_minitoy_train_ROCm6_2_kineto.json.gz",
                                     "hta/nccl_parser_config__nccl_data.json.gz",
                                     "hta/timeline_analysis__sampled_rank-0.json.gz"))]
ROUNDING_NS = 10
# HTA 0.5 does not know cuLaunchKernelEx, with which cuBLAS launches here.
KNOWN_QUEUE_DIFFERENCES = {"gpt2.trace.json.gz"}


def reexecute_with_hta():
    """Runs this script again with a Python that has HTA, if this one has not."""
    if subprocess.run([sys.executable, "-c", "import hta.trace_analysis"], capture_output=True).returncode == 0:
        return
    other = SOURCE / "build/hta/bin/python3"
    if not other.exists() or "PROF_HTA_TRIED" in os.environ:
        print("Holistic Trace Analysis is not installed")
        sys.exit(77)
    os.environ["PROF_HTA_TRIED"] = "1"
    os.execv(other, [str(other), *sys.argv])


def ns(microseconds):
    return 0 if microseconds != microseconds else round(float(microseconds) * 1000)


class Prof:
    def __init__(self, command, trace):
        self.command, self.trace = command, trace

    def rows(self, report):
        arguments = [self.command, "report", report, "--definitions", "hta", "--format", "json", str(self.trace)]
        return json.loads(subprocess.run(arguments, capture_output=True, text=True).stdout)["rows"]

    def breakdown(self):
        return {row["what"]: row["time_ns"] for row in self.rows("breakdown")}

    def idle(self):
        return {(row["stream"], row["category"]): row["time_ns"] for row in self.rows("idle")}

    def queue(self):
        keys = ("count", "depth_mean", "depth_std", "depth_min", "depth_p25", "depth_p50", "depth_p75", "depth_max")
        return {(int(row["streams"]), key): row[key] for row in self.rows("queue-depth") if row["streams"] != "all" for key in keys}

    def launches(self):
        rows = self.rows("launch-stats")
        keys = ("operations", "api_time_ns", "gpu_time_ns", "delay_ns", "short", "runtime_outliers", "delay_outliers")
        return {key: sum(row[key] for row in rows) for key in keys}


class Hta:
    def __init__(self, trace):
        from hta.trace_analysis import TraceAnalysis
        self.analysis = TraceAnalysis(trace_files={0: str(trace)}, trace_dir="/", include_last_profiler_step=True)

    def breakdown(self):
        row = self.analysis.get_temporal_breakdown(visualize=False).iloc[0]
        return {what: ns(row[f"{what}(us)"]) for what in ("idle_time", "compute_time", "non_compute_time", "kernel_time")}

    def idle(self):
        table = self.analysis.get_idle_time_breakdown(visualize=False)[0]
        return {(int(row.stream), row.idle_category): ns(row.idle_time) for row in table.itertuples() if ns(row.idle_time) != 0}

    def queue(self):
        table = self.analysis.get_queue_length_summary()
        if table is None:
            return {}
        names = {"count": "count", "mean": "depth_mean", "std": "depth_std", "min": "depth_min", "25%": "depth_p25",
                 "50%": "depth_p50", "75%": "depth_p75", "max": "depth_max"}
        return {(int(index[1]), names[column[-1]]): value for index, row in table.iterrows() for column, value in row.items()}

    def launches(self):
        table = self.analysis.get_cuda_kernel_launch_stats(visualize=False)[0]
        return {"operations": len(table), "api_time_ns": ns(table.cpu_duration.sum()),
                "gpu_time_ns": ns(table.gpu_duration.sum()), "delay_ns": ns(table.launch_delay.sum()),
                "short": int((table.gpu_duration < table.cpu_duration).sum()),
                "runtime_outliers": int((table.cpu_duration > 50).sum()),
                "delay_outliers": int((table.launch_delay > 100).sum())}


def differences(ours, theirs, tolerance):
    """Keys that only one has count as 0 there: prof has no row for a category without gaps."""
    return [f"{key}: prof {ours.get(key, 0)}, HTA {theirs.get(key, 0)}" for key in sorted(set(ours) | set(theirs), key=str)
            if abs((ours.get(key) or 0) - (theirs.get(key) or 0)) > tolerance]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prof", required=True)
    options = parser.parse_args()
    reexecute_with_hta()
    os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
    import logging
    import warnings
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore")
    failures = 0
    for trace in TRACES:
        if not trace.exists():
            print(f"{trace.name}: not there")
            continue
        prof, hta = Prof(options.prof, trace), Hta(trace)
        breakdown = prof.breakdown()
        breakdown.pop("comm_comp_overlap", None)
        found = differences(breakdown, hta.breakdown(), ROUNDING_NS)
        found += differences(prof.idle(), hta.idle(), ROUNDING_NS)
        found += differences(prof.launches(), hta.launches(), ROUNDING_NS)
        if trace.name not in KNOWN_QUEUE_DIFFERENCES:
            found += differences(prof.queue(), hta.queue(), 1e-6)
        print(f"{trace.name}: {'differs: ' + '; '.join(found) if found else 'equal'}")
        failures += bool(found)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
