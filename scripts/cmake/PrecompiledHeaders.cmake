# prof_precompile(TARGET HEADER...): compiles what most sources of a target include once, where sanitizers make the build slow.
# Only there: the release build shows that every source includes what it uses.
function(prof_precompile target)
  if(PROF_SANITIZE)
    list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()
