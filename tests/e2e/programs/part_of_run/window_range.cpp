// PROF_START=nvtx:NAME@DOMAIN: the recording lasts as long as the first range of that name in that domain, pushed or
// started, with a registered name or a plain one. Nested ranges, ranges of other domains and other threads do not stop
// it; without a domain any domain matches.
// Shell: PROF_START=nvtx:step@train {run} && PROF_START=nvtx:step@train {run} start && PROF_NVTX=off PROF_START=nvtx:step {run} default && PROF_START=nvtx:step@ {run} && PROF_START=nvtx:none {run}
// Expect: status 0
// Expect: stderr empty
// Expect: logs 4
// Expect: log 1: 1 nvtx_push(step), 3 nvtx_push(inner), 4 nvtx_push, 3 nvtx_pop, 4 kernel_launch(inside), 4 kernel_launch, 4 kernel_run, whole, 0 lost
// Expect: log 1: text meta key="recording_ended" value="NVTX range"
// Expect: log 2: 1 nvtx_start(step), 2 nvtx_start, 2 nvtx_end, 3 nvtx_push, 4 kernel_launch(inside), 4 kernel_launch, 4 kernel_run, whole, 0 lost
// Expect: log 3: 1 nvtx_push(step), 4 kernel_launch(inside), 4 kernel_launch, whole, 0 lost
// Expect: log 4: 1 nvtx_push(step), 2 kernel_launch(early), 2 kernel_launch, whole, 0 lost
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExt.h>

#include <cstring>
#include <thread>

using namespace sim_program;

static nvtxEventAttributes_t named(nvtxStringHandle_t name) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = name;
  return event;
}

int main(int argc, char** argv) {
  const bool by_default = argc > 1 && std::strcmp(argv[1], "default") == 0;
  const bool started = argc > 1 && std::strcmp(argv[1], "start") == 0;
  const CUcontext context = make_context();
  const CUfunction early = kernel("early"), inside = kernel("inside"), late = kernel("late");
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("train"), other = nvtxDomainCreateA("other");
  const nvtxEventAttributes_t step = named(nvtxDomainRegisterStringA(domain, "step")),
                              inner = named(nvtxDomainRegisterStringA(domain, "inner")),
                              elsewhere = named(nvtxDomainRegisterStringA(other, "inner"));
  nvtxRangePushA("warm-up");
  SIM_CHECK(launch(early));
  if (!by_default) {  // the right name in the default domain, which one of the runs requests
    nvtxRangePushA("step");
    for (int i = 0; i < 2; ++i) SIM_CHECK(launch(early));
    nvtxRangePop();
    nvtxRangePop();
  }
  nvtxRangeId_t range = 0;
  if (by_default) {
    if (nvtxRangePushA("step") != 1) return 1;
  } else if (started) {
    range = nvtxDomainRangeStartEx(domain, &step);
  } else {
    if (nvtxDomainRangePushEx(domain, &step) != 0) return 2;
  }
  SIM_CHECK(launch(inside));
  nvtxDomainRangePushEx(domain, &inner);
  SIM_CHECK(launch(inside));
  nvtxDomainRangePop(domain);
  nvtxDomainRangePushEx(other, &elsewhere);
  std::thread([&] {
    SIM_CHECK(cuCtxSetCurrent(context));
    nvtxDomainRangePushEx(domain, &inner);
    SIM_CHECK(launch(inside));
    nvtxDomainRangePop(domain);
    if (started) nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &inner));
  }).join();
  SIM_CHECK(launch(inside));
  SIM_CHECK(cuCtxSynchronize());
  if (by_default) {
    nvtxRangePop();
  } else if (started) {
    std::thread([&] { nvtxDomainRangeEnd(domain, range); }).join();
  } else {
    if (nvtxDomainRangePop(domain) != 0) return 3;
  }
  SIM_CHECK(launch(late));
  nvtxDomainRangePop(other);
  nvtxDomainRangePushEx(domain, &step);  // a second one does not prolong the recording
  SIM_CHECK(launch(late));
  nvtxDomainRangePop(domain);
  SIM_CHECK(cuCtxSynchronize());
}
