// Calls of cuDNN. Plans of its graphs are noted as they are made (library_plans.h).
#include "preload/intercept/library_plans.h"
#include "preload/intercept/library_record.h"

namespace prof::preload {

namespace {

constexpr Named kCudnnTypes[] = {{0, "fp32"},      {1, "fp64"},      {2, "fp16"},      {3, "int8"},
                                 {4, "int32"},     {6, "uint8"},     {9, "bf16"},      {10, "int64"},
                                 {12, "fp8_e4m3"}, {13, "fp8_e5m2"}, {16, "fp4_e2m1"}, {17, "int4"}};
constexpr Named kPlanOperations[] = {
    {1, "conv_forward"}, {2, "conv_input_gradient"}, {3, "conv_weight_gradient"}, {4, "matmul"}};

uint64_t hash_tensor(const PlanTensor& tensor) {
  uint64_t hash = mix(tensor.rank, uint64_t{tensor.type} | uint64_t{tensor.vectors} << 8);
  for (int i = 0; i < tensor.rank; ++i) hash = mix(hash, static_cast<uint64_t>(tensor.sizes[i]));
  return hash;
}

// Where elements are vectors, sizes do not tell how many there are.
void add_tensor(CallText& text, std::string_view key, const PlanTensor& tensor) {
  text.sizes(key, tensor.sizes, tensor.vectors ? 0 : tensor.rank);
}

}  // namespace

void record_plan(const Recorded& call, const LibraryArguments& a) {
  const PlanProduct* const known = plan_product(a.pointer(1));
  if (known == nullptr) return call.as(0, [](CallText&) {});
  const PlanProduct& plan = *known;
  const uint64_t key =
      mix(mix(hash_tensor(plan.x), hash_tensor(plan.w)),
          mix(hash_tensor(plan.y), static_cast<uint64_t>(plan.operation) | uint64_t{plan.operations} << 8));
  call.as(key, [&](CallText& text) {
    add_named(text, "op", static_cast<uint64_t>(plan.operation), kPlanOperations);
    add_tensor(text, "x", plan.x), add_tensor(text, "w", plan.w), add_tensor(text, "y", plan.y);
    // A type that was not set is no type: its number is one that nobody has.
    add_named(text, "A", plan.x.type - uint64_t{1}, kCudnnTypes);
    add_named(text, "B", plan.w.type - uint64_t{1}, kCudnnTypes);
    add_named(text, "C", plan.y.type - uint64_t{1}, kCudnnTypes);
    text.value("operations", uint64_t{plan.operations});
  });
}

}  // namespace prof::preload
