"""The results of a run of gpu_check: figures and checks per step, as JSON and as one page of Markdown."""
import json
import os
import time
import traceback

from lab import ROOT, Skipped


class Step:
    def __init__(self, name):
        self.name, self.checks, self.figures, self.tables, self.notes = name, [], [], [], []
        self.skipped, self.error, self.seconds = "", "", 0.0

    def check(self, what, ok, found="", limit=""):
        self.checks.append({"what": what, "pass": bool(ok), "found": str(found), "limit": str(limit)})
        return ok

    def figure(self, what, value, unit=""):
        self.figures.append({"what": what, "value": value, "unit": unit})

    def table(self, title, header, rows):
        self.tables.append({"title": title, "header": list(header), "rows": [[str(cell) for cell in row] for row in rows]})

    def note(self, text):
        self.notes.append(text)

    def named(self, name):
        return Part(self, name)

    @classmethod
    def of_json(cls, data):
        step = cls(data["name"])
        for key in ("checks", "figures", "tables", "notes", "skipped", "error", "seconds"):
            setattr(step, key, data[key])
        return step

    @property
    def state(self):
        if self.error:
            return "ERROR"
        if self.skipped:
            return "skipped"
        return "pass" if all(check["pass"] for check in self.checks) else "FAIL"

    def as_json(self):
        return {"name": self.name, "state": self.state, "seconds": round(self.seconds, 1), "checks": self.checks,
                "figures": self.figures, "tables": self.tables, "notes": self.notes, "skipped": self.skipped,
                "error": self.error}


class Part:
    """One of several items that a step checks in the same way: its results start with its name."""

    def __init__(self, step, name):
        self.step, self.name = step, name

    def check(self, what, ok, found="", limit=""):
        return self.step.check(f"{self.name}: {what}", ok, found, limit)

    def figure(self, what, value, unit=""):
        self.step.figure(f"{self.name}: {what}", value, unit)

    def table(self, title, header, rows):
        self.step.table(f"{self.name}: {title}", header, rows)

    def note(self, text):
        self.step.note(f"{self.name}: {text}")


class Results:
    def __init__(self, lab, machine, out=None):
        self.lab, self.machine, self.steps = lab, machine, []
        self.out = out or lab.out

    def run(self, name, function):
        """Runs one step. Whatever happens in it, the next ones run, and earlier results are on disk."""
        step = Step(name)
        self.steps.append(step)
        begin = time.monotonic()
        self.lab.note(f"==== {name}")
        if self.lab.left() < 10:
            step.skipped = "no time left (--budget)"
        else:
            try:
                function(self.lab, step)
            except Skipped as reason:
                step.skipped = str(reason)
            except Exception as error:  # a failing step must not stop the others
                step.error = f"{type(error).__name__}: {error}"
                self.lab.note(traceback.format_exc())
        step.seconds = time.monotonic() - begin
        failed = [check["what"] for check in step.checks if not check["pass"]]
        detail = step.error or step.skipped or ", ".join(failed)
        print(f"{name:<16} {step.state:<8} {step.seconds:6.1f} s  {detail}", flush=True)
        self.write()

    def ok(self):
        return all(step.state in ("pass", "skipped") for step in self.steps) and any(s.checks for s in self.steps)

    def write(self):
        data = {"machine": self.machine, "steps": [step.as_json() for step in self.steps]}
        with open(os.path.join(self.out, "gpu-check.json"), "w", encoding="utf-8") as file:
            file.write(without_root(json.dumps(data, indent=1)) + "\n")
        with open(os.path.join(self.out, "gpu-check.md"), "w", encoding="utf-8") as file:
            file.write(without_root(self.page()))

    def page(self):
        m = self.machine
        lines = [f"# Measured on {m['gpu'] or 'a machine without a GPU'}", "",
                 f"Written by `scripts/gpu-check` on {m['date']}, commit {m['commit'] or 'not known'}; nothing is typed in.",
                 "", "| machine | |", "|---|---|"]
        lines += [f"| {key.replace('_', ' ')} | {value} |" for key, value in m.items() if value not in ("", None)]
        lines += ["", "| step | result | seconds |", "|---|---|---|"]
        lines += [f"| {s.name} | {s.state}{': ' + (s.skipped or s.error) if s.skipped or s.error else ''} | {s.seconds:.0f} |"
                  for s in self.steps]
        for s in self.steps:
            lines += ["", f"## {s.name}"]
            if s.skipped or s.error:
                lines += ["", s.skipped or s.error]
            if s.checks:
                lines += ["", "| check | result | found | limit |", "|---|---|---|---|"]
                lines += [f"| {cell(c['what'])} | {'pass' if c['pass'] else '**FAIL**'} | {cell(c['found'])} | {cell(c['limit'])} |"
                          for c in s.checks]
            if s.figures:
                lines += ["", "| figure | value |", "|---|---|"]
                lines += [f"| {f['what']} | {number(f['value'])} {f['unit']} |" for f in s.figures]
            for table in s.tables:
                lines += ["", table["title"], "", "| " + " | ".join(table["header"]) + " |",
                          "|" + "---|" * len(table["header"])]
                lines += ["| " + " | ".join(cell(c) for c in row) + " |" for row in table["rows"]]
            for text in s.notes:
                lines += ["", text]
        return "\n".join(lines) + "\n"


def join(folders, out):
    """Joins the results of parallel runs into one page; if a step is in several folders, the last one counts. Machine
    and commit must be the same."""
    results, steps = None, {}
    for folder in folders:
        with open(os.path.join(folder, "gpu-check.json"), encoding="utf-8") as file:
            data = json.load(file)
        results = results or Results(None, data["machine"], out)
        different = [key for key in data["machine"] if key != "date" and data["machine"][key] != results.machine[key]]
        if different:
            raise ValueError(f"{folder}: another {', '.join(different)} than {folders[0]}")
        steps.update({step["name"]: Step.of_json(step) for step in data["steps"]})
    os.makedirs(out, exist_ok=True)
    results.steps = list(steps.values())
    results.write()


def without_root(text):
    """Shortens paths of the sources and below them, wherever the sources are."""
    return text.replace(ROOT + os.sep, "")


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def number(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return cell(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
