#!/usr/bin/env python3
"""Does prof doctor find faults? Runs it on a correct simulated GPU, and with one fault at a time. Each line that is not
"ok" must contain what to do. Usage: doctor.py --prof PROF --sim FOLDER --programs FOLDER"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

from environments import simulated_gpu

parser = argparse.ArgumentParser()
for name in ("prof", "sim", "programs"):
    parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
options = parser.parse_args()
problems = []


def doctor(status, wanted, *arguments, limit=None, **variables):
    """wanted: the only findings that are not ok, as (topic, verdict, part of the text); limit: called in the process
    before it starts prof"""
    environment = simulated_gpu(options.sim)
    environment |= {name: str(value) for name, value in variables.items()}
    environment = {name: value for name, value in environment.items() if value != "None"}
    done = subprocess.run([options.prof, "doctor", "--format", "json", *arguments], capture_output=True, text=True, env=environment, cwd=folder, timeout=240,
                          preexec_fn=limit)
    what = f"{' '.join(map(str, arguments))} {variables}"
    try:
        findings = json.loads(done.stdout)
    except ValueError:
        problems.append(f"{what}: no JSON: {done.stdout}{done.stderr}")
        return
    bad = [finding for finding in findings if finding["verdict"] != "ok"]
    met = len(bad) == len(wanted) and all(finding["topic"] == topic and finding["verdict"] == verdict and text in finding["finding"]
                                          for finding, (topic, verdict, text) in zip(bad, wanted))
    if not met or done.returncode != status:
        problems.append(f"{what}: status {done.returncode}, expected {status}; expected {wanted}, found {json.dumps(bad, indent=1)}")
    problems.extend(f"{what}: no remedy: {finding}" for finding in bad if not finding["remedy"])
    print(f"status {done.returncode}, {len(findings)} findings, {len(bad)} not ok:{what}")
    return findings


with tempfile.TemporaryDirectory(prefix="prof-doctor-test-") as folder:
    doctor(0, [], "--no-self-test", "--", "true")
    findings = doctor(0, [], "--", options.programs / "launches") or []
    topics = [finding["topic"] for finding in findings]
    if topics != ["recorder", "glibc", "clock", "fork", "libunwind", "output", "space", "permissions", "host samples", "other tools", "variables", "program",
                  "driver", "GPU times", "self-test", "counters", "sampling"]:
        problems.append(f"topics are {topics}")
    if not any("100 with GPU time" in finding["finding"] for finding in findings):
        problems.append(f"the self-test says {findings[-2:]}")

    for topic, wanted in (("counters", "hardware counters can be measured (memory)"), ("sampling", "hardware counters can be sampled (overview)")):
        said = [finding["finding"] for finding in findings if finding["topic"] == topic]
        if said != [wanted]:
            problems.append(f"of {topic} it says {said}")
    doctor(0, [], SIM="fault cuptiProfilerGetCounterAvailability * 35")
    doctor(0, [], PROF_COUNTERS="roofline")
    doctor(1, [("counters", "less", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: run as root")], SIM="fault cuptiProfilerGetCounterAvailability * 35", PROF_COUNTERS="memory")
    doctor(1, [("counters", "less", "nonsense is not a metric of this chip")], PROF_COUNTERS="nonsense")
    findings = doctor(0, [], SIM="fault cuptiPmSamplingEnable * 35") or []
    if not any(finding["topic"] == "sampling" and "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" in finding["finding"] for finding in findings):
        problems.append("it does not say that there can be no samples")
    doctor(0, [], PROF_SAMPLING="memory")
    doctor(2, [("self-test", "no", "no log was made")], PROF_LIBRARY="/etc/hostname")
    doctor(1, [("sampling", "less", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: run as root")], SIM="fault cuptiPmSamplingEnable * 35", PROF_SAMPLING="overview")
    doctor(1, [("sampling", "less", "no_such_metric is not a metric of this chip")], PROF_SAMPLING="no_such_metric")

    doctor(2, [("driver", "no", "libcuda.so.1 was not found")], LD_LIBRARY_PATH=folder)
    doctor(2, [("driver", "no", "cuInit: CUDA_ERROR_NO_DEVICE")], SIM="fault cuInit * 100")
    doctor(1, [("GPU times", "less", "cuptiActivityEnable")], SIM="cupti enable_fails 15")
    doctor(1, [("GPU times", "less", "nothing.so")], PROF_CUPTI=f"{folder}/nothing.so")
    doctor(1, [("GPU times", "less", "PROF_GPU")], PROF_GPU="off")
    doctor(1, [("GPU times", "less", "have one"), ("self-test", "less", "with GPU time")], SIM="cupti drop 3")
    doctor(2, [("recorder", "no", "nothing.so")], PROF_LIBRARY=f"{folder}/nothing.so")
    doctor(2, [("output", "no", "is not a folder")], "--no-self-test", PROF_OUTPUT="/etc/passwd/logs")
    doctor(1, [("space", "less", "ulimit -f ends the log at 1.0 MiB")], "--no-self-test",
           limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
    spaced = pathlib.Path(folder) / "with space"
    spaced.mkdir()
    (spaced / "libprof.so").touch()
    doctor(2, [("recorder", "no", "cannot hold a space")], "--no-self-test", PROF_LIBRARY=spaced / "libprof.so")
    doctor(1, [("variables", "less", "PROF_OUTPT")], "--no-self-test", PROF_OUTPT="x")
    doctor(1, [("variables", "less", "PROF_GPU: unknown word maybe")], "--no-self-test", PROF_GPU="maybe")
    doctor(1, [("other tools", "less", "CUDA_INJECTION64_PATH")], "--no-self-test", CUDA_INJECTION64_PATH="/opt/tool.so")
    doctor(2, [("program", "no", "no such program")], "--no-self-test", "--", "there_is_no_such_program")
    copy = pathlib.Path(folder) / "privileged"
    shutil.copy(options.programs / "privileged", copy)
    copy.chmod(0o4755)
    doctor(2, [("program", "no", "set-user-ID")], "--no-self-test", "--", copy)

    # Each kind of program that cannot be recorded, and a script of it.
    source = pathlib.Path(folder) / "program.c"
    source.write_text("int main(void) { return 0; }\n")
    kinds = (("static", ["gcc", "-static"], "statically linked"), ("word", ["gcc", "-m32"], "32-bit program"), ("musl", ["musl-gcc"], "program of musl"))
    for name, compiler, reason in kinds:
        program, script = pathlib.Path(folder) / name, pathlib.Path(folder) / f"{name}.script"
        if shutil.which(compiler[0]) is None or subprocess.run([*compiler, source, "-o", program], capture_output=True).returncode:
            print(f"{name}: cannot be built here")
            continue
        script.write_text(f"#! {program} argument\n")
        script.chmod(0o755)
        for command in (program, script):
            doctor(2, [("program", "no", reason)], "--no-self-test", "--", command)
            said = subprocess.run([options.prof, "record", "-o", folder, "--", command], capture_output=True, text=True)
            if said.returncode or said.stderr.count(reason) != 1:
                problems.append(f"prof record of {command.name}: status {said.returncode}, {said.stderr}")
    granted = pathlib.Path(folder) / "granted"
    shutil.copy(options.programs / "privileged", granted)
    if shutil.which("setcap") and subprocess.run(["setcap", "cap_net_raw+ep", granted], capture_output=True).returncode == 0:
        doctor(2, [("program", "no", "has capabilities")], "--no-self-test", "--", granted)
    script = pathlib.Path(folder) / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    said = doctor(0, [], "--no-self-test", "--", script) or []
    if not any("is no binary" in finding["finding"] for finding in said):
        problems.append("a script is not recognised")

print("\n".join(problems))
sys.exit(1 if problems else 0)
