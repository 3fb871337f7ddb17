// What does a plan of cuDNN's graphs compute? Most of its descriptors cannot be queried once they are made, so what a
// program sets in them is noted. Tensors have sizes, an operation has tensors, and a graph has operations. Heuristics,
// engines, configurations and plans are made from a graph. Each copies the values of what it is made from, because that
// may be destroyed when the plan runs. It runs in the program and is lock-free.
#pragma once

#include <cstdint>

namespace prof::preload {

// cudnnBackendAttributeName_t
enum PlanAttribute : uint32_t {
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kConfigurationEngine = 300,
  kPlanConfiguration = 401,
  kForwardW = 703,
  kForwardX = 704,
  kForwardY = 705,
  kInputGradientW = 709,
  kInputGradientX = 710,
  kInputGradientY = 711,
  kWeightGradientW = 715,
  kWeightGradientX = 716,
  kWeightGradientY = 717,
  kGraphOperations = 801,
  kTensorType = 901,
  kTensorSizes = 902,
  kTensorVector = 904,
  kEngineGraph = 1300,
  kEngineIndex = 1301,
  kMatMulA = 1520,
  kMatMulB = 1521,
  kMatMulC = 1522,
  kAttentionQ = 2800,  // an attention as one operation: cuDNN 9.13 and newer; its gradient: 9.17
  kAttentionK = 2801,
  kAttentionV = 2802,
  kAttentionO = 2803,
  kAttentionPagesK = 2807,
  kAttentionPagesV = 2808,
  kAttentionGradientQ = 2851,
  kAttentionGradientK = 2852,
  kAttentionGradientV = 2853,
  kAttentionGradientO = 2854
};

struct PlanTensor {
  static constexpr int64_t kMostDimensions = 8;
  int32_t sizes[kMostDimensions];
  uint8_t rank;  // 0: not known, or a size does not fit
  uint8_t type;  // 1 + cudnnDataType_t; 0: not set
  bool vectors;  // its elements are vectors: sizes do not contain how many there are
};

enum class PlanOperation : uint8_t {
  None,
  ConvForward,
  ConvInputGradient,
  ConvWeightGradient,
  MatMul,
  Attention,
  AttentionGradient
};

// Convolution: y = x · w. Its gradients use the same names for the tensors in these places. Product of matrices: c = a
// · b. Attention: x are the queries, w the keys, v the values and y the output.
struct PlanProduct {
  PlanOperation operation;
  bool paged;  // keys or values are in pages: only the GPU knows how many a sequence has
  PlanTensor x, w, v, y;
};

// The products of a graph, and the engine that was chosen for it.
struct Plan {
  static constexpr uint32_t kMostProducts = 5;  // the backward pass of an attention has five
  uint8_t operations;                           // number of all operations of the graph
  uint8_t count;                                // number of products; 0: none, or too many
  uint16_t engine;                              // 1 + the engine's number if the program chose it
  PlanProduct products[kMostProducts];
};

// cudnnBackendSetAttribute, …GetAttribute and …DestroyDescriptor: called before the real functions.
void plan_attribute_set(const void* descriptor, uint32_t name, int64_t count, const void* elements);
void plan_attribute_queried(const void* descriptor, uint32_t name, int64_t count, const void* elements);
void plan_descriptor_destroyed(const void* descriptor);

// Null: the plan is not known, or its graph has no product or too many.
const Plan* plan_of(const void* descriptor);

}  // namespace prof::preload
