// How many FLOPs and bytes does each kernel stand for, and how far may it go? What hardware counters measured of its launch comes first
// (counter_numbers.h). Where there is none: the cost of a library call (library_cost.h), else that of
// an operator (op_cost.h, by the shapes in the trace; else what torch.compile's augmentation says) goes once to its main kernel: the
// kernels that reduce, transpose or fill for it have none. What a kernel's event says itself is taken where none of these has it. Called by the reports about peaks and by the trace writer.
#pragma once

#include "analyzer/analysis/cost/device_peaks.h"
#include "analyzer/analysis/cost/library_calls.h"
#include "analyzer/analysis/cost/op_cost.h"
#include "analyzer/analysis/views.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// Where a number is from. Nominal: a library call whose FLOPs are a convention. Event: the kernel's own event in the trace.
enum class CostSource : uint8_t { None, Library, Nominal, Shapes, Inductor, Counters, Event };
std::string_view cost_source_name(CostSource source);  // "library", "nominal", …; "" for None

struct KernelCost {
  std::optional<uint64_t> flops, useful_flops, bytes;
  std::optional<uint64_t> nominal_flops;  // where `flops` are counted: what the call or operator has to do
  uint32_t op = kNone;                    // row of Trace::ranges: the operator or library call that has the cost
  uint32_t main = kNone;         // row of Trace::operations: the kernel that this one helps, with all of the cost
  std::optional<PeakType> peak;  // what the FLOPs are compared with
  DataType type = DataType::Unknown;
  bool assumed = false;  // the type is the user's, the trace has none
  bool causal = false;   // attention with a causal mask: useful FLOPs are fewer
  CostSource flops_source = CostSource::None, bytes_source = CostSource::None;
  NoCost no_flops = NoCost::NoLaunch, no_bytes = NoCost::NoLaunch;
  NoCost no_useful = NoCost::UsefulUnknown;  // of what has FLOPs and no useful ones
};

class KernelCosts {
 public:
  // `assumed`: the type of elements where the trace has none; Unknown: there is no number then. O(n log n) for n operations.
  KernelCosts(const Trace& trace, const Views& views, DataType assumed = DataType::Unknown);

  // Of a row of Trace::operations. What is no kernel has no cost.
  const KernelCost& of(uint32_t operation) const { return costs_[index_[operation]]; }
  bool any() const { return costs_.size() > kReasons; }
  // Why no kernel has a number, and what to do; "" where one has.
  std::string_view remedy() const;

 private:
  static constexpr size_t kReasons = 2;  // no launch, no formula
  struct Claim {
    uint32_t op = kNone, operation = kNone;
    uint32_t replay = 0;  // kernels of a graph: which launch of it; repeated launches: which
  };
  struct OpNumbers {
    OpCost cost;
    CostSource flops_source = CostSource::None, bytes_source = CostSource::None;
    bool assumed = false;
    bool library = false;  // `peak` is what the call says
    bool spread = false;   // each kernel does a part
    std::optional<PeakType> peak;
    bool claims() const { return cost.known; }
  };
  // What a kernel's name says of its part in an operator.
  enum class Role : uint8_t { Unread, Main, Other, Helper };
  struct NameWords {
    Role role = Role::Unread;
    bool tf32 = false, input_gradient = false, weight_gradient = false;
  };

  void take_from_ranges();
  void take_from_events();    // kernel_cost_own.cpp
  void take_from_counters();  // likewise
  const OpNumbers& numbers_of(const Range& range);
  uint32_t library_call_of(const GpuOperation& operation) const;
  uint32_t claimed_by(uint32_t range);
  void mark_enclosing(uint32_t range);
  const NameWords& words_of(const GpuOperation& operation);
  // kernel_cost_share.cpp, these four
  void share_out(const std::vector<Claim>& claims, size_t first, size_t last);
  void add_from_around(uint32_t call, OpNumbers& numbers);
  void give(const std::vector<Claim>& kernels, const OpNumbers& numbers, std::optional<uint64_t> flops,
            std::optional<uint64_t> useful, std::optional<uint64_t> bytes);
  size_t main_of(const std::vector<Claim>& kernels, bool input_gradient, bool weight_gradient);
  KernelCost& cost_for(uint32_t operation);
  std::optional<PeakType> peak_of(const OpCost& cost, const GpuOperation& kernel);

  const Trace& trace_;
  const Views& views_;
  DataType assumed_;
  LibraryCalls library_;
  Column<uint32_t> index_;                            // row of Trace::operations -> costs_
  std::vector<KernelCost> costs_;                     // the first are shared by all kernels without an operator
  std::unordered_map<std::string, OpNumbers> known_;  // by texts of the operator
  std::unordered_map<uint32_t, uint32_t> claimed_;    // range -> the range that has the cost
  std::vector<bool> encloses_;                        // ranges with a product of matrices inside
  std::vector<NameWords> words_;                      // by KernelId of the name
};

}  // namespace prof::analyzer
