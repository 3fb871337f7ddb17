# prof_unity(TARGET [RANGE...]): compiles a target's sources of one folder together whose names begin in one range of letters, such as
# a-c; without ranges those of one first letter. From nothing that takes less than half of the time: most of it is headers and templates that they
# share. So names in anonymous namespaces differ among those; a clash is an error of the compiler. Whoever changes one source often says
# -DPROF_UNITY=OFF, as the presets dev and lint do; clang-tidy looks at each source alone and so finds what one does not include. Sources
# with options or definitions of their own are always compiled alone.
option(PROF_UNITY "compile sources of a folder together" ON)
function(prof_unity target)
  if(NOT PROF_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME)
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(folder "${folder}" NAME)
    string(SUBSTRING ${name} 0 1 group)
    foreach(range ${ARGN})
      if(name MATCHES "^[${range}]")
        set(group ${range})
      endif()
    endforeach()
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # g++ takes each of them for a header, where it warns of classes that are made of what is in an anonymous namespace.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
