#include "analyzer/analysis/kernel_cost.h"

#include "analyzer/analysis/library_call_text.h"
#include "analyzer/analysis/library_cost.h"
#include "analyzer/analysis/repeated_launches.h"
#include "analyzer/model/range_text.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>

namespace prof::analyzer {

namespace {

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// Part of a whole by time; the parts of all add up to the whole if each gets what is left of the one before.
uint64_t share_of(uint64_t whole, int64_t part_ns, int64_t all_ns) {
  if (all_ns <= 0) return whole;
  return static_cast<uint64_t>(static_cast<unsigned __int128>(whole) * static_cast<uint64_t>(part_ns) /
                               static_cast<uint64_t>(all_ns));
}

bool has_shapes(const Trace& trace) {
  return std::any_of(trace.details.begin(), trace.details.end(),
                     [](const OperatorDetail& detail) { return index(detail.dims) != 0; });
}

}  // namespace

std::string_view cost_source_name(CostSource source) {
  switch (source) {
    case CostSource::None: return "";
    case CostSource::Library: return "library";
    case CostSource::Nominal: return "nominal";
    case CostSource::Shapes: return "shapes";
    case CostSource::Inductor: return "inductor";
    case CostSource::Counters: return "counters";
    case CostSource::Event: break;
  }
  return "event";
}

KernelCosts::KernelCosts(const Trace& trace, const Views& views, DataType assumed)
    : trace_(trace), views_(views), assumed_(assumed), library_(trace), words_(trace.kernels.size()) {
  index_.resize(trace.operations.size());
  costs_.resize(kReasons);
  costs_[1].no_flops = costs_[1].no_bytes = has_shapes(trace) ? NoCost::NoFormula : NoCost::NoShapes;
  if (trace.operations.empty()) return;
  if (!trace.ranges.empty()) take_from_ranges();
  if (!trace.details.empty()) take_from_events();
  take_from_counters();
}

std::string_view KernelCosts::remedy() const {
  if (any() || trace_.operations.empty()) return "";
  if (costs_[1].no_flops == NoCost::NoFormula)
    return "no kernel has a number: of no operator that launched one a formula is known";
  return trace_.details.empty()
             ? "no kernel has a number: record with PROF_LIBS=1 (library calls) or --counters roofline (measured)"
             : "no kernel has a number: the operators have no shapes (torch.profiler: record_shapes=True)";
}

void KernelCosts::take_from_ranges() {
  const Trace& trace = trace_;
  const Column<uint32_t>& range_of_call = views_.range_of_call();
  const RepeatedLaunches repeated(trace);
  std::vector<Claim> claims;
  std::vector<bool> calls(library_.any() ? trace.ranges.size() : 0);  // library calls that have kernels
  for (uint32_t row = 0; row < trace.operations.size(); ++row) {
    const GpuOperation& operation = trace.operations[row];
    if (operation.kind() != GpuKind::Kernel || !operation.linked()) continue;
    // What is run again does all of it again: a run of a graph, a repeat of a launch.
    const bool again = operation.graph_node != 0 || repeated.range_around(trace.host[operation.launch]) != kNone;
    if (const uint32_t call = library_call_of(operation); call != kNone) {
      claims.push_back({call, row, again ? operation.launch + 1 : 0});
      calls[call] = true;
      continue;
    }
    const uint32_t range = range_of_call[operation.launch];
    if (range == kNone) continue;
    const uint32_t op = claimed_by(range);
    index_[row] = 1;
    if (op != kNone) claims.push_back({op, row, again && operation.graph_node == 0 ? operation.launch + 1 : 0});
  }
  const auto by_op = [](const Claim& a, const Claim& b) { return a.op != b.op ? a.op < b.op : a.replay < b.replay; };
  if (!std::is_sorted(claims.begin(), claims.end(), by_op)) std::stable_sort(claims.begin(), claims.end(), by_op);
  encloses_.resize(trace.ranges.size());
  for (size_t i = 0; i < claims.size(); ++i) {
    if ((i == 0 || claims[i].op != claims[i - 1].op) && numbers_of(trace.ranges[claims[i].op]).cost.flops)
      mark_enclosing(claims[i].op);
  }
  // A call that counts is not inside another that does.
  if (library_.any()) library_.mark_around(calls, encloses_);
  for (size_t first = 0; first < claims.size();) {
    size_t last = first + 1;
    while (last < claims.size() && claims[last].op == claims[first].op && claims[last].replay == claims[first].replay)
      ++last;
    share_out(claims, first, last);
    first = last;
  }
}

// The library call that launched it, or that was captured as the node of a graph which it is a run of.
uint32_t KernelCosts::library_call_of(const GpuOperation& operation) const {
  if (!library_.any()) return kNone;
  uint32_t call = operation.launch;
  if (operation.graph_node != 0) {
    const NodeFound found = views_.graph_origins().of(operation);
    if (found.row == kNone) return kNone;
    call = trace_.graph_nodes[found.row].call;
    if (call == kNone) return kNone;
  }
  return library_.around(trace_.host[call].thread, trace_.host[call].begin_ns);
}

const KernelCosts::OpNumbers& KernelCosts::numbers_of(const Range& range) {
  const OperatorDetail* const detail = trace_.detail(range);
  const uint32_t label = index(range.label);
  const uint32_t parts[] = {label, detail == nullptr ? 0 : static_cast<uint32_t>(detail->dims),
                            detail == nullptr ? 0 : static_cast<uint32_t>(detail->types),
                            detail == nullptr ? 0 : static_cast<uint32_t>(detail->concrete),
                            detail == nullptr ? 0 : static_cast<uint32_t>(detail->other)};
  const auto [found, added] = known_.try_emplace(std::string(reinterpret_cast<const char*>(parts), sizeof parts));
  OpNumbers& numbers = found->second;
  if (!added) return numbers;
  if (library_.is_call(range)) {
    const std::optional<LibraryCost> found_cost = library_cost(trace_.range_name(range));
    if (!found_cost) return numbers;
    numbers.cost = found_cost->cost;
    numbers.library = !found_cost->math_unknown;
    numbers.peak = found_cost->peak;
    numbers.spread = found_cost->spread;
    if (numbers.cost.flops) numbers.flops_source = found_cost->nominal ? CostSource::Nominal : CostSource::Library;
    if (numbers.cost.bytes) numbers.bytes_source = CostSource::Library;
    return numbers;
  }
  std::string_view op = trace_.range_name(range), dims, types, concrete;
  if (detail != nullptr) {
    dims = trace_.text(detail->dims), types = trace_.text(detail->types), concrete = trace_.text(detail->concrete);
  } else {
    const RangeText text = parse_range_text(op);  // emit_nvtx
    op = text.name, dims = text.sizes;
  }
  const OpInputs inputs(dims, types, concrete, assumed_);
  // Without shapes an operator's name alone claims nothing: that would hide a number of an operator around it.
  if (!dims.empty()) numbers.cost = op_cost(op, inputs);
  numbers.assumed =
      assumed_ != DataType::Unknown && (numbers.cost.assumed || !inputs.has_types()) && numbers.cost.type == assumed_;
  if (numbers.cost.flops) numbers.flops_source = CostSource::Shapes;
  if (numbers.cost.bytes) numbers.bytes_source = CostSource::Shapes;
  // What torch.compile's augmentation says.
  const std::string_view members = detail == nullptr ? std::string_view() : trace_.text(detail->other);
  const std::optional<double> giga = json_member(members, "kernel_num_gb"), flop = json_member(members, "kernel_flop");
  if (!giga && !flop) return numbers;
  OpCost& cost = numbers.cost;
  cost.known = true;
  if (!cost.bytes && giga && *giga < 1e9) {
    cost.bytes = static_cast<uint64_t>(std::llround(*giga * 1e9)), cost.no_bytes = NoCost::None;
    numbers.bytes_source = CostSource::Inductor;
  }
  if (!cost.flops && flop) {
    cost.flops = static_cast<uint64_t>(std::llround(*flop)), cost.no_flops = NoCost::None, cost.matrix = true;
    cost.no_useful = NoCost::UsefulUnknown;
    numbers.flops_source = CostSource::Inductor;
  } else if (!cost.flops && cost.no_flops == NoCost::NoFormula) {
    cost.no_flops = NoCost::NotCounted;
  }
  if (cost.type == DataType::Unknown && inputs.has_types()) cost.type = inputs.type(0);
  if (cost.type == DataType::Unknown) cost.type = assumed_, numbers.assumed = assumed_ != DataType::Unknown;
  return numbers;
}

// The innermost range around that has a cost.
uint32_t KernelCosts::claimed_by(uint32_t range) {
  std::vector<uint32_t> passed;
  uint32_t answer = kNone;
  for (uint32_t at = range; at != kNone; at = trace_.ranges[at].parent) {
    const auto known = claimed_.find(at);
    if (known != claimed_.end()) {
      answer = known->second;
      break;
    }
    passed.push_back(at);
    if (numbers_of(trace_.ranges[at]).claims()) {
      answer = at;
      break;
    }
  }
  for (const uint32_t each : passed) claimed_.emplace(each, answer);
  return answer;
}

void KernelCosts::mark_enclosing(uint32_t range) {
  for (uint32_t at = trace_.ranges[range].parent; at != kNone && !encloses_[at]; at = trace_.ranges[at].parent)
    encloses_[at] = true;
}

const KernelCosts::NameWords& KernelCosts::words_of(const GpuOperation& operation) {
  const KernelId id = views_.names().named_by(operation);
  NameWords& words = words_[index(id)];
  if (words.role != Role::Unread) return words;
  std::string name(views_.names().name(id, NameForm::Full));
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  words.tf32 = has_any(name, {"tf32", "s1688", "nvjet"});
  const bool helps = has_any(
      name, {"splitkreduce", "nchwtonhwc", "nhwctonchw", "transpose", "reduction", "winogradwgraddata",
             "winogradwgraddelta", "winogradwgradoutput", "winogradforward", "winogradtiles", "reduce_kernel",
             "workspace", "scalepacked", "memset", "im2col", "col2im", "convert_dq", "dot_do_o", "compute_dot"});
  const bool works = has_any(name, {"gemm", "conv", "fprop", "dgrad", "wgrad", "flash", "fmha", "attention", "sdpa",
                                    "nvjet", "xmma", "cutlass", "cijk", "gemv", "mma_"});
  words.input_gradient = !helps && has_any(name, {"dgrad"});
  words.weight_gradient = !helps && has_any(name, {"wgrad"});
  words.role = helps ? Role::Helper : works ? Role::Main : Role::Other;
  return words;
}

KernelCost& KernelCosts::cost_for(uint32_t operation) {
  if (const uint32_t reason = index_[operation]; reason < kReasons) {
    index_[operation] = static_cast<uint32_t>(costs_.size());
    costs_.push_back(KernelCost(costs_[reason]));
  }
  return costs_[index_[operation]];
}

std::optional<PeakType> KernelCosts::peak_of(const OpCost& cost, const GpuOperation& kernel) {
  if (!cost.matrix) return vector_peak(cost.type);
  switch (cost.type) {
    case DataType::Fp64:
    case DataType::Complex128: return PeakType::Fp64Matrix;
    case DataType::Fp32:
    case DataType::Complex64: return words_of(kernel).tf32 ? PeakType::Tf32 : PeakType::Fp32;
    case DataType::Fp16: return PeakType::Fp16;
    case DataType::Bf16: return PeakType::Bf16;
    case DataType::Fp4: return PeakType::Fp4;
    case DataType::Fp8: return PeakType::Fp8;
    case DataType::Int8: return PeakType::Int8;
    default: return std::nullopt;
  }
}

// The kernel that does the work: by its name, the longest of those; else the longest that is no helper; else the longest. For
// a gradient those named after the other gradient are last.
size_t KernelCosts::main_of(const std::vector<Claim>& kernels, bool input_gradient, bool weight_gradient) {
  const auto rank = [&](const Claim& claim) {
    const GpuOperation& operation = trace_.operations[claim.operation];
    const NameWords& words = words_of(operation);
    int place = words.role == Role::Main ? 2 : words.role == Role::Other ? 1 : 0;
    if (input_gradient) place += words.input_gradient ? 4 : words.weight_gradient ? -4 : 0;
    if (weight_gradient) place += words.weight_gradient ? 4 : words.input_gradient ? -4 : 0;
    return std::pair(place, operation.duration_ns());
  };
  size_t best = 0;
  for (size_t i = 1; i < kernels.size(); ++i) {
    if (rank(kernels[i]) > rank(kernels[best])) best = i;
  }
  return best;
}

// To all launches of one kernel, each its part by time.
void KernelCosts::give(const std::vector<Claim>& kernels, const OpNumbers& numbers, std::optional<uint64_t> flops,
                       std::optional<uint64_t> useful, std::optional<uint64_t> bytes) {
  int64_t left_ns = 0;
  for (const Claim& each : kernels) left_ns += trace_.operations[each.operation].duration_ns();
  for (const Claim& each : kernels) {
    const GpuOperation& operation = trace_.operations[each.operation];
    KernelCost& cost = cost_for(each.operation);
    const bool last = &each == &kernels.back();
    const auto take = [&](std::optional<uint64_t>& whole, std::optional<uint64_t>& to) {
      if (!whole) return;
      const uint64_t part = last ? *whole : share_of(*whole, operation.duration_ns(), left_ns);
      to = to.value_or(0) + part;
      *whole -= part;
    };
    take(flops, cost.flops), take(useful, cost.useful_flops), take(bytes, cost.bytes);
    left_ns -= operation.duration_ns();
    cost.op = each.op;
    cost.type = numbers.cost.type, cost.assumed = numbers.assumed;
    if (cost.flops)
      cost.causal = numbers.cost.causal, cost.no_useful = numbers.cost.no_useful,
      cost.flops_source = numbers.flops_source, cost.no_flops = NoCost::None,
      cost.peak = numbers.library ? numbers.peak : peak_of(numbers.cost, operation);
    if (cost.bytes) cost.bytes_source = numbers.bytes_source, cost.no_bytes = NoCost::None;
  }
}

// A library call knows neither the mask of an attention nor what of a fused plan moves; the operator that made the call may, if it is the
// same work: as many FLOPs.
void KernelCosts::add_from_around(uint32_t call, OpNumbers& numbers) {
  if (!numbers.cost.flops || (numbers.cost.useful_flops && numbers.cost.bytes)) return;
  const uint32_t op = claimed_by(trace_.ranges[call].parent);
  if (op == kNone) return;
  const OpNumbers& around = numbers_of(trace_.ranges[op]);
  if (around.cost.flops != numbers.cost.flops) return;
  if (!numbers.cost.useful_flops) {
    numbers.cost.useful_flops = around.cost.useful_flops;
    numbers.cost.causal = around.cost.causal, numbers.cost.no_useful = around.cost.no_useful;
  }
  if (!numbers.cost.bytes) {
    numbers.cost.bytes = around.cost.bytes, numbers.cost.no_bytes = around.cost.no_bytes;
    numbers.bytes_source = around.bytes_source;
  }
}

void KernelCosts::share_out(const std::vector<Claim>& claims, size_t first, size_t last) {
  const std::vector<Claim> kernels(claims.begin() + static_cast<ptrdiff_t>(first),
                                   claims.begin() + static_cast<ptrdiff_t>(last));
  const uint32_t op = kernels.front().op;
  OpNumbers numbers = numbers_of(trace_.ranges[op]);
  if (library_.is_call(trace_.ranges[op])) add_from_around(op, numbers);
  const bool inside = numbers.cost.flops && encloses_[op];
  for (const Claim& each : kernels) {
    KernelCost& cost = cost_for(each.operation);
    cost.op = op, cost.type = numbers.cost.type, cost.assumed = numbers.assumed;
    cost.no_flops = inside ? NoCost::CountedInside : numbers.cost.flops ? NoCost::Helper : numbers.cost.no_flops;
    cost.no_bytes = inside ? NoCost::CountedInside : numbers.cost.bytes ? NoCost::Helper : numbers.cost.no_bytes;
  }
  if (inside || (!numbers.cost.flops && !numbers.cost.bytes)) return;
  if (numbers.spread) return give(kernels, numbers, numbers.cost.flops, numbers.cost.useful_flops, numbers.cost.bytes);
  const auto same_kernel = [&](size_t as) {
    const StringId name = trace_.kernels[index(views_.names().named_by(trace_.operations[kernels[as].operation]))].name;
    std::vector<Claim> same;
    for (const Claim& each : kernels) {
      if (trace_.kernels[index(views_.names().named_by(trace_.operations[each.operation]))].name == name)
        same.push_back(each);
    }
    return same;
  };
  const auto help = [&](size_t main) {
    for (const Claim& each : kernels) {
      KernelCost& cost = cost_for(each.operation);
      if (!cost.flops && !cost.bytes) cost.main = kernels[main].operation;
    }
  };
  const OpCost& cost = numbers.cost;
  if (cost.input_gradient != 0 && cost.weight_gradient != 0) {
    const size_t of_input = main_of(kernels, true, false), of_weight = main_of(kernels, false, true);
    if (of_input != of_weight) {
      give(same_kernel(of_input), numbers, cost.input_gradient, cost.input_gradient,
           cost.bytes ? std::optional(*cost.bytes / 2) : std::nullopt);
      give(same_kernel(of_weight), numbers, cost.weight_gradient, cost.weight_gradient,
           cost.bytes ? std::optional(*cost.bytes - *cost.bytes / 2) : std::nullopt);
      help(of_input);
      return;
    }
  }
  const size_t main = main_of(kernels, cost.weight_gradient == 0 && cost.input_gradient != 0,
                              cost.input_gradient == 0 && cost.weight_gradient != 0);
  give(same_kernel(main), numbers, cost.flops, cost.useful_flops, cost.bytes);
  help(main);
}

}  // namespace prof::analyzer
