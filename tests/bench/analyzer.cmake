# Benchmarks of prof. Only scripts/bench builds them: no test needs them.
if(TARGET prof_analyzer)
  set(benches analyzer_model_bench kineto_import_bench report_bench shape_report_bench symbols_bench)
  add_custom_target(benchmarks DEPENDS ${benches})
  foreach(bench ${benches})
    add_executable(${bench} EXCLUDE_FROM_ALL ${bench}.cpp)
    target_include_directories(${bench} PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${bench} PRIVATE prof_analyzer prof_warnings)
  endforeach()
  configure_file(kineto_ranks_bench.py kineto_ranks_bench COPYONLY)  # runs prof on many traces of kineto_import_bench
  configure_file(pc_samples_bench.py pc_samples_bench COPYONLY)  # runs prof on a log of PC samples
  target_compile_definitions(symbols_bench PRIVATE PROF_BENCH_CXX="${CMAKE_CXX_COMPILER}")
  foreach(bench report_bench shape_report_bench)
    target_compile_definitions(${bench} PRIVATE PROF_BENCH_PROF="$<TARGET_FILE:prof>")
    add_dependencies(${bench} prof analyzer_model_bench kineto_import_bench)
  endforeach()
  # Makes the table of docs/ranks.md. It has no times, so scripts/bench does not build it.
  add_executable(rank_detection EXCLUDE_FROM_ALL rank_detection.cpp)
  target_include_directories(rank_detection PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(rank_detection PRIVATE prof_analyzer prof_warnings)
endif()
