# Finds the headers of the CUDA toolkit, CUPTI and NVTX3; a GPU, a driver or a CUDA library is not needed to build.
# Order: PROF_CUDA_INCLUDE, CUDAToolkit's usual places, /usr/local/cuda, Debian's packages, what scripts/setup unpacked.
find_path(PROF_CUDA_INCLUDE cuda.h
  HINTS $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include
  PATHS /usr/local/cuda/include /usr/include ${CMAKE_SOURCE_DIR}/build/cuda/include
  DOC "folder that holds cuda.h")
find_path(PROF_CUPTI_INCLUDE cupti.h
  HINTS ${PROF_CUDA_INCLUDE} ${PROF_CUDA_INCLUDE}/../extras/CUPTI/include ${CMAKE_SOURCE_DIR}/build/cuda/include
  DOC "folder that holds cupti.h")
find_path(PROF_NVTX_INCLUDE nvtx3/nvToolsExt.h
  HINTS ${PROF_CUDA_INCLUDE} ${CMAKE_SOURCE_DIR}/build/cuda/include
  DOC "folder that holds nvtx3/")
foreach(what CUDA CUPTI NVTX)
  if(NOT PROF_${what}_INCLUDE)
    message(FATAL_ERROR "headers of ${what} not found. Run scripts/setup, or pass -DPROF_${what}_INCLUDE=FOLDER")
  endif()
endforeach()
add_library(cuda_headers INTERFACE)
target_include_directories(cuda_headers SYSTEM INTERFACE ${PROF_CUDA_INCLUDE} ${PROF_CUPTI_INCLUDE} ${PROF_NVTX_INCLUDE})
