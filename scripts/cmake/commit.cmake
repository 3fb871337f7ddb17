# Writes the source that names the commit of the build: cmake -DGIT=… -DSOURCE=… -DTO=FILE -P commit.cmake. Sources
# without a repository have the commit `unknown`.
set(commit)
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --short=12 HEAD
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit)
  set(commit unknown)
endif()
file(WRITE ${TO} "namespace prof::analyzer {
extern const char kBuiltCommit[];
const char kBuiltCommit[] = \"${commit}\";
}  // namespace prof::analyzer
")
