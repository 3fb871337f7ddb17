// A program with more names and launch shapes than usual: SHAPES launches of one kernel, each with its own grid, then
// KERNELS kernels of different names, then TEXTS NVTX ranges of different texts in two domains, STREAMS streams that
// exist at the same time, and GRAPHS executable graphs. At last everything is used once more, in the same order.
// It prints ns per launch at the start and at the end of the first part. Usage: many_names SHAPES KERNELS TEXTS STREAMS
// GRAPHS
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <string>
#include <vector>

namespace {

using sim_program::launch;

double ns_each(long from, long to, CUfunction function) {
  const auto begin = std::chrono::steady_clock::now();
  for (long i = from; i < to; ++i) SIM_CHECK(launch(function, nullptr, static_cast<unsigned>(i + 1)));
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() /
         static_cast<double>(to > from ? to - from : 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) return 1;
  const long shapes = atol(argv[1]), kernels = atol(argv[2]), texts = atol(argv[3]), streams = atol(argv[4]),
             graphs = atol(argv[5]);
  sim_program::make_context();
  const CUfunction shaped = sim_program::kernel("shaped");
  std::vector<CUfunction> made;
  for (long i = 0; i < kernels; ++i) made.push_back(sim_program::kernel(("kernel_" + std::to_string(i)).c_str()));
  std::vector<CUstream> all_streams;
  for (long i = 0; i < streams; ++i) all_streams.push_back(sim_program::make_stream());
  std::vector<CUgraphExec> all_graphs;
  for (long i = 0; i < graphs; ++i) {
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    SIM_CHECK(cuGraphCreate(&graph, 0));
    SIM_CHECK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    SIM_CHECK(cuGraphDestroy(graph));
    all_graphs.push_back(executable);
  }
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("odd");
  for (int round = 0; round < 2; ++round) {
    const long early = shapes < 40000 ? shapes : 40000, late = shapes - early < early ? early : shapes - early;
    const double first = ns_each(0, early, shaped);
    ns_each(early, late, shaped);
    const double last = ns_each(late, shapes, shaped);
    std::printf("%s: %.0f ns a launch, then %.0f\n", round == 0 ? "new shapes" : "known shapes", first, last);
    for (const CUfunction function : made) SIM_CHECK(launch(function));
    for (long i = 0; i < texts; ++i) {
      const std::string text = "text_" + std::to_string(i);
      nvtxEventAttributes_t event{};
      event.version = NVTX_VERSION;
      event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
      event.messageType = NVTX_MESSAGE_TYPE_ASCII;
      event.message.ascii = text.c_str();
      event.category = static_cast<uint32_t>(i % 7);
      if (i % 2 == 0) {
        nvtxRangePushEx(&event);
        nvtxRangePop();
      } else {
        nvtxDomainRangePushEx(domain, &event);
        nvtxDomainRangePop(domain);
      }
    }
    for (const CUstream stream : all_streams) SIM_CHECK(launch(shaped, stream));
    for (const CUgraphExec graph : all_graphs) SIM_CHECK(cuGraphLaunch(graph, nullptr));
    SIM_CHECK(cuCtxSynchronize());
  }
  std::FILE* const status = std::fopen("/proc/self/status", "r");
  char line[256];
  long kilobytes = 0;
  while (std::fgets(line, sizeof line, status) != nullptr) std::sscanf(line, "RssAnon: %ld", &kilobytes);
  std::fclose(status);
  std::printf("%ld KiB\n", kilobytes);
}
