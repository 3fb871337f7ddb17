// How do the two activity APIs of the simulated CUPTI meet? The global one and the subscriber-scoped one exclude each
// other, as in CUPTI 13.5: the global one until cuptiFinalize, the other one until its subscriber unsubscribed.
#pragma once
#include "tests/sim/cupti/cupti_state.h"
#include "tests/sim/cupti_v2.h"

namespace sim {

// Whether a call of the global API is refused because a subscriber collects. If not, and the call `enters`, the global
// API excludes subscribers from now on.
bool excluded_by_subscriber(State& now, bool enters);
void end_subscriber(State& now);  // it unsubscribed
// False: no functions are registered.
bool request_scoped(State& now, uint8_t** buffer, size_t* size, size_t* most);
void complete_scoped(State& now, uint8_t* buffer, size_t size, size_t used);
// With the mutex: a record as the subscriber selected its fields. 0: it selected none of that kind.
size_t write_scoped(const uint8_t* record, size_t bytes, uint8_t* to);

}  // namespace sim
