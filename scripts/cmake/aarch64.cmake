# Cross-compiles for aarch64 Linux (cmake --preset aarch64). `scripts/setup --aarch64` unpacks Debian's arm64 packages
# in build/aarch64-root: the libraries that prof links, and what the tests run. It also unpacks NVIDIA's headers for it,
# and the compiler: Debian's packages of it cannot be installed beside those that compile for i386.
get_filename_component(prof_root ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER ${prof_root}/build/aarch64-cross/usr/bin/aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER ${prof_root}/build/aarch64-cross/usr/bin/aarch64-linux-gnu-g++)
set(CMAKE_ASM_COMPILER ${prof_root}/build/aarch64-cross/usr/bin/aarch64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_SYSROOT ${prof_root}/build/aarch64-root)
if(NOT EXISTS ${CMAKE_SYSROOT}/complete)
  message(FATAL_ERROR "no packages in ${CMAKE_SYSROOT}. Run scripts/setup --aarch64")
endif()
set(Python3_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "of the build, and at the same place of the tests")
