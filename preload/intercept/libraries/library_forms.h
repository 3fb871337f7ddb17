// Which argument of a library function is what. Arguments are words: the n-th is in a register or behind the others on the stack,
// whatever its type, because no function of the table has one in a floating point register. In the program.
#pragma once

#include <cstdint>

namespace prof::preload {

// Of what makes and describes objects, the second half, nothing is recorded: it is noted for the calls that use them.
enum class Family : uint8_t {
  NameOnly,
  Gemm,
  LtMatmul,
  Collective,
  FftExec,
  SparseMatrix,
  SparseVector,
  SampledProduct,
  Convolution,
  PlanExecute,
  DescriptorSet,
  DescriptorAsked,
  DescriptorGone,
  TensorSet,
  TensorsChanged,
  FftPlan,
  FftGone
};

constexpr bool only_noted(Family family) { return family >= Family::DescriptorSet; }

// -1: the function has no such argument.
struct LibraryForm {
  Family family = Family::NameOnly;
  bool wide = false;  // sizes are 64 bits
  int16_t transpose_a = -1, transpose_b = -1, m = -1, n = -1, k = -1;
  int16_t type_a = -1, type_b = -1, type_c = -1, stride_a = -1, stride_b = -1, beta = -1, batch = -1;
  int16_t compute = -1, algorithm = -1, result = -1;  // result: its cudaDataType_t, where it differs
  int16_t side = -1, fill = -1, diagonal = -1;        // of a symmetric or triangular matrix
  int16_t products = 1;                               // added up into the result
  bool has_b = true, has_c = true;                    // without C the result takes the place of B
  bool real_beta = false;                             // where all else is complex
  int16_t count = -1, type = -1, operation = -1, peer = -1, communicator = -1;
  int16_t sizes = -1,
          rank =
              0;  // where sizes begin, and how many; 0: the argument before is their number, and they are in an array
  int16_t operand_a = -1, operand_b = -1, operand_c = -1;  // descriptors of what is multiplied, and of the result
  int16_t product = 0;                                     // PlanOperation of a convolution
  bool fused = false;                                      // with other operations, however many
  bool makes = false;  // the object is made and stored where the first argument points
};

namespace form {

// (handle, transposes, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc) and its batched kinds; Ex: each matrix is followed by its type.
inline constexpr LibraryForm kGemmBase = {
    .family = Family::Gemm, .transpose_a = 1, .transpose_b = 2, .m = 3, .n = 4, .k = 5};
constexpr LibraryForm with(LibraryForm form, int16_t beta, int16_t batch, int16_t stride_a = -1,
                           int16_t stride_b = -1) {
  form.beta = beta;
  form.batch = batch;
  form.stride_a = stride_a;
  form.stride_b = stride_b;
  return form;
}
constexpr LibraryForm typed(LibraryForm form, int16_t a, int16_t b, int16_t c, int16_t compute = -1,
                            int16_t algorithm = -1) {
  form.type_a = a;
  form.type_b = b;
  form.type_c = c;
  form.compute = compute;
  form.algorithm = algorithm;
  return form;
}
constexpr LibraryForm wide(LibraryForm form) {
  form.wide = true;
  return form;
}

inline constexpr LibraryForm kNameOnly = {};
inline constexpr LibraryForm kGemm = with(kGemmBase, 11, -1), kGemm64 = wide(kGemm);
inline constexpr LibraryForm kGemmStrided = with(kGemmBase, 13, 17, 9, 12), kGemmStrided64 = wide(kGemmStrided);
inline constexpr LibraryForm kGemmBatched = with(kGemmBase, 11, 14), kGemmBatched64 = wide(kGemmBatched);
inline constexpr LibraryForm kGemmTyped = typed(with(kGemmBase, 13, -1), 8, 11, 15), kGemmTyped64 = wide(kGemmTyped);
inline constexpr LibraryForm kGemmEx = typed(with(kGemmBase, 13, -1), 8, 11, 15, 17, 18), kGemmEx64 = wide(kGemmEx);
inline constexpr LibraryForm kGemmStridedEx = typed(with(kGemmBase, 15, 20, 10, 14), 8, 12, 17, 21, 22);
inline constexpr LibraryForm kGemmStridedEx64 = wide(kGemmStridedEx);
inline constexpr LibraryForm kGemmBatchedEx = typed(with(kGemmBase, 13, 17), 8, 11, 15, 18, 19);
inline constexpr LibraryForm kGemmBatchedEx64 = wide(kGemmBatchedEx);

// (handle, transpose, m, n, alpha, A, lda, x, incx, beta, y, incy) and its batched kinds.
inline constexpr LibraryForm kGemvBase = {.family = Family::Gemm, .transpose_a = 1, .m = 2, .n = 3};
inline constexpr LibraryForm kGemv = with(kGemvBase, 9, -1), kGemv64 = wide(kGemv);
inline constexpr LibraryForm kGemvStrided = with(kGemvBase, 11, 15, 7, 10), kGemvStrided64 = wide(kGemvStrided);
inline constexpr LibraryForm kGemvBatched = with(kGemvBase, 9, 12), kGemvBatched64 = wide(kGemvBatched);
constexpr LibraryForm to_fp32(LibraryForm form) {
  form.result = 0;
  return form;
}
inline constexpr LibraryForm kGemvStridedToFp32 = to_fp32(kGemvStrided), kGemvBatchedToFp32 = to_fp32(kGemvBatched);
inline constexpr LibraryForm kGemvStridedToFp32Wide = wide(kGemvStridedToFp32);
inline constexpr LibraryForm kGemvBatchedToFp32Wide = wide(kGemvBatchedToFp32);

// Symmetric: (handle, side, fill, m, n, alpha, A, lda, B, ldb, beta, C, ldc). Rank k: (handle, fill, transpose, n, k, alpha, A, lda, [B, ldb,]
// beta, C, ldc). Triangular: (handle, side, fill, transpose, diagonal, m, n, alpha, A, lda, B, ldb, [C, ldc] or [batch]).
inline constexpr LibraryForm kSymm = {.family = Family::Gemm, .m = 3, .n = 4, .beta = 10, .side = 1, .fill = 2};
inline constexpr LibraryForm kSyrkx = {.family = Family::Gemm, .transpose_a = 2, .n = 3, .k = 4, .beta = 10, .fill = 1};
inline constexpr LibraryForm kTrmm = {
    .family = Family::Gemm, .transpose_a = 3, .m = 5, .n = 6, .side = 1, .fill = 2, .diagonal = 4};
constexpr LibraryForm without_b(LibraryForm form, int16_t beta) {
  form.has_b = false;
  form.beta = beta;
  return form;
}
constexpr LibraryForm twice(LibraryForm form) {
  form.products = 2;
  return form;
}
constexpr LibraryForm real_beta(LibraryForm form) {
  form.real_beta = true;
  return form;
}
constexpr LibraryForm in_place(LibraryForm form, int16_t batch = -1) {
  form.has_c = false;
  form.batch = batch;
  return form;
}
inline constexpr LibraryForm kSyrk = without_b(kSyrkx, 8), kSyr2k = twice(kSyrkx);
inline constexpr LibraryForm kHerk = real_beta(kSyrk), kHer2k = real_beta(kSyr2k), kHerkx = real_beta(kSyrkx);
inline constexpr LibraryForm kTrsm = in_place(kTrmm), kTrsmBatched = in_place(kTrmm, 12);
inline constexpr LibraryForm kSymm64 = wide(kSymm), kSyrk64 = wide(kSyrk), kSyr2k64 = wide(kSyr2k);
inline constexpr LibraryForm kSyrkx64 = wide(kSyrkx), kHerk64 = wide(kHerk), kHer2k64 = wide(kHer2k);
inline constexpr LibraryForm kHerkx64 = wide(kHerkx), kTrmm64 = wide(kTrmm), kTrsm64 = wide(kTrsm);
inline constexpr LibraryForm kTrsmBatched64 = wide(kTrsmBatched);

// (handle, operation, alpha, A, its layout, B, its layout, beta, C, its layout, D, its layout, algorithm …)
inline constexpr LibraryForm kLtMatmul = {.family = Family::LtMatmul};

inline constexpr LibraryForm kAllReduce = {
    .family = Family::Collective, .count = 2, .type = 3, .operation = 4, .communicator = 5};
inline constexpr LibraryForm kReduceScatter = kAllReduce;
inline constexpr LibraryForm kReduce = {
    .family = Family::Collective, .count = 2, .type = 3, .operation = 4, .peer = 5, .communicator = 6};
inline constexpr LibraryForm kAllGather = {.family = Family::Collective, .count = 2, .type = 3, .communicator = 4};
inline constexpr LibraryForm kBroadcast = {
    .family = Family::Collective, .count = 2, .type = 3, .peer = 4, .communicator = 5};
inline constexpr LibraryForm kBcast = {
    .family = Family::Collective, .count = 1, .type = 2, .peer = 3, .communicator = 4};
inline constexpr LibraryForm kPointToPoint = kBcast;

// (handle, alpha, two operands and their descriptors, the convolution, algorithm …): x, w and y of a convolution or of a gradient, as in plans.
constexpr LibraryForm convolution(int16_t product, int16_t x, int16_t w, int16_t y) {
  LibraryForm form = {.family = Family::Convolution};
  form.product = product;
  form.operand_a = x;
  form.operand_b = w;
  form.operand_c = y;
  form.algorithm = 7;
  return form;
}
constexpr LibraryForm fused(LibraryForm form) {
  form.fused = true;
  return form;
}
inline constexpr LibraryForm kConvForward = convolution(1, 2, 4, 11);
inline constexpr LibraryForm kConvFused = fused(convolution(1, 2, 4, 16));
inline constexpr LibraryForm kConvInputGradient = convolution(2, 11, 2, 4);
inline constexpr LibraryForm kConvWeightGradient = convolution(3, 2, 11, 4);

// (handle, plan, tensors), (descriptor, attribute, type, count, elements), (descriptor, attribute, type, count, given, elements)
inline constexpr LibraryForm kPlanExecute = {.family = Family::PlanExecute};
inline constexpr LibraryForm kDescriptorSet = {.family = Family::DescriptorSet};
inline constexpr LibraryForm kDescriptorAsked = {.family = Family::DescriptorAsked};
inline constexpr LibraryForm kDescriptorGone = {.family = Family::DescriptorGone};

// (descriptor, type and format, sizes …): a tensor's or filter's; Nd: how many sizes, and an array of them. Others end descriptors or
// change them, whose arguments those are.
constexpr LibraryForm tensor_set(int16_t type, int16_t sizes, int16_t rank) {
  LibraryForm form = {.family = Family::TensorSet};
  form.type = type;
  form.sizes = sizes;
  form.rank = rank;
  return form;
}
constexpr LibraryForm tensors_changed(int16_t a, int16_t b = -1, int16_t c = -1) {
  LibraryForm form = {.family = Family::TensorsChanged};
  form.operand_a = a;
  form.operand_b = b;
  form.operand_c = c;
  return form;
}
inline constexpr LibraryForm kTensor4d = tensor_set(2, 3, 4), kTensor4dEx = tensor_set(1, 2, 4);
inline constexpr LibraryForm kTensorNd = tensor_set(1, 3, 0), kTensorNdEx = tensor_set(2, 4, 0);
inline constexpr LibraryForm kFilter4d = tensor_set(1, 3, 4), kFilterNd = tensor_set(1, 4, 0);
inline constexpr LibraryForm kTensorGone = tensors_changed(0), kTensorsDerived = tensors_changed(0, 1);
inline constexpr LibraryForm kTensorOfTransform = tensors_changed(2), kTensorOfAttention = tensors_changed(5);
inline constexpr LibraryForm kTensorsOfRnn = tensors_changed(6, 8), kTensorOfOlderRnn = tensors_changed(7);
inline constexpr LibraryForm kTensorsFolded = tensors_changed(6, 7, 9);

// (plan, sizes …, type, batch): the first makes the plan; Many: (plan, rank, sizes, input's layout, output's layout, type, batch).
constexpr LibraryForm fft_plan(int16_t sizes, int16_t rank, int16_t type, int16_t batch) {
  LibraryForm form = {.family = Family::FftPlan};
  form.sizes = sizes;
  form.rank = rank;
  form.type = type;
  form.batch = batch;
  return form;
}
constexpr LibraryForm makes(LibraryForm form) {
  form.makes = true;
  return form;
}
inline constexpr LibraryForm kFftMake1d = fft_plan(1, 1, 2, 3), kFftPlan1d = makes(kFftMake1d);
inline constexpr LibraryForm kFftMake2d = fft_plan(1, 2, 3, -1), kFftPlan2d = makes(kFftMake2d);
inline constexpr LibraryForm kFftMake3d = fft_plan(1, 3, 4, -1), kFftPlan3d = makes(kFftMake3d);
inline constexpr LibraryForm kFftMakeMany = fft_plan(2, 0, 9, 10), kFftPlanMany = makes(kFftMakeMany);
inline constexpr LibraryForm kFftMakeMany64 = wide(kFftMakeMany);
inline constexpr LibraryForm kFftMakeTyped = wide(typed(fft_plan(2, 0, -1, 11), 6, -1, 10));
inline constexpr LibraryForm kFftGone = {.family = Family::FftGone};
// (plan, input, output, direction)
inline constexpr LibraryForm kFftExec = {.family = Family::FftExec},
                             kFftExecBoth = {.family = Family::FftExec, .operation = 3};

// (handle, transposes, alpha, A, B, beta, C, compute, algorithm …); of a vector without the second transpose.
constexpr LibraryForm sparse(Family family, int16_t alpha) {
  LibraryForm form = {.family = family, .transpose_a = 1};
  form.operand_a = static_cast<int16_t>(alpha + 1);
  form.operand_b = static_cast<int16_t>(alpha + 2);
  form.beta = static_cast<int16_t>(alpha + 3);
  form.operand_c = static_cast<int16_t>(alpha + 4);
  form.compute = static_cast<int16_t>(alpha + 5);
  form.algorithm = static_cast<int16_t>(alpha + 6);
  if (alpha == 3) form.transpose_b = 2;
  return form;
}
inline constexpr LibraryForm kSparseMatrix = sparse(Family::SparseMatrix, 3);
inline constexpr LibraryForm kSparseVector = sparse(Family::SparseVector, 2);
inline constexpr LibraryForm kSampledProduct = sparse(Family::SampledProduct, 3);

}  // namespace form
}  // namespace prof::preload
