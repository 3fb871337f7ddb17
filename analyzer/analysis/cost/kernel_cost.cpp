#include "analyzer/analysis/cost/kernel_cost.h"

#include "analyzer/analysis/cost/library_call_text.h"
#include "analyzer/analysis/cost/library_cost.h"
#include "analyzer/analysis/sequences/repeated_launches.h"
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

}  // namespace prof::analyzer
