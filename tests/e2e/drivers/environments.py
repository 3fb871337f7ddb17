"""The environment of programs that a test starts without the variables of its own process."""
import os

KEPT = ("PATH", "PROF_MUTANT", "PROF_MUTANTS_REACHED")  # scripts/mutants sets the last two


def bare_environment():
    return {name: os.environ[name] for name in KEPT if name in os.environ}


def simulated_gpu(sim):
    """With the simulated driver and CUPTI of the folder `sim`."""
    return bare_environment() | {"LD_LIBRARY_PATH": str(sim), "PROF_CUPTI": str(sim / "libcupti.so.13")}
