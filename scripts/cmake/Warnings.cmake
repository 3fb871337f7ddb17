# prof_warnings: what every target of ours compiles with.
add_library(prof_warnings INTERFACE)
target_compile_options(prof_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
                                               $<$<BOOL:${PROF_DEVELOPER}>:-Werror>)
# What g++ finds by following values through optimised code is wrong too often in code that a sanitizer has changed (its manual advises
# against -Werror there): such warnings are shown and stop nothing.
if(PROF_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(prof_warnings INTERFACE -Wno-error=array-bounds -Wno-error=maybe-uninitialized -Wno-error=restrict
                                                 -Wno-error=stringop-overflow -Wno-error=stringop-overread)
endif()

# Sanitizers reach test programs and the analyzer, never libprof.so itself: the preload objects are linked into tests instead.
add_library(prof_sanitize INTERFACE)
if(PROF_SANITIZE)
  target_compile_options(prof_sanitize INTERFACE -fsanitize=${PROF_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(prof_sanitize INTERFACE -fsanitize=${PROF_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(prof_sanitize INTERFACE -fsanitize-ignorelist=${CMAKE_SOURCE_DIR}/scripts/cmake/sanitizer_ignore.txt)
  endif()
endif()
