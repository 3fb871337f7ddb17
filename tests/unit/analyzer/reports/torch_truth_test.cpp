// Operators of two recorded trainings (ResNet-18, GPT-2 on an H200) compared with PyTorch's own results for the same
// runs: key_averages(), also by shape, the printed table, self times of every event including the Python functions, and
// the arrows from forward to backward. They are equal to the nanosecond, byte and FLOP except for the differences that
// each test lists. Skipped if the recordings are missing.
#include "analyzer/model/forward_backward.h"
#include "analyzer/reports/reports.h"
#include "analyzer/table/torch_table.h"
#include "tests/unit/analyzer/reports/torch_recording.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::Answers;
using tests::data_folder;
using tests::inflated;
using tests::Numbers;
using tests::Recording;

// Rows that differ: PyTorch's minus prof's.
Answers differences(const Answers& theirs, const Answers& ours) {
  Answers different;
  for (const auto& [key, numbers] : theirs) {
    const auto found = ours.find(key);
    if (found == ours.end()) {
      ADD_FAILURE() << "we have no row " << key;
    } else if (!(found->second == numbers)) {
      different[key] = numbers - found->second;
    }
  }
  for (const auto& [key, numbers] : ours) EXPECT_TRUE(theirs.contains(key)) << "only we have the row " << key;
  return different;
}

class TorchTruth : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(data_folder() / "h200")) GTEST_SKIP() << "no recordings at " << data_folder();
  }
};

// In the file, the profiler's own activity ("Activity Buffer Request") is a separate track. PyTorch has it as children
// of the operators whose thread it stopped, so their self time is larger here by that amount. The file's GPU-side
// annotations are a nanosecond longer at both ends. ResNet-18: the buffer request inherited its operator's id and
// counts the operator's kernels once more. Everything else is equal, memory by PyTorch's own rule (any thread).
const Answers kGpt2{{"## step ##|CPU|", {.self_cpu = -2'416'720}},
                    {"## step ##|CUDA|", {.self_device = -4, .device = -4}},
                    {"Optimizer.step#AdamW.step|CUDA|", {.self_device = -4, .device = -4}}};
const Answers kResNet{{"## step ##|CPU|", {.self_cpu = -1'914'117, .device = 82'367}},
                      {"## step ##|CUDA|", {.self_device = -4, .device = -4}},
                      {"Activity Buffer Request|CPU|", {.self_device = 82'367, .device = 82'367}},
                      {"Optimizer.step#AdamW.step|CUDA|", {.self_device = -4, .device = -4}},
                      {"aten::_convolution|CPU|", {.device = 82'367}},
                      {"aten::conv2d|CPU|", {.device = 82'367}},
                      {"aten::convolution|CPU|", {.device = 82'367}},
                      {"aten::cudnn_convolution|CPU|", {.self_cpu = -2'584'068, .device = 82'367}}};

void expect_differences(const Answers& found, const Answers& allowed) {
  for (const auto& [key, numbers] : found) {
    const auto known = allowed.find(key);
    EXPECT_EQ(known == allowed.end() ? Numbers{} : known->second, numbers) << key;
  }
  for (const auto& [key, numbers] : allowed) EXPECT_TRUE(found.contains(key)) << key << " no longer differs";
}

TEST_F(TorchTruth, AveragesAreThoseOfKeyAverages) {
  for (const auto& [name, allowed] : {std::pair{"gpt2", kGpt2}, {"resnet18", kResNet}}) {
    Recording recording(name);
    recording.options.definitions = Definitions::Reference;
    expect_differences(differences(recording.theirs("key_averages"), recording.ours({})), allowed);
  }
}

TEST_F(TorchTruth, AveragesByShapeAreThoseOfKeyAverages) {
  for (const auto& [name, allowed] : {std::pair{"gpt2", kGpt2}, {"resnet18", kResNet}}) {
    Recording recording(name);
    recording.options.definitions = Definitions::Reference;
    // The shapes of the rows that differ, all of the first step's first convolution.
    Answers with_shapes;
    for (auto [key, numbers] : allowed) {
      const char* shapes = "[]";
      if (key.starts_with("aten::conv2d")) shapes = "[[8, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], []]";
      if (key.starts_with("aten::convolution"))
        shapes = "[[8, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], []]";
      if (key.starts_with("aten::_convolution"))
        shapes = "[[8, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], [], [], [], [], []]";
      if (key.starts_with("aten::cudnn_conv")) shapes = "[[8, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], []]";
      with_shapes[key + shapes] = numbers;
    }
    expect_differences(differences(recording.theirs("key_averages_by_shape"), recording.ours({.shape = true})),
                       with_shapes);
  }
}

// By prof's rule an allocation counts once, for its own thread. Allocations of the backward thread are not memory of
// the step that waited for it.
TEST_F(TorchTruth, MemoryOfOtherThreadsIsAllThatOurRuleLeavesOut) {
  for (const auto& [name, allowed] : {std::pair{"gpt2", kGpt2}, {"resnet18", kResNet}}) {
    const Recording recording(name);
    Answers found = differences(recording.theirs("key_averages"), recording.ours({}));
    Numbers& step = found["## step ##|CPU|"];
    EXPECT_EQ(step.self_device_mem, name == std::string("gpt2") ? -385'045'504 : -249'902'080);
    step.self_device_mem = 0, step.self_cpu_mem = 0;
    expect_differences(found, allowed);
    int64_t events = 0, counted = 0;
    for (const MemoryEvent& event : recording.trace->memory) events += event.bytes;
    for (const OpAverage& row : op_averages(recording.input(), {}).rows)
      counted += row.self_memory.device + row.self_memory.host;
    EXPECT_EQ(counted, events);
  }
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

// Line by line. Allowed differences: the rows that differ in numbers (above), and the last digit of an average that
// ends in exactly half of it, because PyTorch's sums of fractions round either way.
TEST_F(TorchTruth, TheTableIsPrintedAsPyTorchPrintsIt) {
  for (const auto& [name, allowed] : {std::pair{"gpt2", kGpt2}, {"resnet18", kResNet}}) {
    Recording recording(name);
    recording.options.definitions = Definitions::Reference;
    Table table = report_ops(recording.input());
    ASSERT_TRUE(table.sort_by("self_cuda_time_total"));
    const std::vector<std::string> ours = lines(table.text_form(table)), theirs = lines(recording.table);
    ASSERT_EQ(ours.size(), theirs.size());
    std::multiset<std::string> only_ours(ours.begin(), ours.end()), only_theirs(theirs.begin(), theirs.end());
    size_t halves = 0;
    for (auto it = only_ours.begin(); it != only_ours.end();) {
      const auto same = only_theirs.find(*it);
      if (same == only_theirs.end()) {
        ++it;
      } else {
        only_theirs.erase(same), it = only_ours.erase(it);
      }
    }
    std::set<std::string> rows;
    for (const std::string& line : only_theirs) {
      const auto words = [](const std::string& text) {
        std::istringstream in(text);
        return std::vector<std::string>(std::istream_iterator<std::string>(in), {});
      };
      const auto rounded = [](std::string word) {
        const size_t digits = word.find_first_not_of("0123456789.");
        const std::string unit = digits == std::string::npos ? "" : word.substr(digits);
        return unit == "us" || unit == "ms" ? std::pair(std::llround(1000 * std::atof(word.c_str())), unit)
                                            : std::pair(0LL, word);
      };
      const bool half = std::any_of(only_ours.begin(), only_ours.end(), [&](const std::string& mine) {
        const auto a = words(mine), b = words(line);
        if (a.size() != b.size()) return false;
        for (size_t i = 0; i < a.size(); ++i) {
          const auto x = rounded(a[i]), y = rounded(b[i]);
          if (x.second != y.second || std::abs(x.first - y.first) > 1) return false;
        }
        return true;
      });
      if (half) {
        ++halves;
      } else {
        rows.insert(words(line).front() == "##" ? "## step ##" : words(line).front());
      }
    }
    const std::set<std::string> expected =
        name == std::string("gpt2")
            ? std::set<std::string>{"## step ##"}
            : std::set<std::string>{"## step ##",   "Activity",          "aten::_convolution",
                                    "aten::conv2d", "aten::convolution", "aten::cudnn_convolution"};
    EXPECT_EQ(rows, expected) << name;
    EXPECT_LE(halves, 24u) << name;
    // Equal rows are in the same order.
    const auto without = [](std::vector<std::string> all, const std::multiset<std::string>& some) {
      std::erase_if(all, [&](const std::string& line) { return some.contains(line); });
      return all;
    };
    EXPECT_EQ(without(ours, only_ours), without(theirs, only_theirs)) << name;
  }
}

// Self times of every operator, call, annotation and Python function. PyTorch's tree makes a GPU operation a child of
// its launch, so the launch's self time is smaller by it. It makes an annotation a child of the Python function that
// opened it, although the annotation ends later, and the annotation's GPU side a child of an operator. Those events are
// counted below and nothing else may differ.
TEST_F(TorchTruth, SelfTimesOfEveryEventAreThoseOfPyTorchsTree) {
  for (const auto& [name, others] : {std::pair{"gpt2", 22u}, {"resnet18", 21u}}) {
    const Recording recording(name);
    const Trace& trace = *recording.trace;
    std::map<std::tuple<std::string, int64_t, int64_t>, std::multiset<int64_t>> theirs;
    for (const rapidjson::Value& event : recording.expected["basic_eval"].GetArray()) {
      const int64_t start = event["start_ns"].GetInt64() - static_cast<int64_t>(trace.start_realtime_ns);
      theirs[{event["name"].GetString(), start, event["dur_ns"].GetInt64()}].insert(event["self_ns"].GetInt64());
    }
    std::vector<int64_t> on_gpu(trace.host.size());
    for (const GpuOperation& operation : trace.operations) {
      if (operation.linked()) on_gpu[operation.launch] += operation.duration_ns();
    }
    const EventNames names(trace);
    const EventTree tree(trace, names, {.python = true, .merge = false});
    size_t equal = 0, launches = 0;
    std::map<std::string, unsigned> different;
    for (uint32_t node = 0; node < tree.size(); ++node) {
      const Range* const range = tree.range(node);
      if (range != nullptr && range->kind == RangeKind::Overhead) continue;
      const std::string title(range != nullptr ? trace.range_name(*range) : names.text(tree.name(node)));
      auto& values = theirs[{title, tree.begin_ns(node), tree.total_ns(node)}];
      const int64_t with_gpu = tree.self_ns(node) - (range == nullptr ? on_gpu[tree[node].row()] : 0);
      if (const auto found = values.find(tree.self_ns(node)); found != values.end()) {
        values.erase(found), ++equal;
      } else if (const auto launch = values.find(with_gpu); launch != values.end()) {
        values.erase(launch), ++launches;
      } else {
        ++different[title.starts_with("<built-in method _record_function_enter_new") ? "enter" : title];
      }
    }
    EXPECT_EQ(launches, trace.operations.size()) << name;  // one operation each
    EXPECT_EQ(equal + launches + others, tree.size() - 2) << name;
    std::map<std::string, unsigned> expected{{"enter", 6},  // opened an annotation
                                             {"## step ##", 2},
                                             {"Optimizer.step#AdamW.step", 2},
                                             {"gen_truth.py(26): step", 2},  // around an annotation that crosses
                                             {"torch/optim/optimizer.py(1027): zero_grad", 2},
                                             {"torch/optim/optimizer.py(512): wrapper", 2},
                                             {"aten::_foreach_mul_", 2},  // has the annotation's GPU side
                                             // has the profiler's own work
                                             {"<built-in method run_backward of torch._C._EngineBase object", 1}};
    if (name == std::string("gpt2")) {
      expected["aten::gather"] = 2;                                        // has the annotation's GPU side
      expected["<built-in function _cuda_isCurrentStreamCapturing>"] = 1;  // has the profiler's own work
    } else {
      expected["aten::cudnn_convolution"] = 2;  // both
    }
    std::map<std::string, unsigned> found;
    for (const auto& [title, count] : different) found[title.substr(0, title.find(" at 0x"))] += count;
    EXPECT_EQ(found, expected) << name;
  }
}

// Kineto draws the same arrows.
TEST_F(TorchTruth, LinksOfForwardAndBackwardAreTheFlowsOfTheTrace) {
  for (const auto& [name, arrows] : {std::pair{"gpt2", 434u}, {"resnet18", 144u}}) {
    const Recording recording(name);
    const Trace& trace = *recording.trace;
    rapidjson::Document file;
    file.Parse<rapidjson::kParseNumbersAsStringsFlag>(
        inflated(data_folder() / "h200" / (std::string(name) + ".trace.json.gz")).c_str());
    const int64_t base = std::stoll(file["baseTimeNanoseconds"].GetString());
    const auto time_of = [&](const rapidjson::Value& event) {
      std::string digits = event["ts"].GetString();
      const size_t point = digits.find('.');
      std::string fraction = point == std::string::npos ? "" : digits.substr(point + 1);
      fraction.resize(3, '0');
      return base + std::stoll(digits.substr(0, point) + fraction) - static_cast<int64_t>(trace.start_realtime_ns);
    };
    std::map<std::string, std::pair<int64_t, int64_t>> flows;
    for (const rapidjson::Value& event : file["traceEvents"].GetArray()) {
      if (!event.HasMember("cat") || event["cat"] != "fwdbwd") continue;
      auto& flow = flows[event["id"].GetString()];
      (event["ph"] == "s" ? flow.first : flow.second) = time_of(event);
    }
    std::set<std::pair<int64_t, int64_t>> theirs, ours;
    for (const auto& [id, flow] : flows) theirs.insert(flow);
    const ForwardBackward forward_backward(trace);
    for (const BackwardLink& link : forward_backward.links()) {
      ASSERT_NE(link.forward, kNone);
      ours.insert({trace.ranges[link.forward].begin_ns, trace.ranges[link.backward].begin_ns});
    }
    EXPECT_EQ(theirs.size(), arrows);
    EXPECT_EQ(ours, theirs) << name;
  }
}

// The synthetic profiles of PyTorch's own tests, answers computed by hand.
TEST_F(TorchTruth, MadeUpProfilesOfPyTorchsTestsAverageAsByHand) {
  const auto rows_of = [](const char* file) {
    const std::unique_ptr<Trace> trace = read_inputs({data_folder() / "pytorch" / file});
    const Views views(*trace);
    const Selection selection;
    const ReportOptions options;
    std::string rows;
    for (const OpAverage& row : op_averages({*trace, views, selection, options}, {}).rows) {
      rows += row.name + (row.on_device ? " CUDA " : " CPU ") + std::to_string(row.count) + ": " +
              std::to_string(row.self_cpu_ns) + " " + std::to_string(row.cpu_ns) + " " + std::to_string(row.device_ns) +
              " " + std::to_string(row.flops) + "\n";
    }
    return rows;
  };
  EXPECT_EQ(rows_of("mock_profile.json"),
            "CPU (Before cudaLaunchKernel) CPU 4: 400000 400000 0 0\n"
            "cudaLaunchKernel CPU 6: 600000 600000 600000 0\n"  // on a thread without operators
            "CPU (After cudaLaunchKernel) CPU 4: 400000 400000 0 0\n"
            "CPU (After GPU) CPU 4: 800000 800000 0 0\n"
            "GPU CUDA 6: 0 0 600000 0\n");
  // _convolution and the second convolution begin and end together inside the first; 2 x 1 x 2048 x 1000 FLOPs.
  EXPECT_EQ(rows_of("example_profile.json").find("aten::addmm CPU 1: 251130 251130 0 4096000\n") == std::string::npos,
            false);
}

}  // namespace
}  // namespace prof::analyzer
