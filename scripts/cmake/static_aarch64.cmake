# Toolchain of the preset `static-aarch64`: that of `static`, for aarch64. The libraries are those of Debian's arm64
# packages, which `scripts/setup --aarch64` unpacks in build/aarch64-root.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(PROF_STATIC_PROCESSOR aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/static.cmake)
set(PROF_STATIC_ROOT ${prof_root}/build/aarch64-root)
if(NOT EXISTS ${PROF_STATIC_ROOT}/complete)
  message(FATAL_ERROR "no packages in ${PROF_STATIC_ROOT}. Run scripts/setup --aarch64")
endif()
