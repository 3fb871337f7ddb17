"""The programs that transparency.py runs plain and with libprof.so. Each case builds or finds its program and returns
the command."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

CASES = {}


class Skip(Exception):
    """something is missing on this machine"""


def case(needs=(), logs=0, ignore=(), outside=None, errors=True, most=0):
    """logs: how many logs the preloaded run writes; ignore: files whose contents contain times; outside: text of the
    output that may differ, at so many places at most (0: everywhere)"""
    def keep(function):
        CASES[function.__name__.strip("_")] = (function, needs, logs, re.compile("|".join(ignore) or "$^"), outside, errors, most)
        return function
    return keep


def need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            raise Skip(f"no {program} here")


class Place:
    """where a case runs: corpus programs, the folder of the run, a folder for what is built before"""

    def __init__(self, options, made, cwd):
        self.bin, self.source, self.made, self.cwd, self.options = options.programs, options.source, made, cwd, options

    def write(self, name, text):
        (self.made / name).write_text(text)
        return self.made / name

    def build(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.made)
        if done.returncode:
            raise Skip(f"{command[0]} cannot build it here: {done.stderr.strip()[-300:]}")


JOB = r"(?<=: )\s*\d+(?= (?:Segmentation|Aborted))"  # bash names the process that died


@case(needs=["bash"], outside=JOB)
def bash(place):
    return ["bash", place.write("script.sh", r"""
trap 'echo trapped $?' EXIT
count() { for i in 1 2 3 4 5; do echo $((i * i)); done; }
count | sort -rn | while read n; do echo "line $n"; done
(sleep 0.05; echo background) & wait
diff <(seq 5) <(seq 4) ; echo diff $?
bash -c 'kill -SEGV $$'; echo died by $?
env | sort
ls -l /proc/self/fd | sed 's/.* \([0-9]*\) ->.*/descriptor \1/'
cat /no/such/file
mkdir -p a/b; echo text > a/b/c; umask; false; exit 3
""")]


@case(needs=["python3"])
def python3(place):
    return [sys.executable, place.write("script.py", """
import ctypes, multiprocessing, os, subprocess, sys, threading
def square(n): return n * n, os.environ.get("HOME"), len(os.listdir("/proc/self/task"))
def main():
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool: print(method, sorted(set(pool.map(square, range(10)))))
    threads = [threading.Thread(target=sum, args=(range(1000),)) for _ in range(50)]
    [t.start() for t in threads]; [t.join() for t in threads]
    print(subprocess.run(["sh", "-c", "echo child; exit 4"], capture_output=True))
    print(os.system("exit 5"), os.waitstatus_to_exitcode(os.posix_spawn("/bin/sh", ["sh", "-c", "exit 6"], os.environ) and os.wait()[1]))
    print(ctypes.CDLL(None).getpid() == os.getpid(), ctypes.CDLL("libm.so.6").abs(-3))
    child = os.fork()
    if child == 0: os._exit(9)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(write, b"daemon"); os._exit(0)
        os._exit(0)
    os.wait(); print(os.read(read, 10))
    open("made", "w").write("file"); print("to stderr", file=sys.stderr)
    sys.exit(17)
if __name__ == "__main__": main()
""")]


# A worker of each start method uses CUDA; their parent, the fork server and the resource tracker do not.
@case(needs=["python3"], logs=3)
def python3_cuda_workers(place):
    return [sys.executable, place.write("script.py", """
import ctypes, multiprocessing
def work(queue):
    cuda, context, memory, results = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_uint64(), []
    results.append(cuda.cuInit(0))
    results.append(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    results.append(cuda.cuCtxSetCurrent(context))
    results += [cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096)) for _ in range(100)]
    queue.put((len(results), sum(results)))
def main():
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        worker = context.Process(target=work, args=(queue,))
        worker.start(); print(method, queue.get()); worker.join(); print(worker.exitcode)
if __name__ == "__main__": main()
""")]


@case()
def killed_by_signal(place):
    return [sys.executable, "-c", "import os, signal; print('before', flush=True); os.kill(os.getpid(), signal.SIGTERM)"]


@case(needs=["git"])
def git(place):
    place.write("gitconfig", "[user]\n name = a\n email = a@example.com\n[gc]\n auto = 0\n[safe]\n directory = *\n")
    return ["bash", "-c", f"""export GIT_CONFIG_GLOBAL={place.made}/gitconfig GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
git init -q -b main repository && cd repository && for i in 1 2 3; do seq $i 100 > file$i; git add .; git commit -qm "number $i"; done
git log --stat; git clone -q . ../copy; git -C ../copy grep -c 7; git gc -q; git fsck; git checkout no-such-branch; rm -f .git/index ../copy/.git/index"""]


@case(needs=["g++"], outside=JOB)
def gcc(place):
    place.write("a.cpp", "#include <iostream>\n#include <vector>\nint main() { std::vector<int> v{1,2}; std::cout << v.size() << '\\n'; throw 1; }\n")
    place.write("bad.c", "int main(void) { return undeclared; }\n")
    return ["bash", "-c", f"g++ -O1 -g -c {place.made}/a.cpp -o a.o && g++ a.o -o a && ./a; echo $?; gcc -c {place.made}/bad.c; exit $?"]


@case(needs=["ninja"], ignore=[r"\.ninja_log", r"\.ninja_deps"])
def ninja(place):
    place.write("build.ninja", "rule copy\n command = cp $in $out\nrule shout\n command = tr a-z A-Z < $in > $out && echo $out\n"
                "build one: copy build.ninja\nbuild two: shout one\nbuild three: shout two\nbuild all: phony two three\n")
    return ["bash", "-c", f"cp {place.made}/build.ninja . && ninja -j4 all && ninja all; ninja no-such-target"]


@case(needs=["node"])
def node(place):
    return ["node", place.write("script.js", """
const { Worker, isMainThread, parentPort } = require('worker_threads'), child = require('child_process');
if (!isMainThread) { parentPort.postMessage(Array.from({length: 1000}, (_, i) => i).reduce((a, b) => a + b)); return; }
console.log(child.execSync('echo child; echo $HOME').toString());
const worker = new Worker(__filename);
worker.on('message', sum => { console.log(sum); });
worker.on('exit', () => { require('fs').writeFileSync('made', 'x'); console.error('end'); process.exit(7); });
""")]


@case(needs=["go"])
def go(place):
    place.write("go.mod", "module corpus\n\ngo 1.19\n")
    place.write("main.go", """package main
import ("fmt"; "os"; "os/exec"; "sync")
func main() {
    var group sync.WaitGroup
    results := make([]int, 1000)
    for i := range results { group.Add(1); go func(n int) { defer group.Done(); results[n] = n * n }(i) }
    group.Wait()
    out, err := exec.Command("sh", "-c", "echo child; exit 3").Output()
    fmt.Println(results[999], string(out), err)
    os.Exit(12)
}
""")
    os.environ.update(CGO_ENABLED="0", GOFLAGS="-mod=mod", GOCACHE=str(place.options.programs / "go_cache"), GOPROXY="off", HOME=os.environ.get("HOME", str(place.made)))
    place.build("go", "build", "-o", "static", ".")
    return [place.made / "static"]


@case(needs=["java"])
def java(place):
    source = place.write("Corpus.java", """
import java.util.stream.*;
public class Corpus {
  public static void main(String[] arguments) throws Exception {
    System.out.println(IntStream.range(0, 1000).parallel().sum());
    Thread[] threads = new Thread[50];
    for (int i = 0; i < 50; i++) { threads[i] = new Thread(() -> {}); threads[i].start(); }
    for (Thread thread : threads) thread.join();
    try { Object nothing = null; nothing.hashCode(); } catch (NullPointerException error) { System.out.println("caught"); }
    Process child = new ProcessBuilder("sh", "-c", "exit 3").start();
    System.out.println(child.waitFor());
    System.exit(13);
  }
}
""")
    need("javac")
    place.build("javac", "-d", str(place.made), str(source))
    return ["java", "-XX:-UsePerfData", "-Xshare:auto", "-cp", place.made, "Corpus"]


@case(needs=["chromium"], errors=False)  # its messages contain times and process ids
def chromium(place):
    page = place.write("page.html", "<p id=x></p><script>document.getElementById('x').textContent = [1, 2, 3].map(n => n * n).join()</script>")
    return ["bash", "-c", f"chromium --headless --no-sandbox --disable-gpu --user-data-dir=$(mktemp -d -p {place.made}) --dump-dom file://{page}"]


# The loader does not preload a library given by path in secure execution. A library that the program is linked with is
# loaded, and must do nothing.
def check_linked_setuid(place):
    need("g++")
    library, program = place.made / "libprof.so", place.made / "linked"
    shutil.copy(place.options.libprof, library)
    library.chmod(0o755)
    place.build("g++", str(place.source / "privileged.cpp"), "-o", "linked", "-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{place.made}")
    as_other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(program), "linked"]
    for mode, effective, active in ((0o755, 65534, "yes"), (0o4755, 0, "no")):
        program.chmod(mode)
        said = subprocess.run(as_other, capture_output=True, text=True, cwd=place.cwd).stdout
        wanted = f"effective {effective}\nrecorder inside: yes\nNVTX tool named: {active}\n"
        if not said.endswith(wanted):
            raise SystemExit(f"linked, mode {mode:o}: expected {wanted}, found {said}")


@case(needs=["setpriv", "cc"])
def setuid(place):
    if os.geteuid() != 0:
        raise Skip("only root can make a program of another user set-user-ID")
    program = place.made / "privileged"
    shutil.copy(place.bin / "privileged", program)
    os.chown(program, 0, 0)
    program.chmod(0o4755)
    for folder in [place.made, place.cwd, place.made.parent]:
        folder.chmod(0o755)
    place.cwd.chmod(0o777)
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program], capture_output=True, text=True)
    if "effective 0" not in done.stdout:
        raise Skip("set-user-ID has no effect in this folder: " + (done.stdout + done.stderr).strip())
    check_linked_setuid(place)
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program]


@case()
def short_threads(place):
    return [place.bin / "short_threads"]


@case(logs=1)
def short_threads_cuda(place):
    return [place.bin / "short_threads", "cuda"]


@case(logs=1)
def long_jumps(place):
    return [place.bin / "long_jumps"]


@case(ignore=["TIME"])
def million_exceptions(place):
    return [place.bin / "million_exceptions"]


@case(logs=1)
def fork_in_threads(place):
    return [place.bin / "fork_in_threads"]


@case()
def fork_beside_loader(place):
    return [place.bin / "fork_beside_loader"]


@case(logs=1)
def own_dlsym(place):
    return [place.bin / "own_dlsym"]


@case()
def dl_forms(place):
    return [place.bin / "dl_forms"]


@case()
def process_state(place):
    return [place.bin / "process_state"]


# The same while waiting for prof ctl: nothing is made before the first CUDA or NVTX call.
@case()
def process_state_ctl(place):
    return ["env", "PROF_START=ctl", place.bin / "process_state"]


# One descriptor, of the log, at 512 or above, which a started program does not inherit, and threads until the end:
# libprof's and CUPTI's.
@case(logs=1, outside=r"^descriptor 5\d\d .*\.plog\n|(?<=^Threads:\t)\d+$", most=3)
def process_state_cuda(place):
    return [place.bin / "process_state", "cuda"]


# Without CUPTI one thread: 3 at the end, including the 2 of the simulated driver.
@case(logs=1, outside=r"^descriptor 5\d\d .*\.plog\n|(?<=^Threads:\t)[23]$", most=2)
def process_state_host(place):
    return ["env", "PROF_GPU=off", place.bin / "process_state", "cuda"]


@case()
def sandbox_that_kills(place):
    return [place.bin / "sandbox", "kill"]


@case(outside=r"^libprof: cannot create .*\n")
def sandbox_that_refuses(place):
    return [place.bin / "sandbox", "refuse"]


@case()
def weak_cuinit(place):
    return [place.bin.parent / "programs" / "weak_cuinit"]


@case(logs=1)
def launches(place):
    return [place.bin / "launches"]


def sanitized(place, *arguments):
    need("clang++")
    place.build("clang++", "-std=c++20", "-O1", "-g", "-fsanitize=address", "-pthread", str(place.source / "address_sanitized.cpp"), "-o", "sanitized", "-ldl")
    return [place.made / "sanitized", *arguments]


@case(logs=1)
def address_sanitizer(place):
    return sanitized(place)


# The report contains addresses and process ids.
@case(logs=1, outside=r"0x[0-9a-f]+|==\d+==|\(BuildId: \w+\)|^Shadow bytes(?s:.*)\Z|^    #[1-9].*\n")
def address_sanitizer_finds(place):
    return sanitized(place, "overflow")


def preloaded_allocator(place, *names):
    for folder in ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"]:
        for name in names:
            if (found := pathlib.Path(folder) / name).exists():
                return ["bash", "-c", f"export LD_PRELOAD=$LD_PRELOAD:{found}; exec {place.bin}/short_threads cuda"]
    raise Skip(f"no {' or '.join(names)} here")


# Programs of musl load the library, which does nothing in them.
@case(needs=["musl-gcc"])
def musl(place):
    place.build("musl-gcc", "-O1", str(place.source / "other_libc.c"), "-o", "other_libc")
    return ["bash", "-c", f"{place.made}/other_libc; echo $?; PROF_LOG=debug {place.made}/other_libc; exit $?"]


# Programs that cannot load the library: each is started in every way of libc, directly and as the interpreter of a
# script.
# Paths with other meanings stay what they are.
def started(place, *build):
    place.build(*build, str(place.source / "started.c"), "-o", "started")
    for name, first in (("script", f"#!{place.made}/started\n"), ("with_argument", f"#! \t{place.made}/started\targument\n"),
                        ("of_script", f"#!{place.made}/script\n"), ("plain", "echo plain; exit 5\n")):
        place.write(name, first + "text\n" if name != "plain" else first).chmod(0o755)
    place.write("data", "text").chmod(0o644)
    (place.made / "folder").mkdir()
    os.mkfifo(place.made / "pipe", 0o755)
    names = ["started", "script", "with_argument", "of_script", "plain", "data", "folder", "pipe", "absent"]
    return ["bash", "-c", f"{place.bin}/start_program {' '.join(str(place.made / name) for name in names)}; {place.made}/started from bash; exit $?"]


@case(needs=["gcc"])
def start_32_bit(place):
    return started(place, "gcc", "-m32")


# The sanitizer's library refuses a library before it.
@case(needs=["gcc"])
def start_sanitized(place):
    return started(place, "gcc", "-fsanitize=address")


@case(needs=["gcc"], outside=r" preloads( nothing)?$")
def start_static(place):
    return started(place, "gcc", "-static")


@case(needs=["musl-gcc"], outside=r" preloads( nothing)?$")
def start_musl(place):
    return started(place, "musl-gcc")


def faketime(place, order):
    """a library that freezes the clocks of the program, in front of libprof.so or after it"""
    library = next((path for path in pathlib.Path("/usr/lib").glob("**/faketime/libfaketimeMT.so.1")), None)
    if library is None:
        raise Skip("no libfaketime here")
    return ["bash", "-c", f"export LD_PRELOAD={order.format(found=library)} FAKETIME='2020-01-01 00:00:00'; date; exec {place.bin}/short_threads cuda"]


@case(logs=1)
def faketime_first(place):
    return faketime(place, "{found}:$LD_PRELOAD")


@case(logs=1)
def faketime_after(place):
    return faketime(place, "$LD_PRELOAD:{found}")


@case(logs=1)
def jemalloc(place):
    return preloaded_allocator(place, "libjemalloc.so.2", "libjemalloc.so")


@case(logs=1)
def tcmalloc(place):
    return preloaded_allocator(place, "libtcmalloc.so.4", "libtcmalloc_minimal.so.4", "libtcmalloc.so")
