#include "preload/intercept/cupti/cupti_subscribers.h"

#include "preload/base/messages.h"
#include "preload/capture/cupti/cupti_front.h"
#include "preload/record/thread_local.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>

namespace prof::preload {
namespace {

constexpr char kPrefix[] = "CUPTI for ", kNoName[] = "<not provided>";
constexpr size_t kNameBytes = 64;

struct Subscriber {
  // Kept: CUPTI has it, and no profiler does. It is of the library in which libprof.so is registered.
  enum State : uint32_t { Free, Changing, Lent, Kept };
  std::atomic<uint32_t> state{Free};
  std::atomic<CUpti_SubscriberHandle> handle{nullptr};
  std::atomic<CUpti_CallbackFunc> callback{nullptr};
  std::atomic<void*> user{nullptr};
  char name[kNameBytes] = "";
};
constexpr uint32_t kSubscribers = 4;
Subscriber g_subscribers[kSubscribers];

void CUPTIAPI call_subscriber(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
  const auto& subscriber = *static_cast<const Subscriber*>(user);
  const CUpti_CallbackFunc callback = subscriber.callback.load(std::memory_order_acquire);
  if (callback != nullptr) callback(subscriber.user.load(std::memory_order_acquire), domain, cbid, data);
}

Subscriber* take(uint32_t state) {
  for (Subscriber& one : g_subscribers) {
    uint32_t found = state;
    if (one.state.compare_exchange_strong(found, Subscriber::Changing, std::memory_order_acq_rel)) return &one;
  }
  return nullptr;
}

Subscriber* subscriber_of(CUpti_SubscriberHandle handle) {
  for (Subscriber& one : g_subscribers) {
    if (handle != nullptr && one.handle.load(std::memory_order_acquire) == handle) return &one;
  }
  return nullptr;
}

void lend(Subscriber& subscriber, const CuptiSubscription& wanted) {
  const char* const name = wanted.params != nullptr && wanted.params->name != nullptr ? wanted.params->name : kNoName;
  const size_t size = std::min(std::strlen(name), kNameBytes - sizeof kPrefix);
  std::memcpy(subscriber.name, kPrefix, sizeof kPrefix - 1);
  std::memcpy(subscriber.name + sizeof kPrefix - 1, name, size);
  subscriber.name[sizeof kPrefix - 1 + size] = 0;
  subscriber.user.store(wanted.user, std::memory_order_release);
  subscriber.callback.store(wanted.callback, std::memory_order_release);
  subscriber.state.store(Subscriber::Lent, std::memory_order_release);
}

// CUPTI writes the name of its first user, which is libprof.so's registration. The profiler asked for another's.
void name_the_other(const CuptiSubscriberParams* params) {
  if (params == nullptr || params->other_name == nullptr || params->other_name_bytes == 0) return;
  for (const Subscriber& one : g_subscribers) {
    if (one.state.load(std::memory_order_acquire) != Subscriber::Lent) continue;
    const size_t size = std::min(std::strlen(one.name), params->other_name_bytes - 1);
    std::memcpy(params->other_name, one.name, size);
    params->other_name[size] = 0;
    return;
  }
}

// CUPTI alone accepts a subscriber that allows others, if there is none.
void tell_of_several() {
  static std::atomic<bool> said{false};
  const KeepErrno keep_errno;
  say(said,
      "a profiler in the program wants to allow other CUPTI subscribers, which CUPTI refuses while libprof keeps an "
      "earlier one: that profiler gets no records. PROF_GPU=off leaves CUPTI to it");
}

void keep(Subscriber& subscriber) {
  const CUpti_SubscriberHandle handle = subscriber.handle.load(std::memory_order_relaxed);
  if (g_cupti.api.cuptiEnableAllDomains != nullptr) g_cupti.api.cuptiEnableAllDomains(0, handle);
  subscriber.callback.store(nullptr, std::memory_order_release);
  subscriber.state.store(Subscriber::Kept, std::memory_order_release);
}

}  // namespace

CUptiResult subscribe_to_cupti(const void* function, RealSubscribe real, CUpti_SubscriberHandle* handle,
                               const CuptiSubscription& wanted) {
  if (handle == nullptr) return real(function, handle, wanted.callback, wanted.user, wanted.params);
  const bool several = wanted.params != nullptr && wanted.params->size >= offsetof(CuptiSubscriberParams, unused) &&
                       wanted.params->several != 0;
  const bool sized = wanted.params == nullptr || wanted.params->size != 0;
  if (Subscriber* const kept = !several && sized && cupti_front_has(function) ? take(Subscriber::Kept) : nullptr;
      kept != nullptr) {
    *handle = kept->handle.load(std::memory_order_relaxed);
    lend(*kept, wanted);
    return CUPTI_SUCCESS;
  }
  Subscriber* const made = take(Subscriber::Free);
  if (made == nullptr) return real(function, handle, wanted.callback, wanted.user, wanted.params);
  CuptiSubscriberParams unnamed{};
  CuptiSubscriberParams* params = wanted.params;
  const bool nobody = std::none_of(std::begin(g_subscribers), std::end(g_subscribers), [](const Subscriber& one) {
    return one.state.load(std::memory_order_acquire) == Subscriber::Lent;
  });
  if (several && nobody) {  // a kept subscriber has no name for it
    std::memcpy(&unnamed, params, std::min(sizeof unnamed, params->size));
    unnamed.other_name = nullptr;
    unnamed.other_name_bytes = 0;
    params = &unnamed;
  }
  const CUptiResult result = real(function, handle, call_subscriber, made, params);
  if (result != CUPTI_SUCCESS) {
    made->state.store(Subscriber::Free, std::memory_order_release);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && !several) name_the_other(wanted.params);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && several && nobody) tell_of_several();
    return result;
  }
  made->handle.store(*handle, std::memory_order_release);
  lend(*made, wanted);
  return CUPTI_SUCCESS;
}

bool unsubscribe_from_cupti(CUpti_SubscriberHandle handle, bool kept, CUptiResult& result) {
  Subscriber* const subscriber = subscriber_of(handle);
  if (subscriber == nullptr) return false;
  uint32_t lent = Subscriber::Lent;
  if (!subscriber->state.compare_exchange_strong(lent, Subscriber::Changing, std::memory_order_acq_rel)) {
    result = CUPTI_ERROR_INVALID_PARAMETER;  // it unsubscribed before
    return true;
  }
  if (kept) {
    keep(*subscriber);
    result = CUPTI_SUCCESS;
    return true;
  }
  subscriber->handle.store(nullptr, std::memory_order_release);
  subscriber->callback.store(nullptr, std::memory_order_release);
  subscriber->state.store(Subscriber::Free, std::memory_order_release);
  return false;
}

void unsubscribe_all_from_cupti() {
  for (Subscriber& one : g_subscribers) {
    uint32_t lent = Subscriber::Lent;
    if (one.state.compare_exchange_strong(lent, Subscriber::Changing, std::memory_order_acq_rel)) keep(one);
  }
}

void forget_cupti_subscribers() {
  for (Subscriber& one : g_subscribers) {
    one.handle.store(nullptr, std::memory_order_release);
    one.callback.store(nullptr, std::memory_order_release);
    one.state.store(Subscriber::Free, std::memory_order_release);
  }
}

}  // namespace prof::preload
