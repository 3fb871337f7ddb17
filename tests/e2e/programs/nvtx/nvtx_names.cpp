// Names of threads, devices, contexts, streams, events and other objects, of categories, and of synchronisation objects
// of the program.
// Expect: status 0
// Expect: log 1: whole, 0 lost, 10 resource_name, 11 nvtx_sync, 2 nvtx_category, counter nvtx_handles_unknown 1
// Expect: report nvtx-names: thread,main thread,
// Expect: report nvtx-names: thread,from pthread_self,
// Expect: report nvtx-names: device,first GPU,0,
// Expect: report nvtx-names: context,c\u00f6ntext,1,
// Expect: report nvtx-names: stream,copies,0x
// Expect: report nvtx-names: event,ready,0x
// Expect: report nvtx-names: mutex,the lock,0x[0-9a-f]+,things,
// Expect: report nvtx-names: mutex,the lock,.*,taken back
// Expect: report nvtx-names: category,seven,7,
// Expect: report nvtx-names: category,seven there,7,things
// Expect: report nvtx-trace: ,in seven,.*,seven,
// Expect: report nvtx-trace: ,in seven there,.*,seven there,
// Expect: report nvtx-trace: ,wait for queue,.*,StartEnd,things,
// Expect: report nvtx-trace: ,hold queue,.*,StartEnd,things,
// Expect: report nvtx-trace: ,hold queue,.*,"?closed by thread [0-9]+
// Expect: report nvtx-trace: ,acquire queue failed,.*,Mark,things,
// Expect: report nvtx-trace: ,create queue,.*,Mark,things,
// Expect: report nvtx-trace: ,destroy queue,.*,Mark,things,
// Expect: report nvtx-trace: coverage: .*nvtx_sync_unmatched 1
// Expect: trace: "thread_name".*"name":"thread [0-9]+ \(from pthread_self\)"
// Expect: trace: "thread_name".*"name":"stream [0-9]+ copies
// Expect: trace: "process_name".*"name":"GPU 0 first GPU \(
// Expect: trace: "name":"in seven".*"category":7,"category name":"seven"
#include "tests/sim/sim_program.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtSync.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

int main() {
  const CUcontext context = sim_program::make_context();
  const CUstream stream = sim_program::make_stream();
  CUevent event;
  SIM_CHECK(cuEventCreate(&event, 0));
  nvtxNameOsThreadA(static_cast<uint32_t>(syscall(SYS_gettid)), "main thread");
  nvtxNameCuDeviceA(0, "first GPU");
  nvtxNameCuContextW(context, L"c\u00f6ntext");
  nvtxNameCuStreamA(stream, "copies");
  nvtxNameCuEventA(event, "ready");
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("things");
  pthread_mutex_t mutex;
  nvtxResourceAttributes_t resource{};
  resource.version = NVTX_VERSION;
  resource.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
  resource.identifierType = NVTX_RESOURCE_TYPE_SYNC_PTHREAD_MUTEX;
  resource.identifier.pValue = &mutex;
  resource.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  resource.message.registered = nvtxDomainRegisterStringA(domain, "the lock");
  const nvtxResourceHandle_t lock = nvtxDomainResourceCreate(domain, &resource);
  if (lock == nullptr) return 1;
  nvtxDomainResourceDestroy(lock);
  resource.identifierType = NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX;
  resource.identifier.ullValue = static_cast<uint64_t>(pthread_self());
  resource.messageType = NVTX_MESSAGE_TYPE_ASCII;
  resource.message.ascii = "from pthread_self";
  nvtxDomainResourceCreate(domain, &resource);
  resource.identifierType = NVTX_RESOURCE_TYPE_GENERIC_POINTER;
  nvtxDomainResourceCreate(domain, &resource);
  nvtxDomainResourceDestroy(reinterpret_cast<nvtxResourceHandle_t>(domain));  // not a resource: counted
  nvtxDomainResourceDestroy(nullptr);
  nvtxNameOsThreadA(1, "nobody's");

  nvtxNameCategoryA(7, "seven");
  nvtxDomainNameCategoryW(domain, 7, L"seven there");
  nvtxEventAttributes_t mark{};
  mark.version = NVTX_VERSION;
  mark.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  mark.category = 7;
  mark.messageType = NVTX_MESSAGE_TYPE_ASCII;
  mark.message.ascii = "in seven";
  nvtxMarkEx(&mark);
  mark.message.ascii = "in seven there";
  nvtxDomainMarkEx(domain, &mark);

  nvtxSyncUserAttributes_t named{};
  named.version = NVTX_VERSION;
  named.size = NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE;
  named.messageType = NVTX_MESSAGE_TYPE_ASCII;
  named.message.ascii = "queue";
  const nvtxSyncUser_t queue = nvtxDomainSyncUserCreate(domain, &named);
  if (queue == nullptr) return 2;
  nvtxDomainSyncUserAcquireStart(queue);
  std::thread([&] {
    nvtxDomainSyncUserAcquireStart(queue);
    nvtxDomainSyncUserAcquireFailed(queue);
  }).join();
  nvtxDomainSyncUserAcquireSuccess(queue);
  nvtxDomainSyncUserReleasing(queue);
  nvtxDomainSyncUserAcquireStart(queue);
  nvtxDomainSyncUserAcquireSuccess(queue);
  std::thread([&] { nvtxDomainSyncUserReleasing(queue); }).join();
  nvtxDomainSyncUserReleasing(queue);
  nvtxDomainSyncUserDestroy(queue);

  SIM_CHECK(sim_program::launch(sim_program::kernel("work"), stream));
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}
