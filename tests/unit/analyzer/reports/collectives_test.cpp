// What a collective transfers, and to which call its kernel belongs. Sizes and bandwidths are computed as in
// nccl-tests, from the arguments of the PyTorch operators around the calls.
#include "analyzer/analysis/collectives/collective_calls.h"
#include "analyzer/analysis/collectives/collective_kernels.h"
#include "analyzer/analysis/collectives/collective_traffic.h"
#include "analyzer/command/inputs.h"
#include "tests/unit/analyzer/input/kineto/kineto_text.h"
#include "tests/unit/analyzer/shared_traces.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace prof::analyzer {
namespace {

TEST(CollectiveTraffic, NamesOfNcclAndOfPyTorchAreTheSameKinds) {
  const std::map<std::string_view, CollectiveKind> kinds = {{"ncclAllReduce", CollectiveKind::AllReduce},
                                                            {"allreduce_coalesced", CollectiveKind::AllReduce},
                                                            {"ncclReduceScatter", CollectiveKind::ReduceScatter},
                                                            {"_reduce_scatter_base", CollectiveKind::ReduceScatter},
                                                            {"all_gather", CollectiveKind::AllGather},
                                                            {"_allgather_base", CollectiveKind::AllGather},
                                                            {"all_to_allv", CollectiveKind::AllToAll},
                                                            {"ncclBcast", CollectiveKind::Broadcast},
                                                            {"broadcast", CollectiveKind::Broadcast},
                                                            {"reduce", CollectiveKind::Reduce},
                                                            {"gather", CollectiveKind::Gather},
                                                            {"scatter", CollectiveKind::Scatter},
                                                            {"ncclSend", CollectiveKind::PointToPoint},
                                                            {"recv 1<-0", CollectiveKind::PointToPoint},
                                                            {"barrier", CollectiveKind::Barrier}};
  for (const auto& [name, kind] : kinds) EXPECT_EQ(collective_kind(name), kind) << name;
}

TEST(CollectiveTraffic, SizesAndFactorsAreThoseOfNcclTests) {
  using enum CollectiveKind;
  for (const CollectiveKind kind : {AllReduce, Broadcast, Reduce, PointToPoint})
    EXPECT_EQ(collective_size(kind, 1000, 0), 1000) << static_cast<int>(kind);
  for (const CollectiveKind kind : {AllGather, ReduceScatter, AllToAll, Gather, Scatter}) {
    EXPECT_EQ(collective_size(kind, 1000, 8), 8000) << static_cast<int>(kind);
    EXPECT_EQ(collective_size(kind, 1000, 0), std::nullopt) << static_cast<int>(kind);
    EXPECT_EQ(collective_size(kind, UINT64_MAX / 2, 8), std::nullopt) << static_cast<int>(kind);
    EXPECT_DOUBLE_EQ(*bus_factor(kind, 8), 7.0 / 8) << static_cast<int>(kind);
    EXPECT_EQ(bus_factor(kind, 0), std::nullopt) << static_cast<int>(kind);
  }
  EXPECT_DOUBLE_EQ(*bus_factor(AllReduce, 8), 2 * 7.0 / 8);
  EXPECT_DOUBLE_EQ(*bus_factor(AllReduce, 1), 0);
  for (const CollectiveKind kind : {Broadcast, Reduce, PointToPoint})
    EXPECT_DOUBLE_EQ(*bus_factor(kind, 0), 1) << static_cast<int>(kind);
  EXPECT_EQ(bus_factor(Other, 8), std::nullopt);
  EXPECT_EQ(collective_size(Other, 8, 8), std::nullopt);
}

TEST(CollectiveTraffic, ElementsHaveTheSizesOfPyTorchsTypes) {
  EXPECT_EQ(element_bytes("Float"), 4);
  EXPECT_EQ(element_bytes("BFloat16"), 2);
  EXPECT_EQ(element_bytes("Float8_e4m3fn"), 1);
  EXPECT_EQ(element_bytes("ComplexDouble"), 16);
  EXPECT_EQ(element_bytes("QInt8"), 0);
}

// Two processes of one group, each with a thread, a device and one stream. The kernels of the second process start
// `late` ns later.
std::unique_ptr<Trace> two_ranks(std::string_view second_name, int late) {
  std::string text;
  const auto rank = [&](int pid, std::string_view name, int behind, int end) {
    text += fmt::format(
        R"(,{{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":{0},"tid":{0},"ts":0,"dur":50,"args":{{"External id":1,)"
        R"("Collective name":"{1}","dtype":"Float","In msg nelems":1000,"Out msg nelems":1000,"Group size":2,"Process Group Name":"7"}}}})"
        R"(,{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernelExC","pid":{0},"tid":{0},"ts":10,"dur":1,"args":{{"correlation":{0}}}}})"
        R"(,{{"ph":"X","cat":"kernel","name":"ncclKernel","pid":{2},"tid":7,"ts":{3},"dur":{4},"args":{{"correlation":{0},"device":{2},"stream":7}}}})",
        pid, name, pid - 10, 100 + behind, end - 100 - behind);
  };
  rank(10, "allreduce", 0, 140), rank(11, second_name, late, 141);
  return tests::import_text(fmt::format(R"({{"traceEvents":[{}]}})", text.substr(1)));
}

TEST(CollectiveKernels, BandwidthIsOfTheTimeFromTheLatestRankOn) {
  const auto trace = two_ranks("allreduce", 20);
  const std::vector<CollectiveKernel> kernels = collective_kernels(*trace, CollectiveCalls(*trace));
  ASSERT_EQ(kernels.size(), 2);
  for (const CollectiveKernel& kernel : kernels) {
    const GpuOperation& operation = trace->operations[kernel.operation];
    ASSERT_TRUE(kernel.latest_start_ns);
    const double time_ns = operation.duration_ns() == 40'000 ? 20'000 : 21'000;
    EXPECT_EQ(operation.end_ns - *kernel.latest_start_ns, time_ns);
    const CollectiveRate rate = collective_rate(*trace, kernel);
    EXPECT_DOUBLE_EQ(rate.algorithm, 4000 / time_ns);
    EXPECT_DOUBLE_EQ(rate.bus, 4000 / time_ns) << "2 (n - 1) / n of two ranks is 1";
  }
}

TEST(CollectiveKernels, WhatDiffersOrDoesNotOverlapIsNoOneOperation) {
  for (const auto& trace : {two_ranks("broadcast", 20), two_ranks("allreduce", 40)}) {
    for (const CollectiveKernel& kernel : collective_kernels(*trace, CollectiveCalls(*trace))) {
      EXPECT_FALSE(kernel.latest_start_ns);
      EXPECT_EQ(collective_rate(*trace, kernel).missing, "");
    }
  }
}

// The kernels of the trace have the same arguments as its operators: 21 kernels with 307,323,096 bytes in total.
TEST(CollectiveKernels, OfARecordedTraceAreThoseThatItsKernelsName) {
  PROF_NEEDS_SHARED_DATA();
  const auto trace =
      read_inputs({(prof::tests::shared_data() / "hta" / "nccl_parser_config__nccl_data.json.gz").string()});
  int64_t bytes = 0;
  const std::vector<CollectiveKernel> kernels = collective_kernels(*trace, CollectiveCalls(*trace));
  for (const CollectiveKernel& kernel : kernels) {
    bytes += kernel.call.bytes.value_or(0);
    EXPECT_EQ(kernel.call.ranks, 2);
    EXPECT_EQ(collective_rate(*trace, kernel).missing, "");
  }
  EXPECT_EQ(kernels.size(), 21);
  EXPECT_EQ(bytes, 307'323'096);
}

// Operators of one thread, each with a kernel that is launched at a given time.
class CollectiveText {
 public:
  CollectiveText& collective(int begin, int end, std::string_view members) {
    return event("cpu_op", "record_param_comms", begin, end, fmt::format(R"("External id":{}{})", ++ids_, members));
  }
  CollectiveText& kernel(std::string_view name, int launched, int start, int end) {
    event("cuda_runtime", "cudaLaunchKernelExC", launched, launched + 1, fmt::format(R"("correlation":{})", ++ids_));
    text_ += fmt::format(
        R"(,{{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":7,"ts":{},"dur":{},"args":{{"correlation":{},"device":0,"stream":7}}}})",
        name, start, end - start, ids_);
    return *this;
  }
  std::unique_ptr<Trace> import() const {
    return tests::import_text(fmt::format(R"({{"traceEvents":[{}]}})", text_.substr(1)));
  }

 private:
  CollectiveText& event(std::string_view category, std::string_view name, int begin, int end,
                        std::string_view arguments) {
    text_ += fmt::format(R"(,{{"ph":"X","cat":"{}","name":"{}","pid":10,"tid":11,"ts":{},"dur":{},"args":{{{}}}}})",
                         category, name, begin, end - begin, arguments);
    return *this;
  }
  std::string text_;
  int ids_ = 0;
};

constexpr std::string_view kGather =
    R"(,"Collective name":"_allgather_base","dtype":"BFloat16","In msg nelems":500,"Out msg nelems":2000,"Group size":4,)"
    R"("Rank":2,"Process Group Name":"pg, \"3\"")";
constexpr std::string_view kWaitMembers =
    R"(,"Collective name":"wait","In msg nelems":0,"Out msg nelems":0,"Group size":4)";
constexpr std::string_view kSend =
    R"(,"Collective name":"send 2->3","dtype":"Float","In msg nelems":10,"Out msg nelems":10,"Group size":4,"Dst Rank":3)";

TEST(CollectiveCalls, AKernelHasTheArgumentsOfTheOperatorAroundItsLaunch) {
  const auto trace = CollectiveText()
                         .collective(0, 50, kGather)
                         .kernel("ncclDevKernel_AllGather_RING_LL", 10, 100, 110)
                         .kernel("copy_of_the_argument", 5, 90, 95)
                         .kernel("elsewhere", 60, 120, 130)
                         .import();
  const CollectiveCalls calls(*trace);
  int found = 0;
  for (const GpuOperation& operation : trace->operations) {
    const auto call = calls.of(operation);
    EXPECT_EQ(call.has_value(), trace->text(trace->kernels[operation.detail].name).starts_with("nccl"));
    if (!call) continue;
    ++found;
    EXPECT_FALSE(call->grouped);
    EXPECT_EQ(call->name, "_allgather_base");
    EXPECT_EQ(call->communicator, R"(pg, \"3\")");
    EXPECT_EQ(call->rank, 2);
    EXPECT_EQ(call->ranks, 4);
    EXPECT_EQ(call->bytes, 1000);
    EXPECT_EQ(call->size, 4000) << "of all ranks";
    EXPECT_EQ(call->kind, CollectiveKind::AllGather);
  }
  EXPECT_EQ(found, 1);
}

TEST(CollectiveCalls, OfNestedOperatorsTheInnermostThatIsStillOpenIsTheCall) {
  const auto trace =
      CollectiveText().collective(0, 50, kGather).collective(5, 8, kSend).kernel("ncclKernel", 10, 100, 110).import();
  const auto call = CollectiveCalls(*trace).of(trace->operations[0]);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->name, "_allgather_base");
  EXPECT_FALSE(call->grouped);
}

TEST(CollectiveCalls, AWaitIsNoCallAndALaunchBehindAllCallsIsThatOfAGroup) {
  const auto trace = CollectiveText()
                         .collective(0, 10, kSend)
                         .collective(12, 14, kWaitMembers)
                         .kernel("ncclDevKernel_SendRecv", 20, 100, 110)
                         .import();
  const auto call = CollectiveCalls(*trace).of(trace->operations[0]);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->name, "send 2->3");
  EXPECT_EQ(call->peer, 3);
  EXPECT_TRUE(call->grouped);
}

TEST(CollectiveCalls, DamagedArgumentsAreNoNumbers) {
  const auto trace =
      CollectiveText()
          .collective(
              0, 50,
              R"(,"Collective name":"allreduce","dtype":"Float","In msg nelems":-5,"Out msg nelems":"x","Group size":-1)")
          .kernel("ncclKernel_AllReduce", 10, 100, 110)
          .collective(
              200, 250,
              R"(,"Collective name":"allreduce","dtype":"Double","In msg nelems":9223372036854775807,"Group size":{})")
          .kernel("ncclKernel_AllReduce", 210, 300, 310)
          .import();
  const CollectiveCalls calls(*trace);
  for (const GpuOperation& operation : trace->operations) {
    const auto call = calls.of(operation);
    ASSERT_TRUE(call);
    EXPECT_FALSE(call->bytes);
    EXPECT_EQ(call->known_ranks(), 0);
    EXPECT_FALSE(bus_factor(call->kind, call->known_ranks()));
  }
}

}  // namespace
}  // namespace prof::analyzer
