#!/usr/bin/env python3
"""diff_in_browser.py --prof PROF --browser CHROMIUM FOLDER: does a real browser show the whole page of `prof diff`?
Counts its rows, and reads what the flame graph says."""
import argparse
import html
import os
import re
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser()
    for name in ("prof", "browser"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("folder")
    args = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory(prefix="browser.") as scratch:
        subprocess.run([sys.executable, os.path.join(os.path.abspath(args.folder), "runs.py")], check=True, cwd=scratch)
        subprocess.run([os.path.abspath(args.prof), "diff", "new.json", "--vs", "old.json", "-o", "diff.html"], check=True, cwd=scratch,
                       stderr=subprocess.DEVNULL)

        def dom():
            return subprocess.run([args.browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={scratch}/data", "--virtual-time-budget=5000",
                                   "--window-size=1200,800", "--dump-dom", f"file://{scratch}/diff.html"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  timeout=100).stdout.decode()

        page = dom()
        rows = len(re.findall(r'<tr><td class="text" style', page))
        if rows != 4:
            problems.append(f"expected 4 rows, got {rows}")
        said = re.search(r'<p class="said">(.*?)</p>', page, re.S)
        text = html.unescape(said.group(1)) if said else "(nothing)"
        if "635 us" not in text and "634.9 us" not in text or "before 714 us" not in text:
            problems.append(f"the flame graph says {text!r}")
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


main()
