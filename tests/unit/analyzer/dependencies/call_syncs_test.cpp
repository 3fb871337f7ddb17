// Synchronisations derived from the calls of a log, for readers that look for CUPTI's synchronisation records.
#include "analyzer/dependencies/call_syncs.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <string>

namespace prof::analyzer {
namespace {

constexpr uint32_t kFirstStream = 1, kSecondStream = 2;  // rows of Trace::host_streams: of streams 7 and 8

// Two streams with known handles and a kernel each, and calls on them.
class CallSyncsTest : public testing::Test {
 protected:
  CallSyncsTest() {
    hand_.trace.processes[0].format = "prof log";
    hand_.stream(0, 8);
    hand_.launch(0, 1, 1);
    hand_.launch(1, 2, 2);
    hand_.kernel(10, 20, 1, 0);
    hand_.kernel(10, 20, 2, 1);
  }

  void call(std::string_view api, uint32_t host_stream, uint64_t subject = 0, uint32_t result = 0, uint32_t flags = 0) {
    const int64_t begin = 100 + 10 * static_cast<int64_t>(calls_.size());
    hand_.call(api, begin, begin + 5, 0, 0, subject);
    calls_.push_back({host_stream, result, flags});
  }

  // The kinds of all synchronisations, with the numbers of the streams and of the calls.
  std::string syncs() {
    hand_.finish();
    Trace& trace = hand_.trace;
    while (trace.host_streams.size() <= kSecondStream) trace.host_streams.emplace_back();
    trace.host_streams[kFirstStream].stream = 0, trace.host_streams[kSecondStream].stream = 1;
    constexpr uint32_t kLaunchCalls = 2;
    for (uint32_t i = 0; i < calls_.size(); ++i) {
      HostEvent& event = trace.host[kLaunchCalls + i];
      event.stream = HostStreamId{calls_[i].stream};
      event.word = HostEvent::pack(event.api(), event.kind(), calls_[i].flags, calls_[i].result);
    }
    const CallSyncs syncs(trace);
    constexpr const char* kKinds[] = {"?", "event", "wait", "stream", "context"};
    std::string text;
    for (uint32_t i = 0; i < calls_.size(); ++i) {
      const std::optional<CallSync> sync = syncs.of(kLaunchCalls + i);
      if (!sync) continue;
      text += std::to_string(i) + ":" + kKinds[static_cast<int>(sync->kind)];
      if (sync->stream != kNone) text += " " + std::to_string(trace.streams[sync->stream].number);
      if (sync->record != kNone)
        text += " for " + std::to_string(trace.streams[sync->record_on].number) + " at " +
                std::to_string(sync->record - kLaunchCalls) + " event " + std::to_string(sync->event);
      text += "; ";
    }
    return text;
  }

 private:
  struct Call {
    uint32_t stream, result, flags;
  };
  tests::HandTrace hand_;
  std::vector<Call> calls_;
};

TEST_F(CallSyncsTest, EachKindIsToldByItsCall) {
  call("cudaEventRecord", kFirstStream, 0xe1);
  call("cudaStreamWaitEvent", kSecondStream, 0xe1);
  call("cudaEventSynchronize", 0, 0xe1);
  call("cudaEventQuery", 0, 0xe1);
  call("cudaStreamSynchronize", kSecondStream);
  call("cudaDeviceSynchronize", 0);
  EXPECT_EQ(
      syncs(),
      "1:wait 8 for 7 at 0 event 1; 2:event for 7 at 0 event 1; 3:event for 7 at 0 event 1; 4:stream 8; 5:context; ");
}

TEST_F(CallSyncsTest, AWaitIsForTheLatestRecordBeforeIt) {
  call("cuEventRecord", kFirstStream, 0xe1);
  call("cuEventRecord", kFirstStream, 0xe2);
  call("cuEventRecord", kFirstStream, 0xe1);
  call("cuEventSynchronize", 0, 0xe1);
  call("cuEventRecord", kSecondStream, 0xe1);
  call("cuEventSynchronize", 0, 0xe2);
  call("cuEventSynchronize", 0, 0xe1);
  EXPECT_EQ(syncs(), "3:event for 7 at 2 event 1; 5:event for 7 at 1 event 2; 6:event for 8 at 4 event 1; ");
}

TEST_F(CallSyncsTest, NothingWaitsWhereTheCallFailedOrNeverReturnedOrIsPartOfAnother) {
  call("cudaStreamSynchronize", kFirstStream, 0, 700);
  call("cudaStreamSynchronize", kFirstStream, 0, 0, kHostUnfinished);
  call("cudaStreamSynchronize", kFirstStream, 0, 0, kHostNested);
  call("cudaStreamQuery", kFirstStream);
  EXPECT_EQ(syncs(), "");
}

TEST_F(CallSyncsTest, NothingWaitsForARecordThatTheLogDoesNotHave) {
  call("cudaStreamWaitEvent", kFirstStream, 0xe1);
  call("cudaEventSynchronize", 0, 0xe1);
  EXPECT_EQ(syncs(), "");
}

TEST_F(CallSyncsTest, AStreamDoesNotWaitForItself) {
  call("cudaEventRecord", kFirstStream, 0xe1);
  call("cudaStreamWaitEvent", kFirstStream, 0xe1);
  EXPECT_EQ(syncs(), "");
}

TEST_F(CallSyncsTest, NothingWaitsUnderCapture) {
  call("cudaEventRecord", kFirstStream, 0xe0);
  call("cudaStreamBeginCapture", kFirstStream);
  call("cudaEventRecord", kFirstStream, 0xe1);
  call("cudaStreamWaitEvent", kSecondStream, 0xe1);  // is captured from here on
  call("cudaStreamWaitEvent", kSecondStream, 0xe0);
  call("cudaStreamEndCapture", kFirstStream);
  call("cudaStreamWaitEvent", kSecondStream, 0xe1);  // marks a place in a graph and has no other effect
  call("cudaStreamWaitEvent", kSecondStream, 0xe0);
  EXPECT_EQ(syncs(), "7:wait 8 for 7 at 0 event 2; ");
}

TEST(CallSyncs, ADeviceThatNobodyNamesIsTheOnlyOneThatWorked) {
  for (const uint32_t on : {0u, 1u}) {
    tests::HandTrace hand;
    hand.device(0, 1);
    hand.stream(1, 7);
    hand.launch(0, 1, 1);
    hand.launch(1, 2, 2);
    hand.kernel(10, 20, 1, 0);
    hand.kernel(10, 20, 2, on);
    hand.call("cudaDeviceSynchronize", 3, 30);
    hand.finish();
    hand.trace.processes[0].format = "prof log";
    EXPECT_EQ(CallSyncs(hand.trace).of(2).has_value(), on == 0) << "which of two is not known";
  }
}

}  // namespace
}  // namespace prof::analyzer
