"""The step with a profiler in the recorded program that uses CUPTI's subscriber-scoped activity API (13.2 and newer),
from NVIDIA's wheel (gpu-check --pack DIR --wheels FOLDER)."""
import difflib
import os
import re

from lab import PROGRAMS_FOLDER, Skipped
from log_checks import load
from steps_toolkits import libraries

KERNELS = 100
SINCE = [13, 2]
SESSION = ["subscribe_v2", "start_v2", "work", "say", "stop_v2", "say", "unsubscribe"]
USER_SESSION = ["subscribe_v2", "user", "register_v2", "fields_v2", "work", "say", "stop_v2", "no_user", "unsubscribe"]
GLOBAL_SESSION = ["start", "work", "say", "stop", "say"]
TWO = ["subscribe_several", "use_second", "subscribe_several"]
SAY_BOTH = ["use_first", "say", "use_second", "say"]
OTHER_KINDS = (1, 2, 4, 5, 9, 10, 11, 12, 17, 22, 36, 37, 38, 39, 49, 50, 51, 52, 53)
# (name, steps of scoped_profiler.h). The program must print the same with and without the recorder.
CASES = [
    ("the profiler is there before the first launch", [*SESSION, "work"]),
    ("the profiler comes later", ["subscribe_v2", "start_v2", "work", "stop_v2", "unsubscribe", "work", *SESSION, "work"]),
    ("three sessions", 3 * [*SESSION, "work"]),
    ("three sessions with user-defined records", 3 * [*USER_SESSION, "work"]),
    ("user-defined records in turn with whole ones", [*USER_SESSION, *SESSION, *USER_SESSION]),
    ("fields that change", ["subscribe_v2", "user", "register_v2", "fields_v2", "work", "say", "stop_v2", "fewer_fields_v2", "work", "say", "stop_v2"]),
    ("every field", ["subscribe_v2", "user", "register_v2", "all_fields_v2", "work", "say"]),
    ("a field that CUPTI does not know", ["subscribe_v2", "user", "register_v2", "unknown_fields_v2", "work", "say"]),
    ("every field of the other kinds", ["subscribe_v2", "user", "register_v2", "other_fields_v2", "work", "say"]),
    ("strange fields", ["subscribe_v2", "user", "register_v2", "strange_fields_v2", "work", "say"]),
    ("each kind", ["subscribe_v2", "register_v2", "all_kinds_v2"]),
    ("each kind with one field", ["subscribe_v2", "user", "register_v2", "all_kinds_user_v2"]),
    ("each kind of the global API", ["register", "all_kinds"]),
    ("kinds that exclude others", ["subscribe_v2", "user", "register_v2", "field_54", "field_53", "field_54", "off_53", "field_51", "field_54", "off_51", "field_54"]),
    ("a kind after each other kind", ["subscribe_v2", "user", "register_v2", *(step for kind in OTHER_KINDS for step in (f"field_{kind}", "field_54", "off_54", f"off_{kind}"))]),
    ("more and more fields", ["subscribe_v2", "user", "register_v2", "fields_54", "fields_53", "fields_51", "fields_1"]),
    ("fields that CUPTI refuses", ["subscribe_v2", "user", "register_v2", "wrong_fields_v2"]),
    ("user-defined records after kinds are enabled", ["subscribe_v2", "start_v2", "user", "context", "work", "say"]),
    ("user-defined records after records", ["subscribe_v2", "start_v2", "given", "context", "given", "work", "say", "user", "work", "say", "no_user", "work", "say"]),
    ("a context before its kinds", ["context", "subscribe_v2", "start_v2", "given", "user", "work", "say"]),
    ("callbacks of the global API, then the other", ["register", "subscribe_v2", "register_v2", "enable_v2"]),
    ("a clock and a kind of the global API, then the other", ["clock", "global_4", "subscribe_v2", "register_v2", "enable_v2"]),
    ("a disabled kind of the global API, then the other", ["enable", "stop", "subscribe_v2", "register_v2", "enable_v2"]),
    ("the global API, then the other", [*GLOBAL_SESSION, *SESSION]),
    ("the global API, finalized, then the other", [*GLOBAL_SESSION, "finalize", *SESSION]),
    ("the other, then the global API", [*SESSION, *GLOBAL_SESSION]),
    ("the other, then the global API before unsubscribing", ["subscribe_v2", "start_v2", "work", "say", "stop_v2", *GLOBAL_SESSION]),
    ("in turn, finalized each time", 2 * [*SESSION, *GLOBAL_SESSION, "finalize"]),
    ("calls of the global API while a subscriber collects", ["subscribe_v2", "start_v2", "context", "time", "push", "pop", "dropped", "register", "clock", "enable", "stop"]),
    ("calls of the global API while a subscriber has user-defined records", ["subscribe_v2", "user", "register_v2", "fields_v2", "context", "time", "push", "pop", "dropped", "enable"]),
    ("a clock of the global API, then the other", ["clock", "subscribe_v2", "register_v2", "enable_v2"]),
    ("a kind of the global API, then the other", ["enable", "subscribe_v2", "register_v2", "enable_v2"]),
    ("a new subscriber and the global API", ["subscribe_v2", *GLOBAL_SESSION, "unsubscribe"]),
    ("an old subscriber and the other API", ["subscribe", "start_v2", "work", "say", "stop_v2", "unsubscribe"]),
    ("several subscribers", ["subscribe_v2", "second", "second_several", "unsubscribe", "subscribe_several", "second_several", "unsubscribe"]),
    ("two subscribers", [*TWO, "use_first", "start_v2", "use_second", "start_v2", "work", *SAY_BOTH, "stop_v2", "use_first", "work", *SAY_BOTH, "use_first", "stop_v2", "unsubscribe", "use_second", "unsubscribe"]),
    ("two subscribers, the first leaves", [*TWO, "use_first", "start_v2", "use_second", "start_v2", "work", *SAY_BOTH, "use_first", "unsubscribe", "work", *SAY_BOTH, "stop_v2", "unsubscribe"]),
    ("two subscribers with fields and settings of their own", [*TWO, "use_first", "clock_v2", "user", "register_v2", "fields_v2", "use_second", "system_v2", "register_v2", "only_launches_v2", "kind_10", "work", *SAY_BOTH, "time_v2", "use_first", "time_v2"]),
    ("two subscribers: kinds, external ids, dropped records", [*TWO, "use_first", "start_v2", "external_v2", "push_v2", "use_second", "register_v2", "kind_10", "external_v2", "kinds_v2", "work", "pop_v2", "dropped_v2", *SAY_BOTH, "use_first", "pop_v2", "pop_v2", "kinds_v2"]),
    ("attributes of two subscribers", [*TWO, "use_first", "attributes_v2", "register_v2", "attributes_v2", "use_second", "attributes_v2"]),
    ("callbacks of two subscribers", [*TWO, "use_first", "callbacks", "work", *SAY_BOTH, "callbacks", "work", *SAY_BOTH, "unsubscribe", "work", *SAY_BOTH, "use_first", "unsubscribe"]),
    ("several subscribers and the global API", ["subscribe_several", "register", "clock", "enable", "time", "push", "dropped", "stop", "register_v2", "enable_v2"]),
    ("the global API, then several subscribers", [*GLOBAL_SESSION, *TWO, "register_v2", "enable_v2"]),
    ("one and several", ["subscribe_several", "second", "unsubscribe", "subscribe_v2", "second_several", "unsubscribe", "subscribe", "second_several"]),
    ("many subscribers", ["many_several"]),
    ("attributes", ["subscribe_v2", "attributes_v2", "register_v2", "attributes_v2"]),
    ("its clock and thread ids", ["subscribe_v2", "clock_v2", "system_v2", "time_v2", "start_v2", "work", "say", "time_v2", "stop_v2"]),
    ("its clock and thread ids in user-defined records", ["subscribe_v2", "clock_v2", "system_v2", "user", "register_v2", "fields_v2", "work", "say", "stop_v2"]),
    ("one driver call", ["subscribe_v2", "register_v2", "call_v2", "work", "say", "no_call_v2", "work", "say"]),
    ("only launches of the driver calls", ["subscribe_v2", "register_v2", "only_launches_v2", "work", "say", "stop_v2"]),
    ("all driver calls but launches", ["subscribe_v2", "register_v2", "not_launches_v2", "work", "say", "stop_v2"]),
    ("external correlation", ["subscribe_v2", "start_v2", "external_v2", "push_v2", "work", "pop_v2", "pop_v2", "say", "stop_v2"]),
    ("kinds, dropped records, dump", ["subscribe_v2", "register_v2", "dump_v2", "kinds_v2", "dropped_v2", "work", "say", "stop_v2", "kinds_v2"]),
    ("wrong calls", ["nobody_v2", "subscribe_v2", "nobody_v2"]),
    ("unsubscribed without a flush", ["subscribe_v2", "start_v2", "work_alone", "unsubscribe", "say", "work"]),
    ("before a recording that starts later", [*SESSION, "work", "profiler", "work", *SESSION]),
    ("disabled without a flush", ["subscribe_v2", "start_v2", "work_alone", "disable_v2", "work", "say"]),
]


def comparable(text, steps):
    """After cuptiFinalize, CUPTI alone has no driver calls of a context that exists; beside the recorder it has them."""
    if "finalize" not in steps:
        return text.splitlines()
    kept = [line for line in text.splitlines() if not re.match(r"driver call |joined |record bytes of kind 4:|places of kind 4:", line)]
    return [re.sub(r" launches .*", "", line) for line in kept]


def newest_cupti(lab):
    for version, library in reversed(libraries(lab, "libcupti.so.*")):
        if [int(part) for part in version.split(".")] >= SINCE:
            return version, library
    raise Skipped("no CUPTI 13.2 or newer (--pack with --wheels)")


def build_program(lab, step):
    program = lab.path("bin", "scoped_profiler")
    os.makedirs(os.path.dirname(program), exist_ok=True)
    includes = [f"-I{folder}" for folder in (f"{lab.cuda}/include", f"{lab.cuda}/extras/CUPTI/include") if os.path.isdir(folder)]
    for driver in ([f"-L{lab.cuda}/lib64/stubs", "-lcuda"], ["-Xlinker", "-l:libcuda.so.1"]):
        built = lab.run([lab.nvcc, "-std=c++17", "-O2", "-cudart", "static", *lab.gencode(), *includes, "-o", program,
                         os.path.join(PROGRAMS_FOLDER, "scoped_profiler.cu"), *driver, "-lpthread", "-ldl"])
        if built.status == 0:
            break
    step.check("scoped_profiler builds", built.status == 0, built.stderr.strip()[-600:] or "built")
    return program if built.status == 0 else ""


def cupti_v2(lab, step):
    """A profiler with the subscriber-scoped API: it prints the same as without the recorder, and the log has every
    launch and GPU operation, whichever comes first, alternating, with and without user-defined records."""
    if lab.sim:
        raise Skipped("needs a GPU")
    version, library = newest_cupti(lab)
    program = build_program(lab, step)
    if not program:
        return
    step.figure("CUPTI", f"{version}, {os.path.basename(os.path.realpath(library))}")
    kept = os.path.join(lab.out, "cupti_v2")
    os.makedirs(kept, exist_ok=True)
    rows = []
    for number, (name, steps) in enumerate(CASES):
        of_this = step.named(name)
        command = [program, str(KERNELS), *steps]
        alone = lab.run(command, env=lab.env(TOOL_CUPTI=library), timeout=30)
        folder = lab.fresh("cupti_v2", str(number))
        later = "profiler" in steps
        more = {"PROF_START": "profiler"} if later else {}
        recorded = lab.run(command, env=lab.recorded_env(folder, TOOL_CUPTI=library, PROF_CUPTI=library, **more), timeout=30)
        for what, run in (("alone", alone), ("recorded", recorded)):
            with open(os.path.join(kept, f"{number:02}_{what}.txt"), "w", encoding="utf-8") as file:
                file.write(f"# {name}: {' '.join(steps)}\n# status {run.status}\n{run.stdout}\n# stderr\n{run.stderr}")
        differences = [line for line in difflib.unified_diff(comparable(alone.stdout, steps), comparable(recorded.stdout, steps), "alone", "recorded", lineterm="", n=2)]
        of_this.check("it ends the same", alone.status == recorded.status, f"{alone.status}, {recorded.status}", "the same")
        if "without a flush" in name:  # the recorder flushes, too: the profiler may have its records earlier
            differences = []
        if any("several" in one for one in steps):  # CUPTI has one subscriber beside the recorder (docs/promises.md)
            refused = [line for line in recorded.stderr.splitlines() if line.startswith("libprof: ")]
            of_this.check("one line names the refusal", len(refused) == 1 and "PROF_GPU=off" in refused[0], recorded.stderr.strip()[:300] or "none", "one line")
            continue
        of_this.check("it prints the same", not differences, "\n".join(differences)[:1500] or "the same")
        recorded_steps = steps[steps.index("profiler"):] if later else steps
        works = sum(1 for one in recorded_steps if one in ("work", "work_alone"))
        if not works or alone.status != 0:
            continue
        runs = load(lab, folder)
        launched = sum(1 for run in runs for launch in run.launches if launch.kind == "kernel_launch")
        found = launched, sum(len(run.operations) for run in runs)
        wanted = (KERNELS * works, (KERNELS + 2) * works)
        of_this.check("kernel launches, GPU operations in the log", found == wanted, found, wanted)
        unlinked = sum(run.coverage()["operations_without_launch"] for run in runs)
        of_this.check("operations without their launch", unlinked == 0, unlinked, 0)
        of_this.check("lines of libprof", "libprof: " not in recorded.stderr, recorded.stderr.strip()[:300] or "none", "none")
        rows.append((name, found[0], found[1], runs[0].meta.get("gpu_times") if runs else "no log"))
    step.table("The log beside a profiler with the subscriber-scoped API", ["profiler", "launches", "GPU operations", "GPU times"], rows)
    step.note(f"What the program printed, alone and recorded, is in the folder {os.path.basename(kept)} of the results.")
