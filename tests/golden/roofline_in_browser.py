#!/usr/bin/env python3
"""roofline_in_browser.py --prof PROF --browser CHROMIUM FOLDER: does a real browser draw the roofline of the trace in
FOLDER? Counts the dots, their names and the roofs in the browser's result, as a page and as a picture."""
import argparse
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
    failed = 0
    with tempfile.TemporaryDirectory(prefix="browser.") as scratch:
        for name, dots, roofs in [("roof.html", 6, 4), ("roof.svg", 5, 4)]:
            path = os.path.join(scratch, name)
            subprocess.run([args.prof, "report", "roofline", os.path.join(args.folder, "train.json"), "-o", path], check=True,
                           stderr=subprocess.DEVNULL)
            dom = subprocess.run([args.browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={scratch}/data",
                                  "--dump-dom", "file://" + path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                 timeout=100).stdout.decode()
            seen = (len(re.findall(r"<circle[^>]*><title>[^<]", dom)), len(re.findall(r'<line class="roof"', dom)))
            numbers = [float(x) for x in re.findall(r'<circle cx="([0-9.]+)"', dom)]
            if seen != (dots, roofs) or not all(70 <= x <= 960 for x in numbers):
                failed += 1
                print(f"{name}: expected {dots} dots with names and {roofs} roofs on the page, got {seen} at {numbers}")
    sys.exit(1 if failed else 0)


main()
