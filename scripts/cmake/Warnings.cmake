# prof_warnings: the compiler warnings of every target of this project.
add_library(prof_warnings INTERFACE)
target_compile_options(prof_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
                                               $<$<BOOL:${PROF_DEVELOPER}>:-Werror>)
# g++ warnings that follow values through optimised code are wrong too often in code that a sanitizer has changed (g++'s
# manual advises against -Werror there). Such warnings are printed and do not stop the build.
if(PROF_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(prof_warnings INTERFACE -Wno-error=array-bounds -Wno-error=maybe-uninitialized -Wno-error=restrict
                                                 -Wno-error=stringop-overflow -Wno-error=stringop-overread)
endif()
# ThreadSanitizer does not follow fences. The fence of log/ring.cpp orders stores for another process only.
if(PROF_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(prof_warnings INTERFACE -Wno-tsan)
endif()

# Test programs and the analyzer are sanitized, libprof.so itself never: its objects are linked into tests instead.
add_library(prof_sanitize INTERFACE)
if(PROF_SANITIZE)
  target_compile_options(prof_sanitize INTERFACE -fsanitize=${PROF_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(prof_sanitize INTERFACE -fsanitize=${PROF_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(prof_sanitize INTERFACE -fsanitize-ignorelist=${CMAKE_SOURCE_DIR}/scripts/cmake/sanitizer_ignore.txt)
  endif()
endif()
