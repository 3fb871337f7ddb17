# prof_warnings: what every target of ours compiles with.
add_library(prof_warnings INTERFACE)
target_compile_options(prof_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
                                               $<$<BOOL:${PROF_DEVELOPER}>:-Werror>)

# Sanitizers reach test programs and the analyzer, never libprof.so itself: the preload objects are linked into tests instead.
add_library(prof_sanitize INTERFACE)
if(PROF_SANITIZE)
  target_compile_options(prof_sanitize INTERFACE -fsanitize=${PROF_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(prof_sanitize INTERFACE -fsanitize=${PROF_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(prof_sanitize INTERFACE -fsanitize-ignorelist=${CMAKE_SOURCE_DIR}/scripts/cmake/sanitizer_ignore.txt)
  endif()
endif()
