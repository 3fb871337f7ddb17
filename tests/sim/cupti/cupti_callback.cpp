// The callback API of the simulated CUPTI and its small queries: ids, names, time. As in CUPTI 13.5 there is one
// subscriber at a time, or several if all of them allow it.
#include <algorithm>
#include <utility>

#include "tests/sim/cupti/cupti_scope.h"
#include "tests/sim/cupti/cupti_state.h"
#define SIM_EXPORT __attribute__((visibility("default")))

// A subscriber handle is the address of the Subscriber.
namespace sim {
namespace {

Subscriber* checked(State& now, CUpti_SubscriberHandle handle) {
  Subscriber* one = reinterpret_cast<Subscriber*>(handle);
  if (one == nullptr || now.subscriber.get() == one) return one;
  const auto found =
      std::find_if(now.others.begin(), now.others.end(), [&](const auto& it) { return it.get() == one; });
  return found != now.others.end() ? one : nullptr;
}

CUptiResult set(Subscriber& subscriber, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, bool all, bool on) {
  const auto change = [&](auto& bits) {
    if (all) {
      on ? bits.set() : bits.reset();
      return CUPTI_SUCCESS;
    }
    if (cbid >= bits.size()) return CUPTI_ERROR_INVALID_PARAMETER;
    bits[cbid] = on;
    return CUPTI_SUCCESS;
  };
  switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API: return change(subscriber.driver);
    case CUPTI_CB_DOMAIN_RUNTIME_API: return change(subscriber.runtime);
    case CUPTI_CB_DOMAIN_RESOURCE: return change(subscriber.resource);
    case CUPTI_CB_DOMAIN_SYNCHRONIZE:
    case CUPTI_CB_DOMAIN_NVTX:
    case CUPTI_CB_DOMAIN_STATE: return CUPTI_SUCCESS;
    default: return CUPTI_ERROR_INVALID_PARAMETER;
  }
}

struct CallbackName {
  uint32_t cbid;
  const char* name;
};
#include "cupti_names.inc"

thread_local CUptiResult tl_last_error = CUPTI_SUCCESS;

const char* name_in(const CallbackName* table, size_t count, uint32_t cbid) {
  for (size_t i = 0; i < count; ++i) {
    if (table[i].cbid == cbid) return table[i].name;
  }
  return nullptr;
}

}  // namespace

CUptiResult noted(CUptiResult result) {
  if (result != CUPTI_SUCCESS) tl_last_error = result;
  return result;
}

}  // namespace sim

using namespace sim;

extern "C" {

SIM_EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* userdata) {
  const LeavesErrno leaves_errno;
  if (subscriber == nullptr || callback == nullptr) return noted(CUPTI_ERROR_INVALID_PARAMETER);
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return noted(result);
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  if (now.subscriber != nullptr) return noted(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  now.subscriber = std::make_unique<Subscriber>();
  now.subscriber->callback = callback;
  now.subscriber->user = userdata;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(now.subscriber.get());
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                         void* userdata, CUpti_SubscriberParams* params) {
  const LeavesErrno leaves_errno;
  const auto* const all = reinterpret_cast<const cupti_v2::SubscriberParams*>(params);
  const bool several = all != nullptr && all->size >= sizeof *all && all->several != 0;
  State& now = state();
  if (several && subscriber != nullptr) {
    std::lock_guard<std::mutex> lock(now.mutex);
    if (now.subscriber != nullptr && now.subscriber->several) {
      Subscriber& made = *now.others.emplace_back(std::make_unique<Subscriber>(*now.subscriber));
      made = Subscriber{true, true, all->name != nullptr ? all->name : made.name, callback, userdata, {}, {}, {}};
      *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&made);
      return CUPTI_SUCCESS;
    }
  }
  const CUptiResult result = cuptiSubscribe(subscriber, callback, userdata);
  std::lock_guard<std::mutex> lock(now.mutex);
  if (result == CUPTI_SUCCESS) {
    now.subscriber->scoped = true;
    now.subscriber->several = several;
    if (all != nullptr && all->name != nullptr) now.subscriber->name = all->name;
  } else if (now.subscriber != nullptr && all != nullptr && !several && all->other_name != nullptr) {
    snprintf(all->other_name, all->other_name_bytes, "CUPTI for %s", now.subscriber->name.c_str());
  }
  return result;
}

SIM_EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  const LeavesErrno leaves_errno;
  State& now = state();
  {
    std::lock_guard<std::mutex> lock(now.mutex);
    if (checked(now, subscriber) == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    const auto is_it = [&](const auto& one) { return one.get() == reinterpret_cast<Subscriber*>(subscriber); };
    if (!is_it(now.subscriber)) {
      now.others.erase(std::find_if(now.others.begin(), now.others.end(), is_it));
      return CUPTI_SUCCESS;
    }
  }
  end_subscriber(now);
  std::lock_guard<std::mutex> lock(now.mutex);
  now.subscriber.reset();
  if (!now.others.empty()) {
    now.subscriber = std::move(now.others.front());
    now.others.erase(now.others.begin());
  }
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                           CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  const LeavesErrno leaves_errno;
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  Subscriber* one = checked(now, subscriber);
  return one == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : set(*one, domain, cbid, false, enable != 0);
}

SIM_EXPORT CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                         CUpti_CallbackDomain domain) {
  const LeavesErrno leaves_errno;
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  Subscriber* one = checked(now, subscriber);
  return one == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : set(*one, domain, 0, true, enable != 0);
}

SIM_EXPORT CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle subscriber) {
  const LeavesErrno leaves_errno;
  for (int domain = CUPTI_CB_DOMAIN_DRIVER_API; domain < CUPTI_CB_DOMAIN_SIZE; ++domain) {
    const CUptiResult result = cuptiEnableDomain(enable, subscriber, static_cast<CUpti_CallbackDomain>(domain));
    if (result != CUPTI_SUCCESS) return result;
  }
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetCallbackState(uint32_t* enable, CUpti_SubscriberHandle subscriber,
                                             CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  const LeavesErrno leaves_errno;
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  const Subscriber* one = checked(now, subscriber);
  if (one == nullptr || enable == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *enable = 0;
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && cbid < kDriverCallbacks) *enable = one->driver[cbid];
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && cbid < kRuntimeCallbacks) *enable = one->runtime[cbid];
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiSupportedDomains(size_t* domainCount, CUpti_DomainTable* domainTable) {
  const LeavesErrno leaves_errno;
  static CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API,
                                           CUPTI_CB_DOMAIN_RESOURCE};
  if (domainCount == nullptr || domainTable == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *domainCount = sizeof domains / sizeof domains[0];
  *domainTable = domains;
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char** name) {
  const LeavesErrno leaves_errno;
  if (name == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = nullptr;
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
    *name = name_in(kDriverNames, sizeof kDriverNames / sizeof kDriverNames[0], cbid);
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
    *name = name_in(kRuntimeNames, sizeof kRuntimeNames / sizeof kRuntimeNames[0], cbid);
  return *name != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

SIM_EXPORT CUptiResult cuptiGetVersion(uint32_t* version) {
  const LeavesErrno leaves_errno;
  if (version == nullptr) return noted(CUPTI_ERROR_INVALID_PARAMETER);
  *version = script().cupti.version != 0 ? script().cupti.version : CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  const LeavesErrno leaves_errno;
  if (timestamp == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (excluded_by_subscriber(state(), false)) return CUPTI_ERROR_NOT_COMPATIBLE;
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return result;
  *timestamp = clock_now(state());
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  const LeavesErrno leaves_errno;
  if (type != CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT && type != CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
    return CUPTI_ERROR_NOT_SUPPORTED;
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  now.thread_id_type = type;
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  const LeavesErrno leaves_errno;
  if (type == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  State& now = state();
  std::lock_guard<std::mutex> lock(now.mutex);
  *type = now.thread_id_type;
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t* deviceId) {
  const LeavesErrno leaves_errno;
  if (deviceId == nullptr) return noted(CUPTI_ERROR_INVALID_PARAMETER);
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return noted(result);
  *deviceId = state().driver.load()->device_of(context);
  return CUPTI_SUCCESS;
}
SIM_EXPORT CUptiResult cuptiGetContextId(CUcontext context, uint32_t* contextId) {
  const LeavesErrno leaves_errno;
  if (contextId == nullptr || context == nullptr) return noted(CUPTI_ERROR_INVALID_CONTEXT);
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return noted(result);
  *contextId = state().driver.load()->context_id(context);
  return CUPTI_SUCCESS;
}
SIM_EXPORT CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t perThreadStream,
                                          uint32_t* streamId) {
  const LeavesErrno leaves_errno;
  if (streamId == nullptr) return noted(CUPTI_ERROR_INVALID_PARAMETER);
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return noted(result);
  *streamId = state().driver.load()->stream_id(context, stream, perThreadStream != 0);
  return noted(*streamId != 0 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_STREAM);
}
SIM_EXPORT CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t* streamId) {
  const LeavesErrno leaves_errno;
  return cuptiGetStreamIdEx(context, stream, 0, streamId);
}
SIM_EXPORT CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* nodeId) {
  const LeavesErrno leaves_errno;
  if (node == nullptr || nodeId == nullptr) return noted(CUPTI_ERROR_INVALID_PARAMETER);
  if (script().cupti.no_graph_ids) return noted(CUPTI_ERROR_NOT_SUPPORTED);
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return noted(result);
  *nodeId = state().driver.load()->node_id(node);
  return CUPTI_SUCCESS;
}
SIM_EXPORT CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t* pId) {
  const LeavesErrno leaves_errno;
  if (graph == nullptr || pId == nullptr) return noted(CUPTI_ERROR_INVALID_PARAMETER);
  if (script().cupti.no_graph_ids) return noted(CUPTI_ERROR_NOT_SUPPORTED);
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return noted(result);
  *pId = state().driver.load()->graph_id(graph);
  return CUPTI_SUCCESS;
}
SIM_EXPORT CUptiResult cuptiGetGraphExecId(CUgraphExec graphExec, uint32_t* pId) {
  const LeavesErrno leaves_errno;
  if (graphExec == nullptr || pId == nullptr) return noted(CUPTI_ERROR_INVALID_PARAMETER);
  if (script().cupti.no_graph_ids) return noted(CUPTI_ERROR_NOT_SUPPORTED);
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return noted(result);
  *pId = state().driver.load()->exec_id(graphExec);
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char** str) {
  const LeavesErrno leaves_errno;
  if (str == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *str = name_in(kResultNames, sizeof kResultNames / sizeof kResultNames[0], static_cast<uint32_t>(result));
  return *str != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
SIM_EXPORT CUptiResult cuptiGetErrorMessage(CUptiResult result, const char** str) {
  const LeavesErrno leaves_errno;
  return cuptiGetResultString(result, str);
}
// Of the thread's failed calls, until it is read.
// The launch of a graph leaves an error of the process that stays, as CUPTI 13.0 does on an H200.
SIM_EXPORT CUptiResult cuptiGetLastError() {
  const LeavesErrno leaves_errno;
  const CUptiResult error = std::exchange(tl_last_error, CUPTI_SUCCESS);
  return error == CUPTI_SUCCESS && state().graph_launched ? CUPTI_ERROR_OUT_OF_MEMORY : error;
}

}  // extern "C"
