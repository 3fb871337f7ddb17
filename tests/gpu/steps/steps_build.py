"""The first step builds the programs, the CUPTI-only baseline, and libprof.so if none was given."""
import concurrent.futures
import os

from lab import BASELINE_PRELOADED, PROGRAMS_FOLDER, ROOT


def build(lab, step):
    os.makedirs(lab.path("bin"), exist_ok=True)
    if os.path.exists(lab.path("bin", BASELINE_PRELOADED)):
        os.remove(lab.path("bin", BASELINE_PRELOADED))
    lab.inject = not lab.sim
    gencode = lab.gencode()
    cudart = "shared" if lab.sim else "static"  # the real one requires proof that the driver is NVIDIA's
    jobs = {name: [lab.nvcc, "-std=c++17", "-O2", "-cudart", cudart, *gencode,
                   "-o", lab.path("bin", name), os.path.join(PROGRAMS_FOLDER, f"{name}.cu"), "-lpthread", "-ldl"]
            for name in ("mixed", "launch_loop", "managed", "contexts", "green_contexts", "window", "parts_threads", "waits", "repeats",
                         "diff_runs", "sampling", "batches", "hook_cost", "plugged_profiler", "ends", "host_samples")}
    includes = [f"-I{folder}" for folder in (f"{lab.cuda}/include", f"{lab.cuda}/extras/CUPTI/include") if os.path.isdir(folder)]
    for name in ("cupti_parts", "cupti_calls", "pc_sampling", "stall_kinds"):
        jobs[name] = [lab.nvcc, "-std=c++17", "-O2", "-lineinfo", "-cudart", "static", *gencode, *includes, "-o",
                      lab.path("bin", name), os.path.join(PROGRAMS_FOLDER, f"{name}.cu"), "-lpthread", "-ldl"]
    for name, libraries in (("counters", ["-lcublas"]), ("libraries", ["-lcufft", "-lcusparse", "-lcublas"])):
        jobs[name] = [lab.nvcc, "-std=c++17", "-O2", "-cudart", "static", *gencode, "-o",
                      lab.path("bin", name), os.path.join(PROGRAMS_FOLDER, f"{name}.cu"), *libraries, "-Xlinker", f"-rpath={lab.cuda}/lib64", "-lpthread", "-ldl"]
    # Kernels that launch graphs and set conditions call the device runtime; the other graph programs are built in the
    # same way.
    for name in ("graphs", "device_graphs", "graph_replay"):
        jobs[name] = [lab.nvcc, "-std=c++17", "-O2", "-cudart", "static", "-rdc=true", *gencode,
                      "-o", lab.path("bin", name), os.path.join(PROGRAMS_FOLDER, f"{name}.cu"), "-lcudadevrt", "-lpthread", "-ldl"]
    jobs["libcupti_baseline.so"] = ["g++", "-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", *includes, "-o",
                                    lab.path("bin", "libcupti_baseline.so"), os.path.join(PROGRAMS_FOLDER, "cupti_baseline.cpp"), "-ldl"]
    if not lab.libprof:
        build_dir = lab.path("libprof")
        jobs["libprof.so"] = ["sh", "-c", f"cmake -S '{ROOT}' -B '{build_dir}' -G Ninja -DCMAKE_BUILD_TYPE=Release "
                              f"-DPROF_ANALYZER=OFF -DPROF_TESTS=OFF && ninja -C '{build_dir}'"]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for name, answer in zip(jobs, pool.map(lambda c: lab.run(c, timeout=200), jobs.values())):
            step.check(f"{name} builds", answer.status == 0, (answer.stderr or answer.stdout).strip()[-300:] if answer.status else "built")
    lab.libprof = lab.libprof or lab._find_bin("libprof.so")
    step.check("libprof.so exists", lab.libprof, lab.libprof and os.path.relpath(lab.libprof, lab.bin or lab.work), "")
    folder = lab.fresh("smoke")
    lab.run([lab.program("launch_loop")], env=lab.cupti_env(folder), timeout=60)
    if not os.listdir(folder):
        lab.inject = False
        open(lab.path("bin", BASELINE_PRELOADED), "w", encoding="utf-8").close()
        lab.run([lab.program("launch_loop")], env=lab.cupti_env(folder), timeout=60)
    count = lab.cupti_count(folder)
    step.check("CUPTI alone counts a loop of 1,000 kernels", count["kernels"] == 1000, count["kernels"], 1000)
    step.figure("how the CUPTI baseline is loaded", "CUDA_INJECTION64_PATH" if lab.inject else "LD_PRELOAD")
    step.figure("CUPTI of the baseline", f"{count['path']}, version {count['version']}")
