# prof_unity(TARGET [SIZE]): compiles up to SIZE (default 12) sources of one folder of a target together. A full build
# takes less than half of the time, because sources of one folder share most of their headers and templates. The code
# does not depend on it: the build also passes with -DPROF_UNITY=OFF, which the presets dev and lint set. Names in
# anonymous namespaces must differ within a folder; a clash is a compile error. CMake compiles sources that have their
# own options or definitions alone.
option(PROF_UNITY "compile sources of a folder together" ON)
function(prof_unity target)
  if(NOT PROF_UNITY)
    return()
  endif()
  set(size 12)
  if(ARGC GREATER 1)
    set(size ${ARGV1})
  endif()
  get_target_property(sources ${target} SOURCES)
  set(counted)
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(APPEND counted ${folder})
    set(of_folder ${counted})
    list(FILTER of_folder INCLUDE REGEX "^${folder}$")
    list(LENGTH of_folder number)
    math(EXPR group "(${number} - 1) / ${size}")
    string(REGEX REPLACE "^.*_(preload|analyzer|tests)_" "\\1_" name "${folder}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # g++ treats each joined file as a header, and in headers it warns about classes that contain types of an anonymous
  # namespace.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
