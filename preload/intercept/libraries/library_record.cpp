// What does a library call compute, as the label of its record? This file covers products of cuBLAS and cuBLASLt and
// collectives of NCCL. Sizes are in the arguments (cuBLAS, NCCL) or in descriptors (cuBLASLt). The library's own
// getters read descriptors and take 10 ns each. A layout or algorithm is therefore first searched by its 64 bytes, and
// queried only if they are new.
#include "preload/intercept/libraries/library_record.h"

#include "preload/intercept/libraries/library_collectives.h"
#include "preload/intercept/libraries/library_fft.h"
#include "preload/intercept/libraries/library_record_dnn.h"
#include "preload/intercept/libraries/library_record_sparse.h"
#include "preload/intercept/libraries/library_text.h"

namespace prof::preload {

namespace {

constexpr Named kComputeTypes[] = {{64, "16f"},
                                   {65, "16f_pedantic"},
                                   {68, "32f"},
                                   {69, "32f_pedantic"},
                                   {70, "64f"},
                                   {71, "64f_pedantic"},
                                   {72, "32i"},
                                   {73, "32i_pedantic"},
                                   {74, "32f_fast_16f"},
                                   {75, "32f_fast_16bf"},
                                   {77, "32f_fast_tf32"},
                                   {78, "32f_emulated_16bfx9"},
                                   {79, "64f_emulated_fixedpoint"}};
constexpr Named kMathModes[] = {{0, "default"}, {1, "tensor_op"}, {2, "pedantic"},
                                {3, "tf32"},    {4, "bf16x9"},    {8, "fp64_fixedpoint"}};
uint64_t size_of(const LibraryForm& form, const LibraryArguments& arguments, int at) {
  const uint64_t word = arguments[at];
  return form.wide ? word : static_cast<uint64_t>(int64_t{static_cast<int32_t>(word)});
}

constexpr uint32_t kUnknown = 0xff;

// The cudaDataType_t of the factors of a product. It is complex if the result is complex (table in cuBLAS' manual,
// "cublasGemmEx").
uint32_t scale_type(uint32_t compute, bool complex) {
  switch (compute) {
    case 64:
    case 65: return complex ? kUnknown : 2;
    case 70:
    case 71:
    case 79: return complex ? 5 : 1;
    case 72:
    case 73: return complex ? kUnknown : 10;
    case 68:
    case 69:
    case 74:
    case 75:
    case 77:
    case 78: return complex ? 4 : 0;
    default: return kUnknown;
  }
}

// The compute type of functions without such an argument. Products with a vector never compute in fp16.
uint32_t compute_of(const LibraryRow& row) {
  if (row.form.k < 0 && row.type == 2) return 68;
  switch (row.type) {
    case 1:
    case 5: return 70;
    case 2: return 64;
    default: return 68;
  }
}

constexpr Named kSides[] = {{0, "L"}, {1, "R"}};
constexpr Named kFills[] = {{0, "L"}, {1, "U"}, {2, "full"}};
constexpr Named kDiagonals[] = {{0, "N"}, {1, "U"}};

// Any product of cuBLAS. What its form does not have is not written. A product with a vector has one transpose and no
// k.
void record_gemm(const Recorded& call, const LibraryArguments& a, const LibraryGetters& getters) {
  const LibraryForm& form = call.row.form;
  const auto size = [&](int at, uint64_t otherwise) { return at >= 0 ? size_of(form, a, at) : otherwise; };
  const uint64_t m = size(form.m, 0), n = size(form.n, 0), k = size(form.k, 0), batch = size(form.batch, 1);
  const auto type = [&](int at) { return at >= 0 ? a[at] & 0xff : static_cast<uint64_t>(call.row.type); };
  const uint64_t types = type(form.type_a) | type(form.type_b) << 8 |
                         (form.result >= 0 ? static_cast<uint64_t>(form.result) : type(form.type_c)) << 16;
  const auto choice = [&](int at) { return at >= 0 ? a[at] & 3 : 0; };
  const uint64_t choices = choice(form.transpose_a) | choice(form.transpose_b) << 2 | choice(form.side) << 4 |
                           choice(form.fill) << 6 | choice(form.diagonal) << 8;
  const uint32_t compute = form.compute >= 0 ? static_cast<uint32_t>(a[form.compute]) : compute_of(call.row);
  const bool shared_a = form.stride_a >= 0 && a[form.stride_a] == 0,
             shared_b = form.stride_b >= 0 && a[form.stride_b] == 0;
  int math = -1, host = -1;
  if (call.status == 0) {
    if (const auto get = getters.cublas_math_mode.load(std::memory_order_relaxed);
        get != nullptr && get(a.pointer(0), &math) != 0)
      math = -1;
    if (const auto get = getters.cublas_pointer_mode.load(std::memory_order_relaxed);
        form.beta >= 0 && get != nullptr && get(a.pointer(0), &host) != 0)
      host = -1;
  }
  const bool complex = is_complex(types >> 16 & 0xff) && !form.real_beta;
  const Beta beta = host == 0 ? beta_of(a.pointer(form.beta), scale_type(compute, complex)) : Beta::Unknown;
  const uint64_t small = types | uint64_t{shared_a} << 28 | uint64_t{shared_b} << 29 |
                         static_cast<uint64_t>(beta) << 30 | uint64_t{static_cast<uint8_t>(math)} << 32 |
                         uint64_t{compute & 0xffff} << 40;
  const uint64_t algorithm = form.algorithm >= 0 ? a[form.algorithm] & 0xffffffff : 0;
  const uint64_t key = mix(mix(m, n), mix(k, batch)) + mix(small, algorithm | choices << 32);
  call.as(key, [&](CallText& text) {
    const auto option = [&](std::string_view name, int at, const auto& names) {
      if (at >= 0) add_named(text, name, a[at], names);
    };
    option("side", form.side, kSides);
    option("uplo", form.fill, kFills);
    option(form.transpose_b >= 0 ? "transa" : "trans", form.transpose_a, kTransposes);
    option("transb", form.transpose_b, kTransposes);
    option("diag", form.diagonal, kDiagonals);
    if (form.m >= 0) text.size("m", m);
    text.size("n", n);
    if (form.k >= 0) text.size("k", k);
    if (form.batch >= 0) text.size("batch", batch);
    if (form.products != 1) text.size("products", static_cast<uint64_t>(form.products));
    add_named(text, "A", types & 0xff, kCudaTypes);
    if (form.has_b) add_named(text, "B", types >> 8 & 0xff, kCudaTypes);
    if (form.has_c) add_named(text, "C", types >> 16 & 0xff, kCudaTypes);
    add_named(text, "compute", compute, kComputeTypes);
    if (math >= 0) add_named(text, "math", static_cast<uint32_t>(math) & 15, kMathModes);
    if (shared_a) text.value("strideA", "0");
    if (shared_b) text.value("strideB", "0");
    add_beta(text, beta);
    // -1 (CUBLAS_GEMM_DEFAULT) and 99 (CUBLAS_GEMM_DEFAULT_TENSOR_OP) leave the choice to the library.
    const auto chosen = static_cast<int32_t>(algorithm);
    if (form.algorithm >= 0 && chosen >= 0 && chosen != 99)
      text.value("algorithm", uint64_t{static_cast<uint32_t>(chosen)});
  });
}

// cublasLtMatmulDescAttributes_t, cublasLtMatrixLayoutAttribute_t
enum LtOperation { kCompute = 0, kScale = 1, kPointerMode = 2, kTransA = 3, kTransB = 4 };
enum LtLayout { kType = 0, kRows = 2, kColumns = 3, kBatch = 5, kBatchStride = 6 };
// cublasLtMatmulAlgoConfigAttributes_t and our names for them. Only cuBLASLt knows the meaning of their values.
constexpr Named kLtChoices[] = {{0, "algorithm"}, {1, "tile"}, {6, "stages"}, {2, "splitk"}};

class LtCall {
 public:
  LtCall(const LibraryArguments& a, const LibraryGetters& getters)
      : operation_(getters.lt_operation.load(std::memory_order_relaxed)),
        layout_(getters.lt_layout.load(std::memory_order_relaxed)),
        algorithm_(getters.lt_algorithm.load(std::memory_order_relaxed)),
        descriptor_(a.pointer(1)) {}
  bool can_ask() const { return operation_ != nullptr && layout_ != nullptr && descriptor_ != nullptr; }
  uint32_t operation(LtOperation what, uint32_t otherwise) const {
    uint32_t value = 0;
    size_t written = 0;
    return operation_(descriptor_, what, &value, sizeof value, &written) == 0 ? value : otherwise;
  }
  template <class T> T layout(const void* of, LtLayout what, T otherwise) const {
    T value{};
    size_t written = 0;
    return layout_(of, what, &value, sizeof value, &written) == 0 ? value : otherwise;
  }

  // Whether the algorithm has this attribute.
  bool algorithm(const void* of, uint32_t what, uint32_t& value) const {
    size_t written = 0;
    return algorithm_ != nullptr && algorithm_(of, static_cast<int>(what), &value, sizeof value, &written) == 0;
  }

 private:
  using Getter = int (*)(const void*, int, void*, size_t, size_t*);
  Getter operation_, layout_, algorithm_;
  const void* descriptor_;
};

// cublasLtMatrixLayoutOpaque_t and cublasLtMatmulAlgo_t are eight words in every release.
uint64_t hash_words(const void* opaque) {
  uint64_t words[8];
  std::memcpy(words, opaque, sizeof words);
  return mix(words[0], words[1]) + 3 * mix(words[2], words[3]) + 5 * mix(words[4], words[5]) +
         7 * mix(words[6], words[7]);
}

void record_lt_matmul(const Recorded& call, const LibraryArguments& a, const LibraryGetters& getters) {
  const LtCall lt(a, getters);
  const void *const layout_a = a.pointer(4), *const layout_b = a.pointer(6), *const layout_d = a.pointer(11),
                    *const algorithm = a.pointer(12);  // null: cuBLASLt chooses
  // The arguments of a failed call may be invalid.
  if (call.status != 0 || !lt.can_ask() || layout_a == nullptr || layout_b == nullptr || layout_d == nullptr) {
    call.as(0, [](CallText&) {});
    return;
  }
  const uint32_t compute = lt.operation(kCompute, kUnknown), transpose_a = lt.operation(kTransA, kUnknown),
                 transpose_b = lt.operation(kTransB, kUnknown), pointers = lt.operation(kPointerMode, kUnknown);
  const Beta beta = pointers == 0 ? beta_of(a.pointer(7), lt.operation(kScale, kUnknown)) : Beta::Unknown;
  const uint64_t small = uint64_t{compute} | uint64_t{transpose_a} << 16 | uint64_t{transpose_b} << 24 |
                         static_cast<uint64_t>(beta) << 32 | uint64_t{1} << 40;
  const uint64_t key = mix(hash_words(layout_a), hash_words(layout_b) ^ small) + hash_words(layout_d) +
                       (algorithm != nullptr ? mix(hash_words(algorithm), 1) : 0);
  call.as(key, [&](CallText& text) {
    const uint64_t none = UINT64_MAX;  // written as "?"
    const bool flipped = transpose_a == 1 || transpose_a == 2;
    add_named(text, "transa", transpose_a, kTransposes);
    add_named(text, "transb", transpose_b, kTransposes);
    text.size("m", lt.layout(layout_d, kRows, none));
    text.size("n", lt.layout(layout_d, kColumns, none));
    text.size("k", lt.layout(layout_a, flipped ? kRows : kColumns, none));
    const auto batch = lt.layout<uint32_t>(layout_d, kBatch, UINT32_MAX);
    if (batch != 1) text.size("batch", batch == UINT32_MAX ? none : batch);
    add_named(text, "A", lt.layout<uint32_t>(layout_a, kType, kUnknown), kCudaTypes);
    add_named(text, "B", lt.layout<uint32_t>(layout_b, kType, kUnknown), kCudaTypes);
    add_named(text, "C", lt.layout<uint32_t>(layout_d, kType, kUnknown), kCudaTypes);
    add_named(text, "compute", compute, kComputeTypes);
    if (batch != 1 && lt.layout<uint64_t>(layout_a, kBatchStride, 1) == 0) text.value("strideA", "0");
    if (batch != 1 && lt.layout<uint64_t>(layout_b, kBatchStride, 1) == 0) text.value("strideB", "0");
    add_beta(text, beta);
    if (algorithm == nullptr) return;
    for (const Named& choice : kLtChoices) {
      uint32_t value = 0;
      if (lt.algorithm(algorithm, choice.number, value)) text.value(choice.name, uint64_t{value});
    }
  });
}

}  // namespace

void record_library_call(uint32_t row, const LibraryArguments& arguments, const LibraryGetters& getters,
                         uintptr_t library, LibraryTimes times, uint32_t status) {
  const Recorded call = {kLibraryRows[row], times, status};
  switch (call.row.form.family) {
    case Family::Gemm: return record_gemm(call, arguments, getters);
    case Family::LtMatmul: return record_lt_matmul(call, arguments, getters);
    case Family::Collective: return record_collective(call, arguments, getters);
    case Family::Convolution: return record_convolution(call, arguments, getters);
    case Family::PlanExecute: return record_plan(call, arguments);
    case Family::SparseMatrix:
    case Family::SparseVector:
    case Family::SampledProduct: return record_sparse(call, arguments, getters);
    case Family::FftExec: return record_fft(call, arguments, library);
    default: return call.as(0, [](CallText&) {});
  }
}

}  // namespace prof::preload
