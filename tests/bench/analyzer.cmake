# Benchmarks of prof.
if(TARGET prof_analyzer)
  foreach(bench analyzer_model_bench kineto_import_bench)
    add_executable(${bench} ${bench}.cpp)
    target_include_directories(${bench} PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${bench} PRIVATE prof_analyzer prof_warnings)
  endforeach()
endif()
