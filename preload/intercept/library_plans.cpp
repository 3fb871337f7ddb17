#include "preload/intercept/library_plans.h"

#include "preload/intercept/handle_map.h"

#include <atomic>
#include <cstring>

namespace prof::preload {

namespace {

// A tensor is the x of its own.
struct Described {
  std::atomic<bool> used;
  PlanProduct product;
};
constexpr uint32_t kMost = 8192;
constinit Described g_described[kMost] = {};
std::atomic<uint32_t> g_next{0};
HandleMap<2 * kMost> g_known;  // descriptor -> 1 + its place

Described* find(const void* descriptor) {
  const uint64_t place = g_known.find(descriptor);
  return place == 0 || place > kMost ? nullptr : &g_described[place - 1];
}

// Null: there are too many at once, or it is no pointer.
Described* find_or_make(const void* descriptor) {
  if (Described* const known = find(descriptor); known != nullptr) return known;
  for (uint32_t tries = 0; tries < 64; ++tries) {
    const uint32_t place = g_next.fetch_add(1, std::memory_order_relaxed) & (kMost - 1);
    bool used = false;
    if (!g_described[place].used.compare_exchange_strong(used, true, std::memory_order_acquire)) continue;
    g_described[place].product = {};
    if (g_known.put(descriptor, place + 1)) return &g_described[place];
    g_described[place].used.store(false, std::memory_order_release);
    return nullptr;
  }
  return nullptr;
}

const void* element(const void* elements, int64_t i) {
  const void* found = nullptr;
  std::memcpy(&found, static_cast<const char*>(elements) + i * int64_t{sizeof found}, sizeof found);
  return found;
}

void take_tensor(const void* descriptor, PlanOperation operation, PlanTensor PlanProduct::*place, const void* tensor) {
  const Described* const known = find(tensor);
  Described* const to = find_or_make(descriptor);
  if (to == nullptr) return;
  to->product.operation = operation;
  to->product.*place = known != nullptr ? known->product.x : PlanTensor{};
}

// One product among the operations of a graph; of several none is told.
void take_operations(const void* descriptor, int64_t count, const void* elements) {
  Described* const to = find_or_make(descriptor);
  if (to == nullptr) return;
  PlanProduct product = {};
  int products = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Described* const operation = find(element(elements, i));
    if (operation == nullptr || operation->product.operation == PlanOperation::None) continue;
    product = operation->product;
    ++products;
  }
  to->product = products == 1 ? product : PlanProduct{};
  to->product.operations = static_cast<uint8_t>(count < 255 ? count : 255);
}

void take_over(const void* descriptor, const void* from) {
  const Described* const known = find(from);
  const PlanProduct product = known != nullptr ? known->product : PlanProduct{};
  if (Described* const to = find_or_make(descriptor); to != nullptr) to->product = product;
}

void set_tensor(const void* descriptor, uint32_t name, int64_t count, const void* elements) {
  Described* const to = find_or_make(descriptor);
  if (to == nullptr) return;
  PlanTensor& tensor = to->product.x;
  if (name == kTensorSizes) {
    tensor.rank = static_cast<uint8_t>(count <= PlanTensor::kMostDimensions ? count : 0);
    std::memcpy(tensor.sizes, elements, tensor.rank * sizeof tensor.sizes[0]);
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
    case kGraphOperations: return take_operations(descriptor, count, elements);
    case kHeuristicsGraph:
    case kEngineGraph:
    case kConfigurationEngine:
    case kPlanConfiguration: return take_over(descriptor, first);
    default: return;
  }
}

// Heuristics fill configurations that the caller made.
void plan_attribute_asked(const void* descriptor, uint32_t name, int64_t count, const void* elements) {
  if (name != kHeuristicsResults || descriptor == nullptr || elements == nullptr) return;
  for (int64_t i = 0; i < count; ++i) {
    if (const void* const configuration = element(elements, i); configuration != nullptr)
      take_over(configuration, descriptor);
  }
}

void plan_descriptor_gone(const void* descriptor) {
  Described* const known = find(descriptor);
  if (known == nullptr) return;
  g_known.erase(descriptor);
  known->used.store(false, std::memory_order_release);
}

const PlanProduct* plan_product(const void* plan) {
  const Described* const known = find(plan);
  return known != nullptr && known->product.operation != PlanOperation::None ? &known->product : nullptr;
}

}  // namespace prof::preload
