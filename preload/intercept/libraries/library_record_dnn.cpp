// Calls of cuDNN. Plans of its graphs are noted when they are made (library_plans.h). Descriptors of the older
// functions are noted when they are set (library_tensors.h). cuDNN's own getters read what was not noted.
#include "preload/intercept/libraries/library_record_dnn.h"

#include "preload/intercept/libraries/library_tensors.h"

namespace prof::preload {

namespace {

constexpr Named kCudnnTypes[] = {{0, "fp32"},      {1, "fp64"},      {2, "fp16"},      {3, "int8"},
                                 {4, "int32"},     {6, "uint8"},     {9, "bf16"},      {10, "int64"},
                                 {12, "fp8_e4m3"}, {13, "fp8_e5m2"}, {16, "fp4_e2m1"}, {17, "int4"}};
constexpr Named kPlanOperations[] = {{1, "conv_forward"}, {2, "conv_input_gradient"}, {3, "conv_weight_gradient"},
                                     {4, "matmul"},       {5, "attention"},           {6, "attention_gradient"}};

uint64_t hash_tensor(const PlanTensor& tensor) {
  uint64_t hash = tensor.rank | uint64_t{tensor.type} << 8 | uint64_t{tensor.vectors} << 16;
  const auto size = [&](int i) { return i < tensor.rank ? uint64_t{static_cast<uint32_t>(tensor.sizes[i])} : 0; };
  for (int i = 0; i < tensor.rank; i += 2) hash = mix(hash, size(i) | size(i + 1) << 32);
  return hash;
}

// If elements are vectors, the sizes do not contain how many elements there are.
void add_tensor(CallText& text, std::string_view key, const PlanTensor& tensor) {
  text.sizes(key, tensor.sizes, tensor.vectors ? 0 : tensor.rank);
}

bool is_attention(const PlanProduct& product) {
  return product.operation == PlanOperation::Attention || product.operation == PlanOperation::AttentionGradient;
}

// `algorithm` and `engine`: the program's choice. -1: it made none.
void record_products(const Recorded& call, const Plan& plan, int algorithm, int engine) {
  uint64_t key = uint64_t{plan.operations} | uint64_t{plan.count} << 8 | uint64_t{static_cast<uint16_t>(engine)} << 16 |
                 uint64_t{static_cast<uint32_t>(algorithm)} << 32;
  for (uint32_t i = 0; i < plan.count; ++i) {
    const PlanProduct& product = plan.products[i];
    key = mix(mix(hash_tensor(product.x), hash_tensor(product.w)),
              mix(hash_tensor(product.y), key ^ static_cast<uint64_t>(product.operation) << 56));
    if (is_attention(product)) key = mix(key, hash_tensor(product.v));
  }
  call.as(key, [&](CallText& text) {
    for (uint32_t i = 0; i < plan.count; ++i) {
      const PlanProduct& product = plan.products[i];
      add_named(text, "op", static_cast<uint64_t>(product.operation), kPlanOperations);
      add_tensor(text, "x", product.x);
      add_tensor(text, "w", product.w);
      if (is_attention(product)) add_tensor(text, "v", product.v);
      add_tensor(text, "y", product.y);
      // For a type that was not set, the number is one that no type has.
      add_named(text, "A", product.x.type - uint64_t{1}, kCudnnTypes);
      add_named(text, "B", product.w.type - uint64_t{1}, kCudnnTypes);
      if (is_attention(product)) add_named(text, "V", product.v.type - uint64_t{1}, kCudnnTypes);
      add_named(text, "C", product.y.type - uint64_t{1}, kCudnnTypes);
    }
    if (plan.operations != 0) text.value("operations", uint64_t{plan.operations});
    if (algorithm >= 0) text.value("algorithm", static_cast<uint64_t>(algorithm));
    if (engine >= 0) text.value("engine", static_cast<uint64_t>(engine));
  });
}

}  // namespace

// For functions older than the graph API. Their descriptors are noted when they are set, else queried.
void record_convolution(const Recorded& call, const LibraryArguments& a, const LibraryGetters& getters) {
  const LibraryForm& form = call.row.form;
  const auto tensor = getters.tensor.load(std::memory_order_relaxed),
             filter = getters.filter.load(std::memory_order_relaxed);
  constexpr int kMost = PlanTensor::kMostDimensions;
  int type = 0, rank = 0, order = 0, sizes[kMost], distances[kMost];
  const auto find_tensor = [&](int operand, PlanTensor& to) {
    const void* const descriptor = a.pointer(operand);
    return noted_tensor(descriptor, to) ||
           (tensor != nullptr && tensor(descriptor, kMost, &type, &rank, sizes, distances) == 0 &&
            make_tensor(to, type, rank, sizes));
  };
  const auto find_filter = [&](int operand, PlanTensor& to) {
    const void* const descriptor = a.pointer(operand);
    return noted_tensor(descriptor, to) ||
           (filter != nullptr && filter(descriptor, kMost, &type, &order, &rank, sizes) == 0 &&
            make_tensor(to, type, rank, sizes));
  };
  Plan plan;
  PlanProduct& product = plan.products[0];
  product.operation = static_cast<PlanOperation>(form.product);
  plan.operations = form.fused ? 0 : 1;
  plan.count = 1;
  plan.engine = 0;
  // The arguments of a failed call may be invalid.
  if (call.status != 0 || !find_tensor(form.operand_a, product.x) || !find_filter(form.operand_b, product.w) ||
      !find_tensor(form.operand_c, product.y))
    return call.as(0, [](CallText&) {});
  record_products(call, plan, static_cast<int>(a[form.algorithm]), -1);
}

void record_plan(const Recorded& call, const LibraryArguments& a) {
  const Plan* const known = plan_of(a.pointer(1));
  if (known == nullptr) return call.as(0, [](CallText&) {});
  record_products(call, *known, -1, int{known->engine} - 1);
}

}  // namespace prof::preload
