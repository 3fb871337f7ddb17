// Who subscribes to CUPTI's callbacks? CUPTI allows one subscriber, and libprof.so is not one. But when a subscriber
// unsubscribes, CUPTI 13.5 stops timing kernels, copies and fills of the whole process, and enabling the kinds again
// does not help (an H200, driver 580). So CUPTI's subscriber stays when the profiler unsubscribes, with no callback
// enabled, and the next profiler gets the same handle. cupti_stand_ins.cpp uses it, on the profilers' threads.
#pragma once

#include "preload/capture/cupti/cupti_subscriber_types.h"

namespace prof::preload {

// What a profiler subscribes with.
struct CuptiSubscription {
  CUpti_CallbackFunc callback;
  void* user;
  CuptiSubscriberParams* params;  // null: by cuptiSubscribe, or none
};
// Calls CUPTI's function with the callback that CUPTI is to call.
using RealSubscribe = CUptiResult (*)(const void* function, CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                                      void* user, CuptiSubscriberParams* params);

// `function`: cuptiSubscribe or cuptiSubscribe_v2 of a libcupti.
CUptiResult subscribe_to_cupti(const void* function, RealSubscribe real, CUpti_SubscriberHandle* handle,
                               const CuptiSubscription& wanted);
// False: CUPTI itself must be called. `kept`: whether CUPTI's subscriber may stay.
bool unsubscribe_from_cupti(CUpti_SubscriberHandle handle, bool kept, CUptiResult& result);
// cuptiFinalize, while CUPTI stays: all unsubscribe.
void unsubscribe_all_from_cupti();
// CUPTI was finalized, or this is the child of a fork: there are no subscribers.
void forget_cupti_subscribers();

}  // namespace prof::preload
