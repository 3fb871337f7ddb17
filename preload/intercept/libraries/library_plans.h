// What a plan of cuDNN's graphs is for. Its descriptors can hardly be queried once they are made, so what a program
// sets in them is noted: tensors have sizes, an operation has tensors, a graph has operations, and heuristics, engines,
// configurations and plans are made of a graph. Each takes over the values of what it is made of, which may be gone
// when the plan runs. In the program; lock-free.
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
  kAttentionQ = 2800,  // an attention as one operation: cuDNN 9.13 and newer, its gradient 9.17
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
  bool vectors;  // its elements are vectors: sizes do not tell how many there are
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

// y = x · w of a convolution, of its gradients the tensors that have those places; c = a · b. Of an attention x are the queries, w the keys,
// v the values and y the output.
struct PlanProduct {
  PlanOperation operation;
  bool paged;  // keys or values lie in pages: how many a sequence has, only the GPU knows
  PlanTensor x, w, v, y;
};

// The products of a graph, and what was chosen for it.
struct Plan {
  static constexpr uint32_t kMostProducts = 5;  // those of an attention's backward
  uint8_t operations;                           // of the graph, whatever they are
  uint8_t count;                                // of the products; 0: none, or too many
  uint16_t engine;                              // 1 + its number, where the program chose it
  PlanProduct products[kMostProducts];
};

// cudnnBackendSetAttribute, …GetAttribute and …DestroyDescriptor, before they happen.
void plan_attribute_set(const void* descriptor, uint32_t name, int64_t count, const void* elements);
void plan_attribute_queried(const void* descriptor, uint32_t name, int64_t count, const void* elements);
void plan_descriptor_destroyed(const void* descriptor);

// Null: nobody knows, or the graph has no product or too many.
const Plan* plan_of(const void* descriptor);

}  // namespace prof::preload
