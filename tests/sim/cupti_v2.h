// The subscriber-scoped activity API of CUPTI ("V2", 13.2 and newer), for headers that do not have it yet: the
// simulated CUPTI and programs that use it declare it from here. Names are ours.
#pragma once
#include <cupti.h>

#include <cstddef>
#include <cstdint>

namespace cupti_v2 {

struct SubscriberParams {
  size_t size = sizeof(SubscriberParams);
  const char* name = nullptr;
  char* other_name = nullptr;
  size_t other_name_bytes = 0;
  uint8_t several = 0;
  uint8_t unused[7] = {};
};
struct Fields {
  size_t size = sizeof(Fields);
  size_t count = 0;
  int* ids = nullptr;
};
struct CallSelection {
  size_t size = sizeof(CallSelection);
  CUpti_CallbackId* ids = nullptr;
  size_t count = 0;
  uint8_t only = 0;
};
struct CallOptions {
  size_t size = sizeof(CallOptions);
  CallSelection* calls = nullptr;
};
struct Config {
  size_t size = sizeof(Config);
  Fields fields;
  void* kind_options = nullptr;
};
struct FieldPlace {
  size_t size = sizeof(FieldPlace);
  int id = 0;
  size_t offset = 0, bytes = 0, alignment = 0;
};
struct RecordPlaces {
  size_t size = sizeof(RecordPlaces);
  FieldPlace* fields = nullptr;
  size_t count = 0, record_bytes = 0;
};
struct RequestInfo {
  size_t size = sizeof(RequestInfo);
};
struct CompleteInfo {
  size_t size = sizeof(CompleteInfo);
  uint64_t thread = 0;
  RecordPlaces** places = nullptr;  // by kind
  size_t kinds = 0;
};
using Requested = void(CUPTIAPI*)(uint8_t** buffer, size_t* size, size_t* most, RequestInfo* info);
using Completed = void(CUPTIAPI*)(uint8_t* buffer, size_t size, size_t valid, CompleteInfo* info);

enum Attribute : int {
  kZeroedBuffers = 5,
  kPerThreadBuffers = 9,
  kUserDefinedRecords = 11,
  kSeveralSubscribers = 12,
  kHardwareTrace = 13,
  kLatencyTimestamps = 15,
  kAllSyncRecords = 16,
  kEventTimestamps = 17,
  kLaunchAttributes = 18,
  kDeviceGraphs = 19,
  kWholeGraphsForAll = 20,
  kThreadIdType = 21,
  kTimestampCallback = 22,
};

// name, parameters
#define CUPTI_V2_FUNCTIONS(X)                                                                                     \
  X(cuptiSubscribe_v2, (CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*, cupti_v2::SubscriberParams*))         \
  X(cuptiActivityRegisterCallbacks_v2, (CUpti_SubscriberHandle, cupti_v2::Requested, cupti_v2::Completed))        \
  X(cuptiActivityEnable_v2, (CUpti_SubscriberHandle, CUpti_ActivityKind, cupti_v2::Config*))                      \
  X(cuptiActivityEnableAndDump_v2, (CUpti_SubscriberHandle, CUpti_ActivityKind, cupti_v2::Config*))               \
  X(cuptiActivityDisable_v2, (CUpti_SubscriberHandle, CUpti_ActivityKind, cupti_v2::Config*))                     \
  X(cuptiActivityEnableDriverApi_v2, (CUpti_SubscriberHandle, CUpti_CallbackId, uint8_t))                         \
  X(cuptiActivityEnableRuntimeApi_v2, (CUpti_SubscriberHandle, CUpti_CallbackId, uint8_t))                        \
  X(cuptiActivitySetAttribute_v2, (CUpti_SubscriberHandle, int, size_t*, void*))                                  \
  X(cuptiActivityGetAttribute_v2, (CUpti_SubscriberHandle, int, size_t*, void*))                                  \
  X(cuptiActivityGetNextRecord_v2, (CUpti_SubscriberHandle, uint8_t*, size_t, CUpti_Activity**))                  \
  X(cuptiActivityGetNumDroppedRecords_v2, (CUpti_SubscriberHandle, CUcontext, uint32_t, size_t*))                 \
  X(cuptiActivityPushExternalCorrelationId_v2, (CUpti_SubscriberHandle, CUpti_ExternalCorrelationKind, uint64_t)) \
  X(cuptiActivityPopExternalCorrelationId_v2, (CUpti_SubscriberHandle, CUpti_ExternalCorrelationKind, uint64_t*)) \
  X(cuptiGetTimestamp_v2, (CUpti_SubscriberHandle, uint64_t*))                                                    \
  X(cuptiActivityGetEnabledKinds, (CUpti_SubscriberHandle, CUpti_ActivityKind*, uint32_t*, uint32_t*))

}  // namespace cupti_v2
