#!/usr/bin/env python3
"""flame_in_browser.py --prof PROF --undump UNDUMP --browser CHROMIUM FOLDER: does the flame graph of the golden log in
FOLDER work in a real browser? Opens it with searches, zooms and views in its address and reads the page's own status
text."""
import argparse
import html
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse


def main():
    parser = argparse.ArgumentParser()
    for name in ("prof", "undump", "browser"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("folder")
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="browser.") as scratch:
        log, page, both = (os.path.join(scratch, name) for name in ("app.plog", "flame.html", "both.html"))
        subprocess.run([args.undump, os.path.join(args.folder, "app.log.txt"), log], check=True)
        quiet = {"check": True, "stderr": subprocess.DEVNULL}
        subprocess.run([args.prof, "report", "flame", log, "-o", page], **quiet)
        subprocess.run([args.prof, "report", "flame", log, "--vs", log, "-o", both], **quiet)

        def said(path, **state):
            address = "file://" + path + "#" + urllib.parse.urlencode(state)
            dom = subprocess.run([args.browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,800", f"--user-data-dir={scratch}/data",
                                  "--virtual-time-budget=5000", "--dump-dom", address], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=100).stdout.decode()
            text = re.search(r'<p class="said">(.*?)</p>', dom, re.S)
            return html.unescape(text.group(1)) if text else "(no page)"

        for expected, actual in [
            ("gpu-time: all: 20.3 us, 100.00 % of all; 9 events", said(page)),
            # 15 us in three launches and 300 ns in another one: a match inside another match counts once
            ("gpu-time: all: 20.3 us, 100.00 % of all; 9 events \u2014 found in 4 nodes: 15.3 us, 75.37 % of all", said(page, search="/at::native::(add|launch)/")),
            ("gpu-time: all: 20.3 us, 100.00 % of all; 9 events \u2014 found in 0 nodes: 0 ns, 0.00 % of all", said(page, search="(no such")),
            # here kernels are the roots
            ("gpu-time: all: 20.3 us, 100.00 % of all; 9 events \u2014 found in 1 nodes: 4 us, 19.70 % of all", said(page, search="memcpy", view="leaf")),
            ("gpu-time: all: 20.3 us, 100.00 % of all; 9 events; before 20.3 us (+0 ns)", said(both)),
        ]:
            if expected != actual:
                failed += 1
                print(f"expected {expected!r}\n     got {actual!r}")
        zoomed = said(page, zoom=2)
        if not re.match(r"gpu-time: .+: [0-9.]+ [nu]s, [0-9.]+ % of all; ([0-9.]+ % of what is shown; )?.*\d+ events?", zoomed) or "gpu-time: all" in zoomed:
            failed += 1
            print(f"zoomed: {zoomed!r}")
    sys.exit(1 if failed else 0)


main()
