"""Names the frames of a log's stacks with nm, for `Expect: log 1: 3 stack(REGEX)`: the number of records whose stack,
written as "innermost < its caller < … < main", matches. An address is resolved with the files that were mapped in
the stack's generation; without a symbol it is NAME+?, without a file ?. Flags of the stack follow as "!8"."""
import bisect
import re
import subprocess


def symbols_of(path):
    """sorted (address, name)"""
    found = {}
    for options in (["-C"], ["-C", "-D"]):
        text = subprocess.run(["nm", "--defined-only", *options, path], capture_output=True, text=True).stdout
        for line in text.splitlines():
            match = re.match(r"([0-9a-f]+) [tTwWiu] (.*)", line)
            if match:
                name = re.sub(r"@.*|\(.*|\[.*", "", match[2].replace("(anonymous namespace)::", ""))
                found.setdefault(int(match[1], 16), name.rpartition("::")[2])
    return sorted(found.items())


class Stacks:
    def __init__(self, records, strings):
        self.gone = {f["id"]: int(f["generation"]) for k, f in records if k == "image_gone"}
        self.images = [f for k, f in records if k == "image"]
        self.strings, self.symbols = strings, {}
        self.texts = {f["id"]: self.text(f) for k, f in records if k == "stack"}

    def frame(self, address, generation):
        for image in self.images:
            alive = int(image["generation"]) <= generation < self.gone.get(image["id"], 1 << 64)
            if alive and int(image["begin"]) <= address - 1 < int(image["end"]):
                path = self.strings[image["path"]]["text"]
                if path not in self.symbols:
                    self.symbols[path] = symbols_of(path)
                table = self.symbols[path]
                at = bisect.bisect_right(table, (address - 1 - int(image["base"]), "\x7f")) - 1
                return table[at][1] if at >= 0 else path.rsplit("/", 1)[-1] + "+?"
        return "?"

    def text(self, stack):
        frames = [self.frame(int(a), int(stack["generation"])) for a in stack["native"].strip("[]").split()]
        return " < ".join(frames) + (f" !{stack['flags']}" if "flags" in stack else "")

    def count(self, records, regex):
        return sum(1 for _, f in records if "stack" in f and re.search(regex, self.texts.get(f["stack"], "")))
