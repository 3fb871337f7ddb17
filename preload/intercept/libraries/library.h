// Calls of libraries on top of CUDA (library_api.def), recorded with PROF_LIBS=1. Which function does a call mean, and
// what are its arguments? Without PROF_LIBS, dlsym returns the real functions, and linked calls reach them in one jump.
// It runs in the program.
#pragma once

#include "preload/intercept/libraries/library_forms.h"

#include <atomic>
#include <cstdint>
#include <string_view>

namespace prof::preload {

enum class Library : uint8_t { Cublas, CublasLt, Cudnn, Cufft, Cusparse, Nccl };
inline constexpr uint32_t kLibraries = 6;

struct LibraryRow {
  const char* name;
  Library library;
  LibraryForm form;
  int16_t type;  // cudaDataType_t of the elements; kGivenType: an argument has it
};
inline constexpr int16_t kGivenType = -1;
extern const LibraryRow kLibraryRows[];

// Functions of the libraries that are called to query a call's objects. They read what the host knows and do nothing
// else.
struct LibraryGetters {
  std::atomic<bool> ready;
  std::atomic<int (*)(void*, int*)> cublas_math_mode, cublas_pointer_mode;
  std::atomic<int (*)(const void*, int, void*, size_t, size_t*)> lt_operation, lt_layout, lt_algorithm;
  // tensor: most dimensions, type, how many, sizes, strides; filter: most dimensions, type, order, how many, sizes
  std::atomic<int (*)(const void*, int, int*, int*, int*, int*)> tensor, filter;
  std::atomic<int (*)(void*, int*)> nccl_ranks, nccl_rank;
  std::atomic<int (*)(int*)> nccl_version;
  std::atomic<int (*)(void*, int*)> sparse_pointer_mode;
  std::atomic<int (*)(const void*, int*)> sparse_format, sparse_batch;
  // Rows, columns, non-zeros; three arrays; types of offsets and indices, index base, type of values. COO has indices
  // only.
  using Compressed = int(const void*, int64_t*, int64_t*, int64_t*, void**, void**, void**, int*, int*, int*, int*);
  using Coordinates = int(const void*, int64_t*, int64_t*, int64_t*, void**, void**, void**, int*, int*, int*);
  std::atomic<Compressed*> sparse_csr, sparse_csc;
  std::atomic<Coordinates*> sparse_coo;
  // dense_matrix: rows, columns, leading dimension, values, type, order; dense_batch: count and stride; dense_vector:
  // size, values, type
  std::atomic<int (*)(const void*, int64_t*, int64_t*, int64_t*, void**, int*, int*)> dense_matrix;
  std::atomic<int (*)(const void*, int*, int64_t*)> dense_batch;
  std::atomic<int (*)(const void*, int64_t*, void**, int*)> dense_vector;
};

// The argument words of a call. They are valid while the call runs.
struct LibraryArguments {
  const uint64_t* registers;
  const uint64_t* stack;
#if defined(__aarch64__)
  static constexpr int kInRegisters = 8;
#else
  static constexpr int kInRegisters = 6;
#endif
  uint64_t operator[](int n) const { return n < kInRegisters ? registers[n] : stack[n - kInRegisters]; }
  void* pointer(int n) const { return reinterpret_cast<void*>((*this)[n]); }
};

struct LibraryTimes {
  uint64_t begin, end;  // ticks
};

// The row of a name. -1: no row has it.
int library_row(const char* name);
// The thunk that replaces `found`, a function of that row that `caller` requested. Null: no thunk does, or calls are
// not recorded.
void* library_hook(uint32_t row, void* found, const void* caller);
bool is_library_thunk(const void* pointer);
// Whether a function of a library without versions is in the process, apart from libprof.so's own export.
bool library_has(uint32_t row);

}  // namespace prof::preload
