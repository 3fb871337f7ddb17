// Calls of libraries on top of CUDA (library_api.def), recorded with PROF_LIBS=1: which function a call means, and what it was asked
// for. Without PROF_LIBS dlsym answers with the functions themselves and what is linked gets there in one jump. In the program.
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
  int16_t type;  // cudaDataType_t of the elements; kGivenType: the arguments say
};
inline constexpr int16_t kGivenType = -1;
extern const LibraryRow kLibraryRows[];

// Functions of the libraries themselves that are asked about a call: they read what the host knows and do nothing else.
struct LibraryGetters {
  std::atomic<bool> ready;
  std::atomic<int (*)(void*, int*)> cublas_math_mode, cublas_pointer_mode;
  std::atomic<int (*)(const void*, int, void*, size_t, size_t*)> lt_operation, lt_layout, lt_algorithm;
  // most dimensions, type, how many, sizes, distances; most, type, order, how many, sizes
  std::atomic<int (*)(const void*, int, int*, int*, int*, int*)> tensor, filter;
  std::atomic<int (*)(void*, int*)> nccl_ranks, nccl_rank;
  std::atomic<int (*)(void*, int*)> sparse_pointer_mode;
  std::atomic<int (*)(const void*, int*)> sparse_format, sparse_batch;
  // rows, columns, non-zeros; three arrays; types of offsets and indices, base, type of values. COO has indices only.
  using Compressed = int(const void*, int64_t*, int64_t*, int64_t*, void**, void**, void**, int*, int*, int*, int*);
  using Coordinates = int(const void*, int64_t*, int64_t*, int64_t*, void**, void**, void**, int*, int*, int*);
  std::atomic<Compressed*> sparse_csr, sparse_csc;
  std::atomic<Coordinates*> sparse_coo;
  // rows, columns, leading dimension, values, type, order; how many there are and their distance; size, values, type
  std::atomic<int (*)(const void*, int64_t*, int64_t*, int64_t*, void**, int*, int*)> dense_matrix;
  std::atomic<int (*)(const void*, int*, int64_t*)> dense_batch;
  std::atomic<int (*)(const void*, int64_t*, void**, int*)> dense_vector;
};

// The argument words of a call, for as long as it lasts.
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

// The row of a name; -1: it is none.
int library_row(const char* name);
// What stands for `found`, a function of that row that `caller` asked for; null: nothing does, or nothing is asked for.
void* library_hook(uint32_t row, void* found, const void* caller);
bool is_library_thunk(const void* pointer);
// Whether a function of a library without versions is anywhere in the process but here.
bool library_has(uint32_t row);

}  // namespace prof::preload
