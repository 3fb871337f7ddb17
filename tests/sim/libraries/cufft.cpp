// A small cuFFT: libcufft.so.12 (with the symbol versions of the real one). It transforms nothing: it launches
// "vector_fft" once for each dimension, after "scale_fft" if there are several, and nothing for kSimNothing. Plans are
// numbered from 1 on, and numbers are reused.
#include "tests/sim/libraries.h"

#include <map>
#include <mutex>

#define SIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct Plan {
  int rank;  // 0: not made yet
  CUstream stream;
};
std::mutex g_lock;
std::map<int, Plan> g_plans;

int made(int plan, int rank, long long batch, const long long* sizes) {
  const std::lock_guard lock(g_lock);
  const auto found = g_plans.find(plan);
  if (found == g_plans.end() || found->second.rank != 0) return 1;
  if (rank < 1 || rank > 3 || batch < 1) return 8;
  for (int i = 0; i < rank; ++i) {
    if (sizes[i] < 1) return 8;
  }
  found->second.rank = rank;
  return 0;
}

int run(int plan, const void* input) {
  if (input == kSimNothing) return 0;
  Plan known = {};
  {
    const std::lock_guard lock(g_lock);
    if (const auto found = g_plans.find(plan); found != g_plans.end()) known = found->second;
  }
  if (known.rank == 0) return 1;
  if (known.rank > 1 && sim_libraries::launch("scale_fft", known.stream) != 0) return 6;
  for (int i = 0; i < known.rank; ++i) {
    if (sim_libraries::launch("vector_fft", known.stream) != 0) return 6;
  }
  return 0;
}

}  // namespace

SIM_EXPORT int cufftCreate(int* plan) {
  const std::lock_guard lock(g_lock);
  for (*plan = 1; g_plans.count(*plan) != 0;) ++*plan;
  g_plans[*plan] = {};
  return 0;
}
SIM_EXPORT int cufftDestroy(int plan) {
  const std::lock_guard lock(g_lock);
  return g_plans.erase(plan) == 1 ? 0 : 1;
}
SIM_EXPORT int cufftSetStream(int plan, CUstream stream) {
  const std::lock_guard lock(g_lock);
  g_plans[plan].stream = stream;
  return 0;
}
SIM_EXPORT int cufftMakePlan1d(int plan, int nx, int, int batch, size_t*) {
  const long long sizes[] = {nx};
  return made(plan, 1, batch, sizes);
}
SIM_EXPORT int cufftMakePlanMany64(int plan, int rank, long long* n, long long*, long long, long long, long long*,
                                   long long, long long, int, long long batch, size_t*) {
  return made(plan, rank, batch, n);
}
// The result depends on the last argument, the eighth on the stack, so all have to be passed on.
SIM_EXPORT int cufftXtMakePlanMany(int plan, int rank, long long* n, long long*, long long, long long, int, long long*,
                                   long long, long long, int, long long batch, size_t*, int execution) {
  return execution == 6 ? made(plan, rank, batch, n) : 8;
}
SIM_EXPORT int cufftPlan1d(int* plan, int nx, int type, int batch) {
  cufftCreate(plan);
  return cufftMakePlan1d(*plan, nx, type, batch, nullptr);
}
SIM_EXPORT int cufftPlan2d(int* plan, int nx, int ny, int) {
  const long long sizes[] = {nx, ny};
  cufftCreate(plan);
  return made(*plan, 2, 1, sizes);
}
SIM_EXPORT int cufftPlan3d(int* plan, int nx, int ny, int nz, int) {
  const long long sizes[] = {nx, ny, nz};
  cufftCreate(plan);
  return made(*plan, 3, 1, sizes);
}
SIM_EXPORT int cufftPlanMany(int* plan, int rank, int* n, int*, int, int, int*, int, int, int, int batch) {
  long long sizes[3] = {};
  for (int i = 0; i < rank && i < 3; ++i) sizes[i] = n[i];
  cufftCreate(plan);
  return made(*plan, rank, batch, sizes);
}
SIM_EXPORT int cufftExecC2C(int plan, void* input, void*, int) { return run(plan, input); }
SIM_EXPORT int cufftExecR2C(int plan, void* input, void*) { return run(plan, input); }
SIM_EXPORT int cufftExecZ2D(int plan, void* input, void*) { return run(plan, input); }
SIM_EXPORT int cufftXtExec(int plan, void* input, void*, int) { return run(plan, input); }
