// The symbol versions that each library has had, one a major release: a program binds to the version it was linked with, so our
// exports have these (docs/library_calls.md). Up to three; "" is none. A library whose only one is "" has no versions at all.
// Read by the compiler and by scripts/cmake/exports.py and scripts/check_library.py.
#pragma once

#define PROF_LIBRARY_CUBLAS(X) X("libcublas.so.11", "libcublas.so.12", "libcublas.so.13")
#define PROF_LIBRARY_CUBLASLT(X) X("libcublasLt.so.11", "libcublasLt.so.12", "libcublasLt.so.13")
#define PROF_LIBRARY_CUDNN(X) X("libcudnn.so.8", "libcudnn.so.9", "")
#define PROF_LIBRARY_CUFFT(X) X("libcufft.so.10", "libcufft.so.11", "libcufft.so.12")
#define PROF_LIBRARY_CUSPARSE(X) X("libcusparse.so.11", "libcusparse.so.12", "")
#define PROF_LIBRARY_NCCL(X) X("", "", "")

// Its file, for finding one that was opened for its opener alone.
#define PROF_LIBRARY_FILE_CUBLAS "libcublas.so"
#define PROF_LIBRARY_FILE_CUBLASLT "libcublasLt.so"
#define PROF_LIBRARY_FILE_CUDNN "libcudnn.so"
#define PROF_LIBRARY_FILE_CUFFT "libcufft.so"
#define PROF_LIBRARY_FILE_CUSPARSE "libcusparse.so"
#define PROF_LIBRARY_FILE_NCCL "libnccl.so"
