# prof_hardened: compiles what is built for users with stack and buffer checks and without memory that is both writable
# and executable. scripts/check_library.py checks the result. Buffer checks need an optimising compiler.
include(CheckCXXSourceCompiles)
# Level 3 if the compiler and libc support it, otherwise the older level. A distribution's compiler may define it
# itself.
set(CMAKE_REQUIRED_FLAGS "-O1 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
check_cxx_source_compiles("#include <cstring>
  #if !defined(__USE_FORTIFY_LEVEL) || __USE_FORTIFY_LEVEL < 3
  #error
  #endif
  int main() {}" PROF_FORTIFY_3)
unset(CMAKE_REQUIRED_FLAGS)
set(prof_fortify 2)
if(PROF_FORTIFY_3)
  set(prof_fortify 3)
endif()

add_library(prof_hardened INTERFACE)
target_compile_options(prof_hardened INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-fstack-protector-strong>
  $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<NOT:$<CONFIG:Debug>>>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${prof_fortify}>)
target_link_options(prof_hardened INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)

# For single sources on fast paths: buffers are checked at compile time where their sizes are known, never at run time.
set(PROF_FORTIFY_STATIC "$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
