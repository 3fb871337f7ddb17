# GPU activity on the simulated GPU. Included by this folder's CMakeLists.txt.
add_executable(gpu_program programs/gpu_program.cpp)
target_include_directories(gpu_program PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(gpu_program PRIVATE sim_cuda cuda_headers prof_warnings Threads::Threads ${CMAKE_DL_LIBS})

add_executable(e2e_gpu_activity gpu_activity_test.cpp)
target_include_directories(e2e_gpu_activity PRIVATE ${CMAKE_SOURCE_DIR})
target_compile_definitions(e2e_gpu_activity PRIVATE PROF_BINARY_DIR="${CMAKE_BINARY_DIR}"
                                                    PROF_GPU_PROGRAM="$<TARGET_FILE:gpu_program>")
target_link_libraries(e2e_gpu_activity PRIVATE GTest::gtest_main prof_warnings)
add_dependencies(e2e_gpu_activity gpu_program sim_cupti prof_preload)
gtest_discover_tests(e2e_gpu_activity TEST_PREFIX e2e. DISCOVERY_MODE PRE_TEST)
