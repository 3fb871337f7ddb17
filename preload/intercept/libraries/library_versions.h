// The symbol versions of each library, one for each major release. A program binds to the version that it was linked
// with, so our exports have these versions (docs/library_calls.md). There are up to three; "" is none. A library whose
// only version is "" has no versions at all. The compiler, scripts/cmake/exports.py and scripts/check_library.py read
// this file.
#pragma once

#define PROF_LIBRARY_CUBLAS(X) X("libcublas.so.11", "libcublas.so.12", "libcublas.so.13")
#define PROF_LIBRARY_CUBLASLT(X) X("libcublasLt.so.11", "libcublasLt.so.12", "libcublasLt.so.13")
#define PROF_LIBRARY_CUDNN(X) X("libcudnn.so.8", "libcudnn.so.9", "")
#define PROF_LIBRARY_CUFFT(X) X("libcufft.so.10", "libcufft.so.11", "libcufft.so.12")
#define PROF_LIBRARY_CUSPARSE(X) X("libcusparse.so.11", "libcusparse.so.12", "")
#define PROF_LIBRARY_NCCL(X) X("", "", "")

// The library's file name. It finds a library that was opened with RTLD_LOCAL.
#define PROF_LIBRARY_FILE_CUBLAS "libcublas.so"
#define PROF_LIBRARY_FILE_CUBLASLT "libcublasLt.so"
#define PROF_LIBRARY_FILE_CUDNN "libcudnn.so"
#define PROF_LIBRARY_FILE_CUFFT "libcufft.so"
#define PROF_LIBRARY_FILE_CUSPARSE "libcusparse.so"
#define PROF_LIBRARY_FILE_NCCL "libnccl.so"
