# Finds the headers of the CUDA toolkit, CUPTI and NVTX3. The build needs no GPU, no driver and no CUDA library. Search
# order: PROF_CUDA_INCLUDE, the folder that scripts/setup unpacked (only if no toolkit is new enough), CUDA_HOME,
# CUDA_PATH, /usr/local/cuda, the distribution's packages.
set(unpacked ${PROJECT_SOURCE_DIR}/build/cuda)
if(CMAKE_CROSSCOMPILING)
  set(unpacked ${PROJECT_SOURCE_DIR}/build/aarch64-cuda)  # NVIDIA's wheels for sbsa
endif()
set(roots ${unpacked} $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda)
list(TRANSFORM roots APPEND /include OUTPUT_VARIABLE includes)
find_path(PROF_CUDA_INCLUDE cuda.h
  PATHS ${includes} /usr/include NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH DOC "folder that holds cuda.h")
find_path(PROF_CUPTI_INCLUDE cupti.h
  PATHS ${PROF_CUDA_INCLUDE} ${PROF_CUDA_INCLUDE}/../extras/CUPTI/include ${includes} /usr/include
  NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH DOC "folder that holds cupti.h")
find_path(PROF_NVTX_INCLUDE nvtx3/nvToolsExt.h
  PATHS ${PROF_CUDA_INCLUDE} ${includes} /usr/include NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH
  DOC "folder that holds nvtx3/")
foreach(what CUDA CUPTI NVTX)
  if(NOT PROF_${what}_INCLUDE)
    message(FATAL_ERROR "headers of ${what} not found. Run scripts/setup, or pass -DPROF_${what}_INCLUDE=FOLDER")
  endif()
endforeach()

file(STRINGS ${PROF_CUDA_INCLUDE}/cuda.h version REGEX "^#define CUDA_VERSION [0-9]+")
string(REGEX MATCH "[0-9]+" version "${version}")
if(version LESS 13000)
  message(FATAL_ERROR "${PROF_CUDA_INCLUDE}/cuda.h is of CUDA ${version}; 13000 or newer is needed. Run scripts/setup, "
                      "which unpacks newer headers in build/cuda, and configure in a new folder.")
endif()

add_library(cuda_headers INTERFACE)
# -isystem /usr/include would come before libstdc++'s own headers and break its #include_next.
set(dirs ${PROF_CUDA_INCLUDE} ${PROF_CUPTI_INCLUDE} ${PROF_NVTX_INCLUDE})
list(REMOVE_ITEM dirs /usr/include)
target_include_directories(cuda_headers SYSTEM INTERFACE ${dirs})

# The real static CUDA runtime, for the test that runs it on the simulated driver. Otherwise not needed.
find_library(PROF_CUDART_STATIC NAMES libcudart_static.a
  PATHS ${PROF_CUDA_INCLUDE}/../lib64 ${PROF_CUDA_INCLUDE}/../lib ${unpacked}/lib NO_DEFAULT_PATH
  NO_CMAKE_FIND_ROOT_PATH DOC "libcudart_static.a")
