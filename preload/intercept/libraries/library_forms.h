// Which meaning has each argument of a library function? An argument is one word. The n-th is in a register or on the
// stack, whatever its type. No function of the table takes an argument in a floating-point register. It is used in the
// program.
#pragma once

#include <cstdint>

namespace prof::preload {

// From DescriptorSet on, calls make, describe or destroy objects. They are not recorded. Their arguments are noted for
// the calls that use these objects.
enum class Family : uint8_t {
  NameOnly,
  Gemm,
  LtMatmul,
  Collective,
  CommunicatorByRank,  // from here on, calls that make communicators
  CommunicatorByIds,
  CommunicatorSplit,
  CommunicatorsHere,
  CommunicatorEnded,
  FftExec,
  SparseMatrix,
  SparseVector,
  SampledProduct,
  Convolution,
  PlanExecute,
  DescriptorSet,
  DescriptorQueried,
  DescriptorDestroyed,
  TensorSet,
  TensorsChanged,
  FftPlan,
  FftDestroyed
};

constexpr bool is_of_communicators(Family family) {
  return family >= Family::CommunicatorByRank && family <= Family::CommunicatorEnded;
}
constexpr bool only_noted(Family family) { return family >= Family::DescriptorSet; }

// Positions of arguments, from 0. -1: the function has no such argument.
struct LibraryForm {
  Family family = Family::NameOnly;
  bool wide = false;  // sizes are 64 bits

  // Products of matrices
  int16_t transpose_a = -1, transpose_b = -1;
  int16_t m = -1, n = -1, k = -1;
  int16_t type_a = -1, type_b = -1, type_c = -1;
  int16_t stride_a = -1, stride_b = -1;
  int16_t beta = -1;
  int16_t batch = -1;  // the number of products
  int16_t compute = -1, algorithm = -1;
  int16_t result = -1;                          // cudaDataType_t of the result if it differs; not an argument position
  int16_t side = -1, fill = -1, diagonal = -1;  // of a symmetric or triangular matrix
  int16_t products = 1;                         // number of products that are added to the result
  bool has_b = true, has_c = true;              // without C, the result replaces B
  bool real_beta = false;                       // beta is real although everything else is complex

  // Collectives. Other families also use the type and the operation.
  int16_t count = -1, type = -1, operation = -1, peer = -1, communicator = -1;
  bool pair = false;  // a send or receive

  int16_t sizes = -1;  // the first size
  int16_t rank = 0;    // number of sizes; 0: the argument before them is their number, and they are in an array

  int16_t operand_a = -1, operand_b = -1, operand_c = -1;  // descriptors of the two operands and of the result
  int16_t product = 0;                                     // PlanOperation of a convolution
  bool fused = false;                                      // fused with other operations, however many
  bool makes = false;  // the function makes the object and stores it where the first argument points
};

namespace form {

// Variants of another form.
constexpr LibraryForm wide(LibraryForm form) {
  form.wide = true;
  return form;
}
constexpr LibraryForm to_fp32(LibraryForm form) {
  form.result = 0;
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
constexpr LibraryForm makes(LibraryForm form) {
  form.makes = true;
  return form;
}

inline constexpr LibraryForm kNameOnly = {};

// (handle, transposes, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc) and its batched variants. Ex: a type follows each
// matrix.
inline constexpr LibraryForm kGemm = {
    .family = Family::Gemm, .transpose_a = 1, .transpose_b = 2, .m = 3, .n = 4, .k = 5, .beta = 11};
inline constexpr LibraryForm kGemmStrided = {.family = Family::Gemm,
                                             .transpose_a = 1,
                                             .transpose_b = 2,
                                             .m = 3,
                                             .n = 4,
                                             .k = 5,
                                             .stride_a = 9,
                                             .stride_b = 12,
                                             .beta = 13,
                                             .batch = 17};
inline constexpr LibraryForm kGemmBatched = {
    .family = Family::Gemm, .transpose_a = 1, .transpose_b = 2, .m = 3, .n = 4, .k = 5, .beta = 11, .batch = 14};
inline constexpr LibraryForm kGemmTyped = {.family = Family::Gemm,
                                           .transpose_a = 1,
                                           .transpose_b = 2,
                                           .m = 3,
                                           .n = 4,
                                           .k = 5,
                                           .type_a = 8,
                                           .type_b = 11,
                                           .type_c = 15,
                                           .beta = 13};
inline constexpr LibraryForm kGemmEx = {.family = Family::Gemm,
                                        .transpose_a = 1,
                                        .transpose_b = 2,
                                        .m = 3,
                                        .n = 4,
                                        .k = 5,
                                        .type_a = 8,
                                        .type_b = 11,
                                        .type_c = 15,
                                        .beta = 13,
                                        .compute = 17,
                                        .algorithm = 18};
inline constexpr LibraryForm kGemmStridedEx = {.family = Family::Gemm,
                                               .transpose_a = 1,
                                               .transpose_b = 2,
                                               .m = 3,
                                               .n = 4,
                                               .k = 5,
                                               .type_a = 8,
                                               .type_b = 12,
                                               .type_c = 17,
                                               .stride_a = 10,
                                               .stride_b = 14,
                                               .beta = 15,
                                               .batch = 20,
                                               .compute = 21,
                                               .algorithm = 22};
inline constexpr LibraryForm kGemmBatchedEx = {.family = Family::Gemm,
                                               .transpose_a = 1,
                                               .transpose_b = 2,
                                               .m = 3,
                                               .n = 4,
                                               .k = 5,
                                               .type_a = 8,
                                               .type_b = 11,
                                               .type_c = 15,
                                               .beta = 13,
                                               .batch = 17,
                                               .compute = 18,
                                               .algorithm = 19};
inline constexpr LibraryForm kGemm64 = wide(kGemm);
inline constexpr LibraryForm kGemmStrided64 = wide(kGemmStrided);
inline constexpr LibraryForm kGemmBatched64 = wide(kGemmBatched);
inline constexpr LibraryForm kGemmTyped64 = wide(kGemmTyped);
inline constexpr LibraryForm kGemmEx64 = wide(kGemmEx);
inline constexpr LibraryForm kGemmStridedEx64 = wide(kGemmStridedEx);
inline constexpr LibraryForm kGemmBatchedEx64 = wide(kGemmBatchedEx);

// (handle, transpose, m, n, alpha, A, lda, x, incx, beta, y, incy) and its batched variants.
inline constexpr LibraryForm kGemv = {.family = Family::Gemm, .transpose_a = 1, .m = 2, .n = 3, .beta = 9};
inline constexpr LibraryForm kGemvStrided = {
    .family = Family::Gemm, .transpose_a = 1, .m = 2, .n = 3, .stride_a = 7, .stride_b = 10, .beta = 11, .batch = 15};
inline constexpr LibraryForm kGemvBatched = {
    .family = Family::Gemm, .transpose_a = 1, .m = 2, .n = 3, .beta = 9, .batch = 12};
inline constexpr LibraryForm kGemv64 = wide(kGemv);
inline constexpr LibraryForm kGemvStrided64 = wide(kGemvStrided);
inline constexpr LibraryForm kGemvBatched64 = wide(kGemvBatched);
inline constexpr LibraryForm kGemvStridedToFp32 = to_fp32(kGemvStrided);
inline constexpr LibraryForm kGemvBatchedToFp32 = to_fp32(kGemvBatched);
inline constexpr LibraryForm kGemvStridedToFp32Wide = wide(kGemvStridedToFp32);
inline constexpr LibraryForm kGemvBatchedToFp32Wide = wide(kGemvBatchedToFp32);

// Symmetric: (handle, side, fill, m, n, alpha, A, lda, B, ldb, beta, C, ldc).
inline constexpr LibraryForm kSymm = {.family = Family::Gemm, .m = 3, .n = 4, .beta = 10, .side = 1, .fill = 2};
inline constexpr LibraryForm kSymm64 = wide(kSymm);

// Rank k: (handle, fill, transpose, n, k, alpha, A, lda, [B, ldb,] beta, C, ldc).
inline constexpr LibraryForm kSyrk = {
    .family = Family::Gemm, .transpose_a = 2, .n = 3, .k = 4, .beta = 8, .fill = 1, .has_b = false};
inline constexpr LibraryForm kSyrkx = {.family = Family::Gemm, .transpose_a = 2, .n = 3, .k = 4, .beta = 10, .fill = 1};
inline constexpr LibraryForm kSyr2k = twice(kSyrkx);
inline constexpr LibraryForm kHerk = real_beta(kSyrk);
inline constexpr LibraryForm kHer2k = real_beta(kSyr2k);
inline constexpr LibraryForm kHerkx = real_beta(kSyrkx);
inline constexpr LibraryForm kSyrk64 = wide(kSyrk);
inline constexpr LibraryForm kSyr2k64 = wide(kSyr2k);
inline constexpr LibraryForm kSyrkx64 = wide(kSyrkx);
inline constexpr LibraryForm kHerk64 = wide(kHerk);
inline constexpr LibraryForm kHer2k64 = wide(kHer2k);
inline constexpr LibraryForm kHerkx64 = wide(kHerkx);

// Triangular: (handle, side, fill, transpose, diagonal, m, n, alpha, A, lda, B, ldb, [C, ldc] or [batch]).
inline constexpr LibraryForm kTrmm = {
    .family = Family::Gemm, .transpose_a = 3, .m = 5, .n = 6, .side = 1, .fill = 2, .diagonal = 4};
inline constexpr LibraryForm kTrsm = {
    .family = Family::Gemm, .transpose_a = 3, .m = 5, .n = 6, .side = 1, .fill = 2, .diagonal = 4, .has_c = false};
inline constexpr LibraryForm kTrsmBatched = {.family = Family::Gemm,
                                             .transpose_a = 3,
                                             .m = 5,
                                             .n = 6,
                                             .batch = 12,
                                             .side = 1,
                                             .fill = 2,
                                             .diagonal = 4,
                                             .has_c = false};
inline constexpr LibraryForm kTrmm64 = wide(kTrmm);
inline constexpr LibraryForm kTrsm64 = wide(kTrsm);
inline constexpr LibraryForm kTrsmBatched64 = wide(kTrsmBatched);

// (handle, operation, alpha, A, its layout, B, its layout, beta, C, its layout, D, its layout, algorithm …)
inline constexpr LibraryForm kLtMatmul = {.family = Family::LtMatmul};

inline constexpr LibraryForm kAllReduce = {
    .family = Family::Collective, .count = 2, .type = 3, .operation = 4, .communicator = 5};
inline constexpr LibraryForm kAllGather = {.family = Family::Collective, .count = 2, .type = 3, .communicator = 4};
inline constexpr LibraryForm kReduce = {
    .family = Family::Collective, .count = 2, .type = 3, .operation = 4, .peer = 5, .communicator = 6};
inline constexpr LibraryForm kBroadcast = {
    .family = Family::Collective, .count = 2, .type = 3, .peer = 4, .communicator = 5};
inline constexpr LibraryForm kBcast = {
    .family = Family::Collective, .count = 1, .type = 2, .peer = 3, .communicator = 4};
inline constexpr LibraryForm kReduceScatter = kAllReduce;
inline constexpr LibraryForm kPointToPoint = {
    .family = Family::Collective, .count = 1, .type = 2, .peer = 3, .communicator = 4, .pair = true};
// (communicator to make, ranks, unique id by value, rank …); the same with several ids: (…, ranks, rank, number of ids,
// ids …). Split: (communicator, color, key, communicator to make …). All: (array to fill, ranks, devices).
inline constexpr LibraryForm kCommInitRank = {.family = Family::CommunicatorByRank};
inline constexpr LibraryForm kCommInitScalable = {.family = Family::CommunicatorByIds};
inline constexpr LibraryForm kCommSplit = {.family = Family::CommunicatorSplit};
inline constexpr LibraryForm kCommInitAll = {.family = Family::CommunicatorsHere};
inline constexpr LibraryForm kCommDestroy = {.family = Family::CommunicatorEnded};

// (handle, alpha, two operands and their descriptors, the convolution, algorithm …). The operands are x, w and y of a
// convolution or of a gradient, as in plans (library_plans.h).
inline constexpr LibraryForm kConvForward = {
    .family = Family::Convolution, .algorithm = 7, .operand_a = 2, .operand_b = 4, .operand_c = 11, .product = 1};
inline constexpr LibraryForm kConvFused = {.family = Family::Convolution,
                                           .algorithm = 7,
                                           .operand_a = 2,
                                           .operand_b = 4,
                                           .operand_c = 16,
                                           .product = 1,
                                           .fused = true};
inline constexpr LibraryForm kConvInputGradient = {
    .family = Family::Convolution, .algorithm = 7, .operand_a = 11, .operand_b = 2, .operand_c = 4, .product = 2};
inline constexpr LibraryForm kConvWeightGradient = {
    .family = Family::Convolution, .algorithm = 7, .operand_a = 2, .operand_b = 11, .operand_c = 4, .product = 3};

// Execute: (handle, plan, tensors). Set: (descriptor, attribute, type, count, elements). Get: (descriptor, attribute,
// type, count, returned count, elements).
inline constexpr LibraryForm kPlanExecute = {.family = Family::PlanExecute};
inline constexpr LibraryForm kDescriptorSet = {.family = Family::DescriptorSet};
inline constexpr LibraryForm kDescriptorQueried = {.family = Family::DescriptorQueried};
inline constexpr LibraryForm kDescriptorDestroyed = {.family = Family::DescriptorDestroyed};

// (descriptor, type and format, sizes …) of a tensor or a filter. Nd: the number of sizes and an array of them.
inline constexpr LibraryForm kTensor4d = {.family = Family::TensorSet, .type = 2, .sizes = 3, .rank = 4};
inline constexpr LibraryForm kTensor4dEx = {.family = Family::TensorSet, .type = 1, .sizes = 2, .rank = 4};
inline constexpr LibraryForm kTensorNd = {.family = Family::TensorSet, .type = 1, .sizes = 3, .rank = 0};
inline constexpr LibraryForm kTensorNdEx = {.family = Family::TensorSet, .type = 2, .sizes = 4, .rank = 0};
inline constexpr LibraryForm kFilter4d = {.family = Family::TensorSet, .type = 1, .sizes = 3, .rank = 4};
inline constexpr LibraryForm kFilterNd = {.family = Family::TensorSet, .type = 1, .sizes = 4, .rank = 0};

// Calls that change or destroy descriptors of tensors. The operands are the arguments that are such descriptors.
inline constexpr LibraryForm kTensorDestroyed = {.family = Family::TensorsChanged, .operand_a = 0};
inline constexpr LibraryForm kTensorsDerived = {.family = Family::TensorsChanged, .operand_a = 0, .operand_b = 1};
inline constexpr LibraryForm kTensorOfTransform = {.family = Family::TensorsChanged, .operand_a = 2};
inline constexpr LibraryForm kTensorOfAttention = {.family = Family::TensorsChanged, .operand_a = 5};
inline constexpr LibraryForm kTensorsOfRnn = {.family = Family::TensorsChanged, .operand_a = 6, .operand_b = 8};
inline constexpr LibraryForm kTensorOfOlderRnn = {.family = Family::TensorsChanged, .operand_a = 7};
inline constexpr LibraryForm kTensorsFolded = {
    .family = Family::TensorsChanged, .operand_a = 6, .operand_b = 7, .operand_c = 9};

// (plan, sizes …, type, batch). Many: (plan, rank, sizes, layout of the input, layout of the output, type, batch).
inline constexpr LibraryForm kFftMake1d = {.family = Family::FftPlan, .batch = 3, .type = 2, .sizes = 1, .rank = 1};
inline constexpr LibraryForm kFftMake2d = {.family = Family::FftPlan, .type = 3, .sizes = 1, .rank = 2};
inline constexpr LibraryForm kFftMake3d = {.family = Family::FftPlan, .type = 4, .sizes = 1, .rank = 3};
inline constexpr LibraryForm kFftMakeMany = {.family = Family::FftPlan, .batch = 10, .type = 9, .sizes = 2, .rank = 0};
inline constexpr LibraryForm kFftMakeTyped = {
    .family = Family::FftPlan, .wide = true, .type_a = 6, .type_c = 10, .batch = 11, .sizes = 2, .rank = 0};
inline constexpr LibraryForm kFftMakeMany64 = wide(kFftMakeMany);
inline constexpr LibraryForm kFftPlan1d = makes(kFftMake1d);
inline constexpr LibraryForm kFftPlan2d = makes(kFftMake2d);
inline constexpr LibraryForm kFftPlan3d = makes(kFftMake3d);
inline constexpr LibraryForm kFftPlanMany = makes(kFftMakeMany);
inline constexpr LibraryForm kFftDestroyed = {.family = Family::FftDestroyed};

// (plan, input, output, direction)
inline constexpr LibraryForm kFftExec = {.family = Family::FftExec};
inline constexpr LibraryForm kFftExecBoth = {.family = Family::FftExec, .operation = 3};

// (handle, transposes, alpha, A, B, beta, C, compute, algorithm …). With a vector there is no second transpose.
inline constexpr LibraryForm kSparseMatrix = {.family = Family::SparseMatrix,
                                              .transpose_a = 1,
                                              .transpose_b = 2,
                                              .beta = 6,
                                              .compute = 8,
                                              .algorithm = 9,
                                              .operand_a = 4,
                                              .operand_b = 5,
                                              .operand_c = 7};
inline constexpr LibraryForm kSparseVector = {.family = Family::SparseVector,
                                              .transpose_a = 1,
                                              .beta = 5,
                                              .compute = 7,
                                              .algorithm = 8,
                                              .operand_a = 3,
                                              .operand_b = 4,
                                              .operand_c = 6};
inline constexpr LibraryForm kSampledProduct = {.family = Family::SampledProduct,
                                                .transpose_a = 1,
                                                .transpose_b = 2,
                                                .beta = 6,
                                                .compute = 8,
                                                .algorithm = 9,
                                                .operand_a = 4,
                                                .operand_b = 5,
                                                .operand_c = 7};

}  // namespace form
}  // namespace prof::preload
