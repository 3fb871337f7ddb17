# Toolchain of the preset `static`: zig's clang with glibc's interface of 2.28, as libprof.so (scripts/setup --static
# unpacks it). A compiler of the distribution binds to the newest versions of glibc's functions, 2.36 on Debian 12.
# static_aarch64.cmake sets another processor than that of this machine.
get_filename_component(prof_root ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
set(PROF_ZIG ${prof_root}/build/ziglang/ziglang CACHE PATH "folder of zig")
if(NOT EXISTS ${PROF_ZIG}/zig)
  message(FATAL_ERROR "no zig in ${PROF_ZIG}. Run scripts/setup --static, or pass -DPROF_ZIG=FOLDER")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PROF_ZIG)  # the checks of compilers read this file again
if(NOT PROF_STATIC_PROCESSOR)
  set(PROF_STATIC_PROCESSOR ${CMAKE_HOST_SYSTEM_PROCESSOR})
endif()
set(prof_zig_programs ${PROF_ZIG}/../bin-${PROF_STATIC_PROCESSOR})
# Programs of these names, because CMake and ccache know compilers by their names.
foreach(language cc c++)
  string(REPLACE "cc" "clang" name ${language})
  string(REPLACE "c++" "clang++" name ${name})
  set(program ${prof_zig_programs}/${name})
  set(target ${PROF_STATIC_PROCESSOR}-linux-gnu.2.28)
  set(text "#!/bin/sh\nexec '${PROF_ZIG}/zig' ${language} -target ${target} \"$@\"\n")
  set(present "")
  if(EXISTS ${program})
    file(READ ${program} present)
  endif()
  if(NOT present STREQUAL text)  # ccache compares the time of the file
    file(WRITE ${program} "${text}")
    file(CHMOD ${program} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
         WORLD_READ WORLD_EXECUTE)
  endif()
endforeach()
set(CMAKE_C_COMPILER ${prof_zig_programs}/clang)
set(CMAKE_ASM_COMPILER ${prof_zig_programs}/clang)
set(CMAKE_CXX_COMPILER ${prof_zig_programs}/clang++)
