// Calls of cuDNN. Plans of its graphs are noted as they are made (library_plans.h); descriptors of the functions before them are read by
// cuDNN's own getters, which take about 50 ns each.
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

// `algorithm`: the program's choice; of plans there is none (-1), because it is a part of the plan.
void record_product(const Recorded& call, const PlanProduct& plan, int algorithm) {
  const uint64_t small = static_cast<uint64_t>(plan.operation) | uint64_t{plan.operations} << 8 |
                         uint64_t{static_cast<uint32_t>(algorithm)} << 16;
  const uint64_t key = mix(mix(hash_tensor(plan.x), hash_tensor(plan.w)), mix(hash_tensor(plan.y), small));
  call.as(key, [&](CallText& text) {
    add_named(text, "op", static_cast<uint64_t>(plan.operation), kPlanOperations);
    add_tensor(text, "x", plan.x), add_tensor(text, "w", plan.w), add_tensor(text, "y", plan.y);
    // A type that was not set is no type: its number is one that nobody has.
    add_named(text, "A", plan.x.type - uint64_t{1}, kCudnnTypes);
    add_named(text, "B", plan.w.type - uint64_t{1}, kCudnnTypes);
    add_named(text, "C", plan.y.type - uint64_t{1}, kCudnnTypes);
    if (plan.operations != 0) text.value("operations", uint64_t{plan.operations});
    if (algorithm >= 0) text.value("algorithm", static_cast<uint64_t>(algorithm));
  });
}

// What both getters answer, as far as it is asked for. The types 5, 7 and 8 are vectors of numbers.
bool take_tensor(PlanTensor& to, int status, int type, int rank, const int* sizes) {
  if (status != 0 || rank < 1 || rank > PlanTensor::kMostDimensions || type < 0 || type > 250) return false;
  to.rank = static_cast<uint8_t>(rank), to.type = static_cast<uint8_t>(type + 1);
  to.vectors = type == 5 || type == 7 || type == 8;
  for (int i = 0; i < rank; ++i) to.sizes[i] = sizes[i];
  return true;
}

}  // namespace

// Of the functions from before the graphs: their descriptors can be asked.
void record_convolution(const Recorded& call, const LibraryArguments& a, const LibraryGetters& getters) {
  const LibraryForm& form = call.row.form;
  const auto tensor = getters.tensor.load(std::memory_order_relaxed),
             filter = getters.filter.load(std::memory_order_relaxed);
  constexpr int kMost = PlanTensor::kMostDimensions;
  int type = 0, rank = 0, order = 0, sizes[kMost], distances[kMost];
  const auto ask_tensor = [&](int operand, PlanTensor& to) {
    const int status = tensor(a.pointer(operand), kMost, &type, &rank, sizes, distances);
    return take_tensor(to, status, type, rank, sizes);
  };
  const auto ask_filter = [&](int operand, PlanTensor& to) {
    const int status = filter(a.pointer(operand), kMost, &type, &order, &rank, sizes);
    return take_tensor(to, status, type, rank, sizes);
  };
  PlanProduct plan = {};
  plan.operation = static_cast<PlanOperation>(form.product);
  plan.operations = form.fused ? 0 : 1;
  // What a call that failed was given may be anything.
  if (call.status != 0 || tensor == nullptr || filter == nullptr || !ask_tensor(form.operand_a, plan.x) ||
      !ask_filter(form.operand_b, plan.w) || !ask_tensor(form.operand_c, plan.y))
    return call.as(0, [](CallText&) {});
  record_product(call, plan, static_cast<int>(a[form.algorithm]));
}

void record_plan(const Recorded& call, const LibraryArguments& a) {
  const PlanProduct* const known = plan_product(a.pointer(1));
  if (known == nullptr) return call.as(0, [](CallText&) {});
  record_product(call, *known, -1);
}

}  // namespace prof::preload
