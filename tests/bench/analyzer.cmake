# Benchmarks of prof.
if(TARGET prof_analyzer)
  add_executable(analyzer_model_bench analyzer_model_bench.cpp)
  target_include_directories(analyzer_model_bench PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(analyzer_model_bench PRIVATE prof_analyzer prof_warnings)
endif()
