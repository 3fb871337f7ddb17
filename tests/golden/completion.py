#!/usr/bin/env python3
"""Completion of command lines: completion.py bash|zsh|fish --prof PROF --scripts FOLDER

In bash, the script completes lines as a user types them. Every shell that is installed must accept its script. Each
script must have every verb, and every long option that `prof VERB --help` prints."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

FILES = {"bash": "prof", "zsh": "_prof", "fish": "prof.fish"}
# line, words that must be among the answers, words that must not
LINES = [
    ("prof su", ["summary"], ["report"]),
    ("prof help su", ["summary"], []),
    ("prof report ker", ["kernels"], ["summary"]),
    ("prof report kernels --lim", ["--limit"], ["--format"]),
    ("prof report kernels --unit ", ["ns", "us", "ms", "s", "auto"], ["3"]),
    ("prof report kernels --group-by sh", ["shape"], ["device"]),
    ("prof report kernels --format=m", ["md"], ["csv"]),
    ("prof trace --arrows ", ["all", "path", "none"], []),
    ("prof trace ap", ["app.plog"], []),
    ("prof record --gpu ", ["on", "off"], ["PERCENT"]),
    ("prof record --budget o", ["off"], []),
    ("prof record --stac", ["--stacks", "--stack-depth"], []),
    ("prof record --gpu off -- ap", ["app.plog"], []),
    ("prof ctl 12 st", ["start", "stop", "status"], ["dump"]),
    ("prof check --format ", ["text", "json"], []),
]
COMPLETE = r"""
source "$1"; line=$2
words=${line//=/ = }; read -r -a COMP_WORDS <<< "$words"; [[ $line != *' ' ]] || COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE=$line; COMP_POINT=${#line}
_prof; printf '%s\n' "${COMPREPLY[@]}"
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shell", choices=sorted(FILES))
    parser.add_argument("--prof", required=True)
    parser.add_argument("--scripts", required=True)
    args = parser.parse_args()
    path = os.path.join(os.path.abspath(args.scripts), FILES[args.shell])
    script = open(path, encoding="utf-8").read()
    problems = []
    text_of = lambda *words: subprocess.run([args.prof, *words], capture_output=True, text=True, check=True).stdout
    verbs = re.findall(r"^  ([a-z]+)  +\w", text_of("help"), re.M)
    if len(verbs) < 12:
        problems.append(f"only {verbs} in prof help")
    for verb in verbs:
        if not re.search(rf"\b{verb}\b", script):
            problems.append(f"verb {verb}")
        for option in re.findall(r"^  (?:-\w,)?--([a-z-]+)", text_of("help", verb), re.M) if verb not in ("help", "version") else []:
            if not re.search(rf"(--|-l ){option}\b", script):
                problems.append(f"{verb} --{option}")
    if shutil.which(args.shell) is None:
        print(f"no {args.shell}: only the words were compared")
    elif subprocess.run([args.shell, "-n", path]).returncode != 0:
        problems.append(f"{args.shell} -n refuses the script")
    if args.shell == "bash":
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "app.plog"), "w").close()
            for line, wanted, unwanted in LINES:
                done = subprocess.run(["bash", "-c", COMPLETE, "bash", path, line], cwd=folder, capture_output=True, text=True)
                answers = done.stdout.split("\n")
                problems += [f"'{line}' does not complete to {word}, but to {answers}" for word in wanted if word not in answers]
                problems += [f"'{line}' completes to {word}" for word in unwanted if word in answers]
                problems += [f"'{line}': {done.stderr}"] if done.stderr else []
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


main()
