#include "preload/intercept/libraries/library_fft.h"

#include "preload/intercept/libraries/noted.h"

namespace prof::preload {

namespace {

constinit Noted<FftPlan, 8192> g_fft_plans;

// Libraries start at a page boundary, so the lowest twelve bits of an address have no information.
const void* key_of(uint64_t plan, uintptr_t library) {
  return reinterpret_cast<const void*>(library << 16 ^ static_cast<uint32_t>(plan));
}

// The types of a cufftType. Its numbers are two letters each; the types here are values of cudaDataType_t.
struct Types {
  uint32_t type;
  uint8_t from, to;
};
constexpr Types kTypes[] = {{0x2a, 0, 4}, {0x2c, 4, 0}, {0x29, 4, 4}, {0x6a, 1, 5}, {0x6c, 5, 1}, {0x69, 5, 5}};

bool take_types(FftPlan& plan, const LibraryForm& form, const LibraryArguments& a) {
  if (form.type_a >= 0) {
    plan.from = static_cast<uint8_t>(a[form.type_a]);
    plan.to = static_cast<uint8_t>(a[form.type_c]);
    return true;
  }
  for (const Types& each : kTypes) {
    if (each.type != static_cast<uint32_t>(a[form.type])) continue;
    plan.from = each.from;
    plan.to = each.to;
    return true;
  }
  return false;
}

int64_t narrow(uint64_t word) { return static_cast<int32_t>(word); }

void take_points(FftPlan& plan, const LibraryForm& form, const LibraryArguments& a) {
  for (int i = 0; i < plan.rank; ++i) {
    if (form.rank > 0) {
      plan.points[i] = narrow(a[form.sizes + i]);
    } else if (form.wide) {
      std::memcpy(&plan.points[i], static_cast<const int64_t*>(a.pointer(form.sizes)) + i, sizeof(int64_t));
    } else {
      int32_t size = 0;
      std::memcpy(&size, static_cast<const int32_t*>(a.pointer(form.sizes)) + i, sizeof size);
      plan.points[i] = size;
    }
  }
}

}  // namespace

void fft_plan_made(uint32_t row, const LibraryArguments& a, uintptr_t library, uint32_t status) {
  const LibraryForm& form = kLibraryRows[row].form;
  if (status != 0) return;
  uint64_t number = a[0];
  if (form.makes) std::memcpy(&number, a.pointer(0), sizeof(int32_t));
  const int64_t rank = form.rank > 0 ? form.rank : narrow(a[form.sizes - 1]);
  FftPlan plan = {};
  plan.batch = form.batch < 0 ? 1 : form.wide ? static_cast<int64_t>(a[form.batch]) : narrow(a[form.batch]);
  const bool fits = rank >= 1 && rank <= FftPlan::kMostDimensions && take_types(plan, form, a);
  if (!fits) return fft_plan_destroyed(number, library);
  plan.rank = static_cast<uint8_t>(rank);
  take_points(plan, form, a);
  if (FftPlan* const to = g_fft_plans.find_or_make(key_of(number, library)); to != nullptr) *to = plan;
}

void fft_plan_destroyed(uint64_t plan, uintptr_t library) { g_fft_plans.erase(key_of(plan, library)); }

void record_fft(const Recorded& call, const LibraryArguments& a, uintptr_t library) {
  const FftPlan* const known = g_fft_plans.find(key_of(a[0], library));
  if (known == nullptr) return call.as(0, [](CallText&) {});
  const FftPlan plan = *known;
  const LibraryForm& form = call.row.form;
  const bool directed = form.operation >= 0 && is_complex(plan.from) && is_complex(plan.to);
  const bool forward = directed && static_cast<int32_t>(a[form.operation]) < 0;
  const uint64_t small = plan.rank | uint64_t{plan.from} << 8 | uint64_t{plan.to} << 16 | uint64_t{forward} << 24;
  const auto word = [](int64_t n) { return static_cast<uint64_t>(n); };
  const uint64_t key =
      mix(mix(word(plan.points[0]), word(plan.points[1])), mix(word(plan.points[2]), word(plan.batch))) + mix(small, 1);
  call.as(key, [&](CallText& text) {
    text.sizes("points", plan.points, plan.rank);
    if (plan.batch != 1) text.size("batch", word(plan.batch));
    add_named(text, "A", plan.from, kCudaTypes);
    add_named(text, "C", plan.to, kCudaTypes);
    if (directed) text.value("direction", forward ? "forward" : "inverse");
  });
}

}  // namespace prof::preload
