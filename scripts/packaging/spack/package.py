# The recipe of a Spack package. It has never run: Spack's registries cannot be reached where libprof is developed.
# Use: copy it to packages/libprof/ of a Spack repository, then `spack dev-build libprof@0.1.0` in the sources. Spack
# has no packages of protozero and of the modules of D3. Variants name their folders, by default those of Debian's.
from spack.package import *


class Libprof(CMakePackage):
    """Records CUDA programs without any change to them, and shows where their GPU time goes."""

    license("Apache-2.0")

    version("0.1.0")

    variant("protozero", default="/usr/include", values=lambda path: path.startswith("/"), description="its headers")
    variant("d3", default="/usr/share/nodejs", values=lambda path: path.startswith("/"), description="modules of D3")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("cuda@13:", type="build")  # headers of CUDA, CUPTI and NVTX; no library of it is linked
    depends_on("rapidjson", type="build")
    depends_on("cli11", type="build")
    depends_on("fmt")
    depends_on("zlib-api")
    depends_on("isa-l")  # its library is copied to lib/prof
    depends_on("zstd")
    depends_on("sqlite")
    depends_on("elfutils")  # libdw, libelf
    depends_on("ncurses+termlib")
    depends_on("libunwind")  # its library is copied to lib/prof

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("PROF_TESTS", False),
            self.define_from_variant("PROF_PROTOZERO", "protozero"),
            self.define_from_variant("PROF_D3", "d3"),
            self.define("PROF_CUDA_INCLUDE", self.spec["cuda"].prefix.include),
            self.define("PROF_CUPTI_INCLUDE", self.spec["cuda"].prefix.extras.CUPTI.include),
        ]
