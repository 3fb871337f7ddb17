// What does CUPTI's subscriber-scoped activity API ("V2", CUPTI 13.2 and newer) pass? The names are ours, because the
// headers that this is built with may be older, or newer than what is here. Sizes and offsets are those of CUPTI 13.5;
// structs only grow, and each one starts with its size.
#pragma once

#include "preload/capture/cupti/cupti_headers.h"

#include <cstddef>
#include <cstdint>

namespace prof::preload {

struct CuptiSubscriberParams {
  size_t size;
  const char* name;
  char* other_name;  // room for the name of who holds CUPTI
  size_t other_name_bytes;
  uint8_t several;  // 1: several subscribers at once are requested
  uint8_t unused[7];
};

// The fields of a user-defined record, by their ids for its kind. The first one is the kind.
struct CuptiFieldSelection {
  size_t size;
  size_t count;
  const int* ids;
};
struct CuptiActivityConfig {
  size_t size;
  CuptiFieldSelection fields;
  const void* kind_options;  // since CUPTI 13.4; for driver and runtime calls a CuptiCallOptions
};
struct CuptiCallSelection {
  size_t size;
  const CUpti_CallbackId* ids;
  size_t count;
  uint8_t only;  // 1: only these calls; 0: all others
};
struct CuptiCallOptions {
  size_t size;
  const CuptiCallSelection* calls;
};

struct CuptiFieldPlace {
  size_t size;
  int id;
  size_t offset, bytes, alignment;
};
struct CuptiRecordPlaces {
  size_t size;
  CuptiFieldPlace* fields;
  size_t count;
  size_t record_bytes;
};

struct CuptiRequestInfo {
  size_t size;
};
struct CuptiCompleteInfo {
  size_t size;
  uint64_t thread;
  CuptiRecordPlaces** places;  // by kind; null: no user-defined records of that kind
  size_t kinds;
};

using CuptiRequestedV2 = void(CUPTIAPI*)(uint8_t** buffer, size_t* size, size_t* most, CuptiRequestInfo* info);
using CuptiCompletedV2 = void(CUPTIAPI*)(uint8_t* buffer, size_t size, size_t valid, CuptiCompleteInfo* info);

// Attributes that cuptiActivityGetAttribute_v2 and cuptiActivitySetAttribute_v2 have beyond those of CUDA 12.
enum CuptiNewAttribute : int {
  kPerThreadBuffers = 9,
  kUserDefinedRecords = 11,
  kSeveralSubscribers = 12,
  kHardwareTrace = 13,
  kAllocationSource = 14,
  kLatencyTimestamps = 15,
  kAllSyncRecords = 16,
  kEventTimestamps = 17,
  kLaunchAttributes = 18,
  kDeviceGraphs = 19,
  kWholeGraphsForAll = 20,
  kThreadIdType = 21,
  kTimestampCallback = 22,
  kHardwareTraceBuffer = 24,
  kAttributes = 32,  // more than there are
};

}  // namespace prof::preload
