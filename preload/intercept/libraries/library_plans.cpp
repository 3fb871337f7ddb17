#include "preload/intercept/libraries/library_plans.h"

#include "preload/intercept/libraries/noted.h"

#include <cstring>

namespace prof::preload {

namespace {

// Tensors and operations. A tensor is stored as the x of its own entry.
constinit Noted<PlanProduct, 8192> g_described;
// Graphs, and what is made from them.
constinit Noted<Plan, 8192> g_plans;

const void* element(const void* elements, int64_t i) {
  const void* found = nullptr;
  std::memcpy(&found, static_cast<const char*>(elements) + i * int64_t{sizeof found}, sizeof found);
  return found;
}

void take_tensor(const void* descriptor, PlanOperation operation, PlanTensor PlanProduct::*place, const void* tensor) {
  const PlanProduct* const known = g_described.find(tensor);
  PlanProduct* const to = g_described.find_or_make(descriptor);
  if (to == nullptr) return;
  to->operation = operation;
  to->*place = known != nullptr ? known->x : PlanTensor{};
}

void take_pages(const void* descriptor) {
  if (PlanProduct* const to = g_described.find_or_make(descriptor); to != nullptr) to->paged = true;
}

// Notes the products among the operations of a graph: all of them or none, because some of them would give too few
// FLOPs.
void take_operations(const void* descriptor, int64_t count, const void* elements) {
  Plan* const to = g_plans.find_or_make(descriptor);
  if (to == nullptr) return;
  *to = {};
  to->operations = static_cast<uint8_t>(count < 255 ? count : 255);
  uint32_t products = 0;
  for (int64_t i = 0; i < count; ++i) {
    const PlanProduct* const operation = g_described.find(element(elements, i));
    if (operation == nullptr || operation->operation == PlanOperation::None) continue;
    if (products < Plan::kMostProducts) {
      PlanProduct& product = to->products[products];
      product = *operation;
      if (product.paged) product.w.rank = product.v.rank = 0;
    }
    ++products;
  }
  to->count = static_cast<uint8_t>(products <= Plan::kMostProducts ? products : 0);
}

void take_over(const void* descriptor, const void* from) {
  const Plan* const known = g_plans.find(from);
  const Plan plan = known != nullptr ? *known : Plan{};
  if (Plan* const to = g_plans.find_or_make(descriptor); to != nullptr) *to = plan;
}

// The program may set the engine's number before its graph.
void take_graph(const void* engine, const void* graph) {
  const Plan* const known = g_plans.find(engine);
  const uint16_t number = known != nullptr ? known->engine : uint16_t{0};
  take_over(engine, graph);
  if (Plan* const to = g_plans.find(engine); to != nullptr) to->engine = number;
}

void take_engine(const void* descriptor, const void* elements) {
  int64_t number = 0;
  std::memcpy(&number, elements, sizeof number);
  if (Plan* const to = g_plans.find_or_make(descriptor); to != nullptr)
    to->engine = static_cast<uint16_t>(number >= 0 && number < UINT16_MAX ? number + 1 : 0);
}

void set_tensor(const void* descriptor, uint32_t name, int64_t count, const void* elements) {
  PlanProduct* const to = g_described.find_or_make(descriptor);
  if (to == nullptr) return;
  PlanTensor& tensor = to->x;
  if (name == kTensorSizes) {
    bool fits = count <= PlanTensor::kMostDimensions;
    for (int64_t i = 0; fits && i < count; ++i) {
      int64_t size = 0;
      std::memcpy(&size, static_cast<const char*>(elements) + i * int64_t{sizeof size}, sizeof size);
      fits = size >= 0 && size <= INT32_MAX;
      tensor.sizes[i] = static_cast<int32_t>(size);
    }
    tensor.rank = static_cast<uint8_t>(fits ? count : 0);
  } else if (name == kTensorType) {
    int32_t type = 0;
    std::memcpy(&type, elements, sizeof type);
    tensor.type = static_cast<uint8_t>(type >= 0 && type < 250 ? type + 1 : 0);
  } else {
    int64_t length = 1;
    std::memcpy(&length, elements, sizeof length);
    tensor.vectors = length != 1;
  }
}

}  // namespace

void plan_attribute_set(const void* descriptor, uint32_t name, int64_t count, const void* elements) {
  if (descriptor == nullptr || elements == nullptr || count <= 0) return;
  using Product = PlanProduct;
  using enum PlanOperation;
  const void* const first = name == kTensorType ? nullptr : element(elements, 0);
  switch (name) {
    case kTensorType:
    case kTensorSizes:
    case kTensorVector: return set_tensor(descriptor, name, count, elements);
    case kForwardX: return take_tensor(descriptor, ConvForward, &Product::x, first);
    case kForwardW: return take_tensor(descriptor, ConvForward, &Product::w, first);
    case kForwardY: return take_tensor(descriptor, ConvForward, &Product::y, first);
    case kInputGradientX: return take_tensor(descriptor, ConvInputGradient, &Product::x, first);
    case kInputGradientW: return take_tensor(descriptor, ConvInputGradient, &Product::w, first);
    case kInputGradientY: return take_tensor(descriptor, ConvInputGradient, &Product::y, first);
    case kWeightGradientX: return take_tensor(descriptor, ConvWeightGradient, &Product::x, first);
    case kWeightGradientW: return take_tensor(descriptor, ConvWeightGradient, &Product::w, first);
    case kWeightGradientY: return take_tensor(descriptor, ConvWeightGradient, &Product::y, first);
    case kMatMulA: return take_tensor(descriptor, MatMul, &Product::x, first);
    case kMatMulB: return take_tensor(descriptor, MatMul, &Product::w, first);
    case kMatMulC: return take_tensor(descriptor, MatMul, &Product::y, first);
    case kAttentionQ: return take_tensor(descriptor, Attention, &Product::x, first);
    case kAttentionK: return take_tensor(descriptor, Attention, &Product::w, first);
    case kAttentionV: return take_tensor(descriptor, Attention, &Product::v, first);
    case kAttentionO: return take_tensor(descriptor, Attention, &Product::y, first);
    case kAttentionPagesK:
    case kAttentionPagesV: return take_pages(descriptor);
    case kAttentionGradientQ: return take_tensor(descriptor, AttentionGradient, &Product::x, first);
    case kAttentionGradientK: return take_tensor(descriptor, AttentionGradient, &Product::w, first);
    case kAttentionGradientV: return take_tensor(descriptor, AttentionGradient, &Product::v, first);
    case kAttentionGradientO: return take_tensor(descriptor, AttentionGradient, &Product::y, first);
    case kGraphOperations: return take_operations(descriptor, count, elements);
    case kEngineIndex: return take_engine(descriptor, elements);
    case kEngineGraph: return take_graph(descriptor, first);
    case kHeuristicsGraph:
    case kConfigurationEngine:
    case kPlanConfiguration: return take_over(descriptor, first);
    default: return;
  }
}

// Heuristics fill configurations that the caller made.
void plan_attribute_queried(const void* descriptor, uint32_t name, int64_t count, const void* elements) {
  if (name != kHeuristicsResults || descriptor == nullptr || elements == nullptr) return;
  for (int64_t i = 0; i < count; ++i) {
    if (const void* const configuration = element(elements, i); configuration != nullptr)
      take_over(configuration, descriptor);
  }
}

void plan_descriptor_destroyed(const void* descriptor) {
  g_described.erase(descriptor);
  g_plans.erase(descriptor);
}

const Plan* plan_of(const void* descriptor) {
  const Plan* const known = g_plans.find(descriptor);
  return known != nullptr && known->count != 0 ? known : nullptr;
}

}  // namespace prof::preload
