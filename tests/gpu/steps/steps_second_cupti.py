"""The step with a profiler in the recorded program that has its own CUPTI: a second library, or one that is statically
linked."""
import glob
import json
import os
import shutil

from lab import PROGRAMS_FOLDER, Skipped
from log_checks import load

REFUSED = 39  # CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED


def build_profilers(lab, step, folder):
    """(opens a libcupti, the same again, has CUPTI inside); the last is "" if there is no libcupti_static.a."""
    includes = [f"-I{folder}" for folder in (f"{lab.cuda}/include", f"{lab.cuda}/extras/CUPTI/include") if os.path.isdir(folder)]
    static = next(iter(glob.glob(f"{lab.cuda}/**/libcupti_static.a", recursive=True)), "")
    inside = ["-DCUPTI_INSIDE", static, "-Wl,--exclude-libs,ALL", "-lpthread", "-lrt"]
    paths = []
    for name, options in (("opens", []), ("first", []), ("inside", inside if static else None)):
        if options is None:
            step.note("There is no libcupti_static.a here.")
            paths.append("")
            continue
        paths.append(os.path.join(folder, f"lib{name}.so"))
        built = lab.run(["g++", "-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", *includes, "-o", paths[-1],
                         os.path.join(PROGRAMS_FOLDER, "late_profiler.cpp"), *options, "-ldl"])
        step.check(f"lib{name}.so builds", built.status == 0, built.stderr.strip()[-300:] or "built")
    return paths


class Try:
    """One run of plugged_profiler."""

    def __init__(self, lab, step, name, arguments, recorded=True, **env):
        folder = lab.fresh("second_cupti", name.replace(" ", "_"))
        env.setdefault("PROF_CUPTI", "")
        answer = lab.run([lab.program("plugged_profiler"), *arguments], env=lab.recorded_env(folder, **env) if recorded else lab.env())
        self.step = step.named(name)
        self.step.check("the program ends well", answer.status == 0, answer.stderr.strip()[-200:] if answer.status else 0, 0)
        self.said, self.messages = json.loads(answer.stdout or "{}"), answer.stderr.strip()
        self.runs = load(lab, folder) if recorded else []

    def works(self):
        found = [self.said.get(key) for key in ("start", "stop", "kernels")]
        self.step.check("the profiler counts its 1,000 kernels", found == [0, 0, 1000], self.said, "start 0, stop 0, 1000")

    def is_refused(self, whose):
        self.step.check("the driver refuses its CUPTI", self.said.get("start") == REFUSED, self.said, REFUSED)
        self.says(f"another CUPTI in the program ({whose}")
        counted = self.runs[0].log.counters.get("second_cupti", 0)
        self.step.check("counted once", counted == 1, counted, 1)

    def says(self, text=""):
        """Checks for one line of libprof with `text`, or for no line at all."""
        right = self.messages.count("libprof: ") == 1 and text in self.messages if text else not self.messages
        self.step.check("lines of libprof", right, self.messages or "none", text or "none")

    def has(self, launches, operations):
        found = sum(len(run.launches) for run in self.runs), sum(len(run.operations) for run in self.runs)
        self.step.check("launches, GPU operations in the log", found == (launches, operations), found, (launches, operations))


def second_cupti(lab, step):
    """A profiler with another CUPTI is loaded before the first launch or after it: it works, or one line explains why
    it cannot and what helps."""
    if lab.sim:
        raise Skipped("needs a GPU")
    folder = lab.fresh("second_cupti", "libraries")
    copies = [os.path.join(lab.fresh("second_cupti", "libraries", name), "libcupti.so.13") for name in ("one", "other")]
    for copy in copies:
        shutil.copy(os.path.realpath(lab.cupti), copy)
    opens, first, inside = build_profilers(lab, step, folder)

    # The fact that the other checks depend on: the driver accepts one CUPTI in a process, whatever happens to it.
    alone = Try(lab, step, "no recorder, after a profiler that detached", ["late", opens, copies[1], first, copies[0]], recorded=False)
    found = alone.said.get("before"), alone.said.get("start")
    alone.step.check("the first counts, the second is refused", found == (1000, REFUSED), found, (1000, REFUSED))

    for kind, arguments, whose in (("a second library", [opens, copies[1]], copies[1]), ("linked statically", [inside, "-"], inside)):
        if not whose:
            continue
        late = Try(lab, step, f"{kind}, late", ["late", *arguments])
        late.is_refused(whose)
        late.has(3000, 3000)
        off = Try(lab, step, f"{kind}, late, GPU times off", ["late", *arguments], PROF_GPU="off")
        off.works()
        off.says()
        off.has(3000, 0)
    named = Try(lab, step, "a second library, late, named by PROF_CUPTI", ["late", opens, copies[1]], PROF_CUPTI=copies[1])
    early = Try(lab, step, "a library, early", ["early", opens, copies[1]])
    for shared, launches in ((named, 3000), (early, 2000)):
        shared.works()
        shared.says()
        shared.has(launches, launches)
    if inside:
        early = Try(lab, step, "linked statically, early", ["early", inside, "-"])
        early.works()
        early.says(inside)
        early.has(2000, 0)
