#!/usr/bin/env python3
"""Does what docs/recipes.md shows work? On the simulated GPU; each ./app is the demo program. Usage: recipes.py --prof
PROF --libprof LIBPROF --sim FOLDER --program DEMO_APP. What this machine lacks is skipped with a reason."""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

parser = argparse.ArgumentParser()
for name in ("prof", "libprof", "sim", "program"):
    parser.add_argument(f"--{name}", type=lambda path: pathlib.Path(path).resolve(), required=True)
parser.add_argument("test", nargs="*")
options = parser.parse_args()
PAGE = (pathlib.Path(__file__).resolve().parents[3] / "docs/recipes.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


def section(title):
    return re.search(rf"^## {title}$(.*?)(?=^## |\Z)", PAGE, re.M | re.S).group(1)


class Recipes(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="recipes.")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.folder.chmod(0o755)
        (self.folder / "bin").mkdir()
        (self.folder / "bin/prof").symlink_to(options.prof)
        (self.folder / "app").symlink_to(options.program)
        self.environment = {
            "PATH": f"{self.folder}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(self.folder), "LD_LIBRARY_PATH": str(options.sim), "PROF_CUPTI": str(options.sim / "libcupti.so.13"),
            "PROF_SYMBOL_CACHE": "off", "PROF_LIBRARY": str(options.libprof),
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def run_shell(self, command, **variables):
        """Runs it in the folder of the test and returns what it printed. Its status must be 0."""
        done = subprocess.run(["sh", "-c", command], cwd=self.folder, env={**self.environment, **variables}, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        text = done.stdout.decode(errors="replace")
        self.assertEqual(done.returncode, 0, f"{command}\n{text[-2000:]}")
        return text

    def logs(self, folder="logs"):
        return sorted((self.folder / folder).glob("*.plog"))

    def assert_two_ranks(self):
        """Both ranks have a log, and the commands after the recipe name them."""
        self.assertEqual([path.name for path in self.logs()], [f"{os.uname().nodename}-{rank}.plog" for rank in (0, 1)])
        for command in blocks("sh")[-1].splitlines():
            self.run_shell(command)
        answer = json.loads(self.run_shell("prof report kernels --group-by rank --format json logs/"))
        self.assertEqual({row["rank"] for row in answer["rows"]}, {0, 1})

    def launcher(self, name):
        return next(block for block in blocks("sh") if name in block)

    def test_each_command_of_the_tables_runs(self):
        commands = []
        for row in re.findall(r"^\|.*\|$", section("Coming from another tool"), re.M):
            commands += re.findall(r"`(prof [^`]*)`", row.split("|")[2])
        self.assertGreater(len(commands), 35)
        self.run_shell("prof record -o LOG -- ./app 5")
        for command in commands:
            if command.startswith("prof ctl"):
                continue  # e2e.ctl
            with self.subTest(command):
                self.run_shell(command.replace("./app", "./app 2"))

    def test_ranks_of_mpirun_have_logs_of_their_own(self):
        if shutil.which("mpirun") is None:
            self.skipTest("mpirun is not installed (scripts/setup --corpus)")
        self.run_shell(self.launcher("mpirun").replace("mpirun", "mpirun --oversubscribe --mca plm isolated"))
        self.assert_two_ranks()

    def test_ranks_of_srun_are_known_by_its_variables(self):
        command = re.fullmatch(r"srun --ntasks 2 (.*)\n", self.launcher("srun")).group(1)
        for rank in "01":
            self.run_shell(command, SLURM_PROCID=rank, SLURM_NTASKS="2")
        self.assert_two_ranks()

    def test_ranks_of_torchrun_are_known_by_its_variables(self):
        """prof starts the launcher, which starts the ranks."""
        (self.folder / "bin/torchrun").write_text(
            '#!/bin/sh\nfor rank in 0 1; do RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=2 ./app 2 || exit 1; done\n')
        (self.folder / "bin/torchrun").chmod(0o755)
        self.run_shell(self.launcher("torchrun"))
        self.assert_two_ranks()

    def test_the_variables_of_the_image_record_without_prof(self):
        variables = re.search(r"^ENV (.*)$", blocks("dockerfile")[0], re.M).group(1)
        variables = variables.replace("/opt/libprof/lib/libprof.so", str(options.libprof)).replace("/logs", f"{self.folder}/logs")
        self.run_shell(f"export {variables}; cat /dev/null; ./app 2")
        self.assertEqual(len(self.logs()), 1)

    def test_a_read_only_root_and_another_user_than_root_are_recorded(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("only root can change the user and the mounts")
        try:
            self.run_shell("unshare --mount true")
        except AssertionError as error:
            self.skipTest(f"no name space of mounts here: {error}")
        for file in (options.libprof, options.program, options.sim / "libcuda.so.1"):
            self.run_shell(f'install -m 755 {file} "$HOME"/{file.name}')
        (self.folder / "logs").mkdir()
        shutil.chown(self.folder / "logs", 65534, 65534)
        self.run_shell(
            'unshare --mount sh -ec "mount --make-rprivate /; mount --bind logs logs; mount -o remount,ro,bind /; '
            '! touch /var/tmp/recipes 2>/dev/null; exec setpriv --reuid 65534 --regid 65534 --clear-groups '
            f'env LD_PRELOAD=$HOME/libprof.so PROF_OUTPUT=$HOME/logs PROF_GPU=off LD_LIBRARY_PATH=$HOME ./{options.program.name} 2"')
        self.assertEqual([path.stat().st_uid for path in self.logs()], [65534])
        self.run_shell("prof check logs/")

    def test_the_sidecar_copies_the_logs_when_it_is_terminated(self):
        lines = blocks("yaml")[0].split("        - |\n")[1].splitlines()
        script = "\n".join(line for line in lines if line.startswith(" " * 10)).replace("/logs", f"{self.folder}/logs")
        script = script.replace("/archive", f"{self.folder}/archive")
        with subprocess.Popen(["sh", "-c", f"{script.replace('while', 'echo ready; while', 1)}"], stdout=subprocess.PIPE,
                              env={**self.environment, "HOSTNAME": "pod"}, start_new_session=True) as sidecar:
            try:
                self.assertEqual(sidecar.stdout.readline(), b"ready\n")
                self.run_shell("prof record -o logs -- ./app 2")
                sidecar.send_signal(signal.SIGTERM)
                self.assertEqual(sidecar.wait(60), 0)
            finally:
                os.killpg(sidecar.pid, signal.SIGKILL)  # its sleep; in a pod it ends with the container
        self.assertEqual([path.name for path in self.logs("archive/pod")], [path.name for path in self.logs()])
        self.run_shell("prof check archive/pod")

    def test_the_unit_is_valid_and_its_variables_record(self):
        unit = blocks("systemd")[0].replace("/usr/local/bin/app", f"{self.folder}/app")
        unit = unit.replace("/usr/lib/libprof.so", str(options.libprof)).replace("/var/log/libprof", f"{self.folder}/logs")
        variables = " ".join(re.findall(r"^Environment=(.*)$", unit, re.M))
        self.run_shell(f"export {variables}; exec {re.search(r'^ExecStart=(.*)$', unit, re.M).group(1)} 2")
        self.assertEqual(len(self.logs()), 1)
        if shutil.which("systemd-analyze") is None:
            self.skipTest("systemd-analyze is not installed: the syntax of the unit is not checked")
        (self.folder / "recorded.service").write_text(unit)
        said = self.run_shell("systemd-analyze verify ./recorded.service")
        self.assertNotIn("recorded.service", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *options.test])
