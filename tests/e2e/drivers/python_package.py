#!/usr/bin/env python3
"""Do the functions of the Python package do what they promise? On the simulated GPU. Usage: python_package.py --build
FOLDER [--installed]: with the package of the sources and the programs of the build, or with the installed wheel."""
import argparse
import ast
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[3]
parser = argparse.ArgumentParser()
parser.add_argument("--build", type=lambda path: pathlib.Path(path).resolve(), required=True)
parser.add_argument("--installed", action="store_true")
options = parser.parse_args()
SIM = options.build / "sim"
DEMO = str(options.build / "tests/e2e/programs/demo_app")
os.environ.update({"LD_LIBRARY_PATH": str(SIM), "PROF_CUPTI": str(SIM / "libcupti.so.13"), "PROF_SYMBOL_CACHE": "off", "PROF_QUIET": "1"})
if not options.installed:
    sys.path.insert(0, str(ROOT / "analyzer/python"))
    os.environ.update({"PROF_PROGRAM": str(options.build / "bin/prof"), "PYTHONPATH": str(ROOT / "analyzer/python")})
sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
import libprof  # noqa: E402  # found above

# Two recorded parts with three memsets each; a memset between them is in no log.
PARTS = """
import ctypes, libprof
cuda = ctypes.CDLL("libcuda.so.1")
def memset(count):
    for _ in range(count):
        assert cuda.cuMemsetD32_v2(memory, 7, 256) == 0
    assert cuda.cuCtxSynchronize() == 0
with libprof.record() as first:
    context, memory = ctypes.c_void_p(), ctypes.c_uint64()
    assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0 and cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096)) == 0
    memset(3)
memset(1)
try:
    with libprof.record() as second:
        memset(3)
        raise KeyError("in the part")
except KeyError:
    pass
for part in first, second:
    print(sum(row["count"] for row in part.recording.report("kernels")), len(part.recording.paths))
print(libprof.stop())
"""


class Package(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="python_package.")
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def recorded(self):
        return libprof.run([DEMO, "2"], output=self.folder)

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="python_package.")
        cls.addClassCleanup(scratch.cleanup)
        cls.run_once = libprof.run([DEMO, "2"], output=scratch.name)

    def test_run_returns_the_logs_and_the_status_of_the_program(self):
        recording = self.recorded()
        self.assertEqual(recording.returncode, 0)
        self.assertEqual([os.path.dirname(path) for path in recording.paths], [self.folder])
        self.assertNotEqual(self.recorded().paths, recording.paths)  # the new logs only
        with self.assertRaisesRegex(libprof.ProfError, "status 3, and no log"):
            libprof.run(["sh", "-c", "exit 3"], output=self.folder)

    def test_options_of_run_are_those_of_prof_record(self):
        recording = libprof.run([DEMO, "2"], output=self.folder, gpu="off")
        self.assertIn("with GPU time 0", recording.report("kernels").coverage)
        with self.assertRaises(libprof.ProfError):
            libprof.run([DEMO, "2"], output=self.folder, gpu="maybe")

    def test_a_report_has_the_rows_of_its_json(self):
        recording = self.run_once
        kernels = recording.report("kernels", limit=2)
        self.assertEqual(len(kernels), 2)
        self.assertGreaterEqual(kernels[0]["total_ns"], kernels[1]["total_ns"])
        self.assertRegex(kernels.coverage, r"launches \d+, with GPU time \d+")
        self.assertEqual(kernels.rows, libprof.report("kernels", *recording.paths, limit=2).rows)

    def test_every_report_has_an_answer(self):
        recording = self.run_once
        listed = subprocess.run([libprof.program(), "report", "--list"], check=True, stdout=subprocess.PIPE).stdout.decode()
        names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and not line.startswith("   ")]
        self.assertGreater(len(names), 30)
        for name in names:
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("ignore", libprof.PartialWarning)
                try:
                    self.assertIsInstance(recording.report(name).rows, list)
                except libprof.ProfError as error:  # such as bench-kernel, which needs a log of --repeat-kernel
                    self.assertRegex(str(error), "^prof: ", name)

    def test_errors_name_the_file_and_the_reason(self):
        path = os.path.join(self.folder, "bad.plog")
        with open(path, "wb") as file:
            file.write(b"no log")
        with self.assertRaisesRegex(libprof.ProfError, "bad.plog"):
            libprof.open(path).report("kernels")
        with self.assertRaisesRegex(FileNotFoundError, "absent.plog"):
            libprof.open("absent.plog")
        with self.assertRaisesRegex(libprof.ProfError, "unknown report kernel"):
            self.run_once.report("kernel")
        with self.assertRaisesRegex(ValueError, "no table"):
            self.run_once.table("kernels")

    def test_damage_is_a_warning_with_the_answer(self):
        path = self.recorded().paths[0]
        os.truncate(path, os.path.getsize(path) - 5000)
        with self.assertWarns(libprof.PartialWarning):
            self.assertGreaterEqual(len(libprof.open(path).report("kernels")), 0)

    def test_pages_and_traces_are_written(self):
        recording = self.run_once
        for write, name in ((recording.page, "run.html"), (recording.trace, "run.json.gz")):
            self.assertGreater(os.path.getsize(write(os.path.join(self.folder, name))), 1000)
        self.assertIn("GPU activities", recording.text())

    def test_without_the_preload_a_recording_is_refused(self):
        self.assertFalse(libprof.is_preloaded())
        for call in libprof.start, libprof.stop, lambda: libprof.record().__enter__():
            with self.assertRaisesRegex(libprof.NotPreloaded, "prof record --start ctl"):
                call()

    def test_parts_of_a_preloaded_process_have_logs_of_their_own(self):
        command = [libprof.program(), "record", "--start", "ctl", "--output", self.folder, "--", sys.executable, "-c", PARTS]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.stdout.decode().splitlines(), ["3 1", "3 1", "None"], done.stderr.decode())

    def test_tables_are_arrow_tables(self):
        try:
            import pyarrow
        except ImportError:
            self.skipTest("pyarrow is not installed")
        recording = self.run_once
        try:
            operations = recording.operations
        except libprof.ProfError as error:
            if "not installed" in str(error):
                self.skipTest("prof has no plug-in for Arrow")
            if "GLIBC_2.32' not found" in str(error):
                self.skipTest("the plug-in for Arrow needs glibc 2.32")
            raise
        self.assertIsInstance(operations, pyarrow.Table)
        counts = {name: recording.table(name).num_rows for name in libprof.TABLES}
        self.assertEqual(len(set(recording.processes["pid"].to_pylist())), 1)
        self.assertTrue(all(counts[name] for name in ("calls", "ranges", "gaps", "coverage", "names", "anchors")), counts)
        kernels = sum(row["count"] for row in recording.report("kernels", limit=0))
        self.assertEqual(operations.num_rows, kernels)
        self.assertEqual(operations.schema.field("start_ns").type, pyarrow.int64())

    def test_the_names_of_tables_are_those_of_prof(self):
        done = subprocess.run([libprof.program(), "export", *self.run_once.paths, "--format", "arrow", "--table", "absent"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        words = set(done.stderr.decode().replace(",", " ").replace(")", " ").split())
        self.assertEqual(set(libprof.TABLES) - words, set(), done.stderr)

    def test_the_sources_are_of_the_oldest_python(self):
        for path in pathlib.Path(libprof.__file__).parent.glob("*.py"):
            ast.parse(path.read_text(), str(path), feature_version=(3, 9))


unittest.main(argv=[sys.argv[0]], verbosity=2)  # with the reason of each skipped test
