# prof_unity(TARGET SIZE [BY_FOLDER]): compiles up to SIZE sources of a target together, or of each folder of it. A full
# build takes less than half of the time, because the sources of a target share most of their headers and templates. The
# code does not depend on it: the build also passes with -DPROF_UNITY=OFF, which the presets dev and lint set. Names in
# anonymous namespaces must differ within a target, or a folder; a clash is a compile error. CMake compiles sources that
# have their own options or definitions alone.
option(PROF_UNITY "compile sources of a target together" ON)
function(prof_unity target size)
  cmake_parse_arguments(PARSE_ARGV 2 unity "BY_FOLDER" "" "")
  if(NOT PROF_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(counted)
  foreach(source ${sources})
    set(folder all)
    if(unity_BY_FOLDER)
      get_filename_component(folder ${source} DIRECTORY)
      string(MAKE_C_IDENTIFIER "${folder}" folder)
    endif()
    list(APPEND counted ${folder})
    set(of_folder ${counted})
    list(FILTER of_folder INCLUDE REGEX "^${folder}$")
    list(LENGTH of_folder number)
    math(EXPR group "(${number} - 1) / ${size}")
    string(REGEX REPLACE "^.*_preload_" "preload_" name "${folder}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # g++ treats each joined file as a header, and in headers it warns about classes that contain types of an anonymous
  # namespace.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  # A local name may be that of a constant of another source. The preset dev refuses real shadowing.
  if(PROF_DEVELOPER AND NOT unity_BY_FOLDER)
    target_compile_options(${target} PRIVATE -Wno-error=shadow)
  endif()
endfunction()
