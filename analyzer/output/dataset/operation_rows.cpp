// The tables about GPU operations: operations, collectives, gaps, and what their names mean.
#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/collectives/collective_kernels.h"
#include "analyzer/analysis/gpu_order.h"
#include "analyzer/analysis/idle/gap_division.h"
#include "analyzer/analysis/idle/gaps.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/output/dataset/process_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace prof::analyzer::dataset {

namespace {

constexpr std::string_view kKinds[] = {"kernel", "copy", "memset", "graph"};

std::string_view kind_text(const GpuOperation& operation) { return kKinds[static_cast<size_t>(operation.kind())]; }

}  // namespace

ProcessRows::OperationName ProcessRows::name_of(const GpuOperation& operation) {
  const KernelNames& names = shared_.views.names();
  const uint32_t named = operation.has_kernel() ? index(names.named_by(operation)) : 0;
  // Kinds of copies have 24 bits, kinds of memory 8; rows of kernels fit 30 bits.
  const uint64_t key =
      static_cast<uint64_t>(operation.kind()) << 62 | uint64_t{operation.detail} << 31 | (named & 0x7fffffff);
  const auto [found, added] = operations_.try_emplace(key);
  if (!added) return found->second;
  std::string text = fmt::format("{}\n{}", kind_text(operation), operation_name(names, operation, NameForm::Mangled));
  if (operation.has_kernel()) {
    const Kernel& kernel = trace_.kernels[operation.detail];
    text += fmt::format("\n{} {} {} {} {} {} {} {} {}", kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0],
                        kernel.block[1], kernel.block[2], kernel.registers, kernel.static_shared_bytes,
                        kernel.dynamic_shared_bytes);
  } else {
    text += fmt::format("\n{}", operation.detail);
  }
  const int64_t id = id_of_text(text);
  found->second = {id, static_cast<uint32_t>(operations_.size() - 1)};
  if (known_.insert(id).second) names_.push_back({id, operation, StackId{}});
  return found->second;
}

std::optional<int64_t> ProcessRows::stack_id(StackId stack) {
  const auto row = static_cast<uint32_t>(stack);
  if (row == 0) return std::nullopt;
  if (row >= stack_ids_.size()) stack_ids_.resize(row + 1);
  if (!stack_ids_[row]) {
    stack_ids_[row] = id_of_text("stack\n" + shared_.stacks.text(stack));
    if (known_.insert(*stack_ids_[row]).second) names_.push_back({*stack_ids_[row], {}, stack});
  }
  return stack_ids_[row];
}

void ProcessRows::operations() {
  namespace column = dataset::operations;
  TableBatch& batch = shared_.target.batch(TableId::operations);
  Shared::Cache& cache = shared_.cache;
  cache.operation_name = {};  // its keys are numbers of this process
  const Column<PathId>& paths = shared_.views.path_of_call();
  const bool any_stack = shared_.stacks.any();
  std::vector<StreamId> streams;
  for (uint32_t s = 0; s < trace_.streams.size(); ++s) {
    const Stream& stream = trace_.streams[s];
    if (stream.operations.size() != 0 && trace_.device(stream.device).process == process_)
      streams.push_back(StreamId{s});
  }
  in_order_of_start(trace_, streams, [&](uint32_t row) {
    const GpuOperation& operation = trace_.operations[row];
    const Stream& stream = trace_.stream(operation.stream());
    batch[column::device].add(trace_.device(stream.device).ordinal);
    batch[column::context].add(stream.context);
    batch[column::stream].add(stream.number);
    batch[column::kind].add_cached(cache.operation_kind, static_cast<size_t>(operation.kind()),
                                   [&] { return kind_text(operation); });
    const OperationName name = name_of(operation);
    batch[column::name].add_cached(cache.operation_name, name.number, [&] { return full_name(operation); });
    batch[column::name_id].add(name.id);
    batch[column::start_ns].add(time(operation.start_ns));
    batch[column::duration_ns].add(operation.duration_ns());
    batch[column::bytes].add_if(!operation.has_kernel(), static_cast<uint64_t>(operation.bytes));
    batch[column::correlation].add_if(operation.correlation != 0, operation.correlation);
    if (operation.linked()) {
      const HostEvent& launch = trace_.host[operation.launch];
      batch[column::call_id].add(operation.launch);
      batch[column::launch_name].add_cached(cache.launch_name, launch.api(), [&] { return trace_.api_name(launch); });
      batch[column::launch_tid].add(trace_.thread(launch.thread).tid);
      batch[column::launch_start_ns].add(time(launch.begin_ns));
      batch[column::launch_duration_ns].add(launch.duration_ns());
      const PathId path = paths[operation.launch];
      batch[column::range_path].add_cached(cache.operation_path, index(path), [&] { return path_text(trace_, path); });
    } else {
      for (const column::Column each : {column::call_id, column::launch_name, column::launch_tid,
                                        column::launch_start_ns, column::launch_duration_ns, column::range_path})
        batch[each].add_null();
    }
    batch[column::stack_id].add(any_stack ? stack_id(shared_.stacks.of_operation(operation)) : std::nullopt);
    const bool in_graph = operation.graph_node != 0;
    batch[column::graph_id].add_if(in_graph, graph_of(operation.graph_node));
    batch[column::graph_node].add_if(in_graph && operation.kind() != GpuKind::Graph,
                                     index_in_graph(operation.graph_node));
    end_row(batch);
  });
  end_table(batch);
  if (!wants(TableId::operations)) batch.clear();
}

void ProcessRows::collectives() {
  namespace column = dataset::collectives;
  const CollectiveCalls calls(trace_);
  if (!calls.any()) return;
  TableBatch& batch = shared_.target.batch(TableId::collectives);
  std::vector<CollectiveKernel> kernels = collective_kernels(trace_, calls);
  std::erase_if(kernels, [&](const CollectiveKernel& kernel) {
    return trace_.process_of(trace_.operations[kernel.operation].stream()) != process_;
  });
  std::stable_sort(kernels.begin(), kernels.end(), [&](const CollectiveKernel& a, const CollectiveKernel& b) {
    return trace_.operations[a.operation].start_ns < trace_.operations[b.operation].start_ns;
  });
  for (const CollectiveKernel& kernel : kernels) {
    const GpuOperation& operation = trace_.operations[kernel.operation];
    const Stream& stream = trace_.stream(operation.stream());
    const CollectiveCall& call = kernel.call;
    batch[column::device].add(trace_.device(stream.device).ordinal);
    batch[column::stream].add(stream.number);
    batch[column::name].add_text(full_name(operation));
    batch[column::start_ns].add(time(operation.start_ns));
    batch[column::duration_ns].add(operation.duration_ns());
    batch[column::call].add_text(call.name);
    batch[column::communicator].add_text(call.communicator);
    batch[column::communicator_rank].add(call.rank);
    batch[column::communicator_ranks].add(call.ranks);
    batch[column::bytes].add(call.bytes);
    batch[column::peer].add(call.peer);
    batch[column::data_type].add_text(call.type);
    batch[column::reduction].add_text(call.reduction);
    batch[column::grouped].add(call.grouped);
    batch[column::kernels].add(kernel.kernels);
    end_row(batch);
  }
  end_table(batch);
}

void ProcessRows::gaps() {
  namespace column = dataset::gaps;
  const Selection selection;
  const ReportOptions options;
  const std::vector<Window> windows = report_windows({trace_, shared_.views, selection, options});
  if (windows.empty()) return;
  TableBatch& batch = shared_.target.batch(TableId::gaps);
  Shared::Cache& cache = shared_.cache;
  cache.gap_next = {};  // its keys are numbers of this process
  const auto add = [&](const DeviceGap& gap, const GapPiece& piece) {
    batch[column::device].add(trace_.device(gap.device).ordinal);
    batch[column::gap_start_ns].add(time(gap.begin_ns));
    batch[column::gap_duration_ns].add(gap.duration_ns());
    batch[column::start_ns].add(time(piece.begin_ns));
    batch[column::duration_ns].add(piece.duration_ns());
    batch[column::cause].add_cached(cache.gap_cause, piece.charge.number(), [&] { return piece.charge.text(); });
    batch[column::on_host].add(is_host_part(piece.part()));
    batch[column::tid].add_if(piece.thread != kNone, piece.thread == kNone ? 0 : trace_.threads[piece.thread].tid);
    batch[column::call_id].add_if(piece.call != kNone, piece.call);
    if (piece.call == kNone) {
      batch[column::call_name].add_null();
    } else {
      const HostEvent& call = trace_.host[piece.call];
      batch[column::call_name].add_cached(cache.gap_call, call.api(), [&] { return trace_.api_name(call); });
    }
    if (piece.range == kNone) {
      batch[column::range_path].add_null();
    } else if (const PathId path = trace_.ranges[piece.range].path; index(path) != 0) {
      batch[column::range_path].add_cached(cache.gap_path, index(path), [&] { return path_text(trace_, path); });
    } else {
      batch[column::range_path].add_text(range_text(trace_, piece.range));
    }
    if (gap.operation == kNone) {
      batch[column::next_name].add_null();
      batch[column::next_start_ns].add_null();
    } else {
      const GpuOperation& next = trace_.operations[gap.operation];
      batch[column::next_name].add_cached(cache.gap_next, name_of(next).number, [&] { return full_name(next); });
      batch[column::next_start_ns].add(time(next.start_ns));
    }
    end_row(batch);
  };
  const auto of_process = [&](const DeviceGap& gap) { return trace_.device(gap.device).process == process_; };
  const auto is_mine = [&](const Stream&) { return true; };
  const bool one_gpu = streams_by_gpu(trace_, is_mine).size() <= 1;
  std::vector<std::pair<DeviceGap, GapPiece>> pieces;  // of several GPUs, which are sorted by time
  divide_gaps(trace_, shared_.views, selection, {windows.front().begin_ns, windows.back().end_ns},
              [&](const DeviceGap& gap, std::span<const GapPiece> of_gap) {
                if (!of_process(gap)) return;
                for (const GapPiece& piece : of_gap) {
                  if (one_gpu) {
                    add(gap, piece);
                  } else {
                    pieces.emplace_back(gap, piece);
                  }
                }
              });
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const auto& a, const auto& b) { return a.second.begin_ns < b.second.begin_ns; });
  for (const auto& [gap, piece] : pieces) add(gap, piece);
  end_table(batch);
}

void ProcessRows::names() {
  namespace column = dataset::names;
  TableBatch& batch = shared_.target.batch(TableId::names);
  const KernelNames& names = shared_.views.names();
  for (const Name& name : names_) {
    const GpuOperation& operation = name.operation;
    const bool is_stack = name.stack != StackId{};
    const bool is_kernel = !is_stack && operation.has_kernel();
    batch[column::name_id].add(name.id);
    batch[column::kind].add_text(is_stack ? "stack" : kind_text(operation));
    batch[column::name].add_text(is_stack ? std::string_view(shared_.stacks.text(name.stack)) : full_name(operation));
    batch[column::short_name].add_text(is_kernel ? short_function_name(full_name(operation)) : std::string());
    batch[column::mangled].add_text(is_kernel ? operation_name(names, operation, NameForm::Mangled)
                                              : std::string_view());
    const Kernel kernel = is_kernel ? trace_.kernels[operation.detail] : Kernel{};
    const bool shaped = kernel.grid[0] != 0;
    for (size_t i = 0; i < 3; ++i) batch[column::grid_x + i].add_if(shaped, kernel.grid[i]);
    for (size_t i = 0; i < 3; ++i) batch[column::block_x + i].add_if(shaped, kernel.block[i]);
    batch[column::registers].add_if(kernel.from_gpu, kernel.registers);
    batch[column::static_shared_bytes].add_if(shaped, kernel.static_shared_bytes);
    batch[column::dynamic_shared_bytes].add_if(shaped, kernel.dynamic_shared_bytes);
    const bool is_copy = !is_stack && operation.kind() == GpuKind::Copy;
    const bool is_fill = !is_stack && operation.kind() == GpuKind::Fill;
    batch[column::source_memory].add_text(is_copy ? memory_kind_name(operation.source_memory()) : std::string_view());
    batch[column::destination_memory].add_text(is_copy   ? memory_kind_name(operation.destination_memory())
                                               : is_fill ? memory_kind_name(operation.memory_kind())
                                                         : std::string_view());
    end_row(batch);
  }
  end_table(batch);
}

}  // namespace prof::analyzer::dataset
