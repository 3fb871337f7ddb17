#include "analyzer/input/kineto/kineto_model.h"

#include "analyzer/base/json/json_decimal.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

namespace {

// Numbers of a stretch whose meaning in the model is not known yet.
constexpr uint32_t kUnset = UINT32_MAX;

}  // namespace

size_t KinetoModel::KernelHash::operator()(const Kernel& kernel) const {
  uint64_t hash = static_cast<uint32_t>(kernel.name);
  for (const uint32_t word :
       {kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0], kernel.block[1], kernel.block[2],
        kernel.registers, kernel.static_shared_bytes, kernel.dynamic_shared_bytes})
    hash = (hash ^ word) * 0x9e3779b97f4a7c15 + (hash >> 29);
  return hash;
}

bool KinetoModel::KernelEqual::operator()(const Kernel& a, const Kernel& b) const {
  return a.name == b.name && std::equal(std::begin(a.grid), std::end(a.grid), std::begin(b.grid)) &&
         std::equal(std::begin(a.block), std::end(a.block), std::begin(b.block)) && a.registers == b.registers &&
         a.static_shared_bytes == b.static_shared_bytes && a.dynamic_shared_bytes == b.dynamic_shared_bytes;
}

KinetoModel::KinetoModel(Trace& trace, const std::string& path)
    : trace_(trace), path_(path), mark_(trace), apis_(trace) {}

// Pids are numbers, also as text; negative ones are the profiler's own and belong to the first process.
uint32_t KinetoModel::process_of(uint32_t pid_text) {
  const auto known = processes_.find(pid_text);
  if (known != processes_.end()) return known->second;
  const std::string_view text = trace_.strings[StringId{pid_text}];
  int64_t pid = 0;
  const bool number = to_int64(text, pid) == DecimalResult::Ok;
  if (number && pid < 0 && row_count(trace_.processes) > mark_.processes) return processes_[pid_text] = mark_.processes;
  const uint32_t row = row_count(trace_.processes);
  Process& process = trace_.processes.emplace_back();
  process.source = path_;
  process.pid = number && pid >= 0 ? static_cast<uint32_t>(pid) : row - mark_.processes;
  if (!number) process.executable = text;
  return processes_[pid_text] = row;
}

uint32_t KinetoModel::thread_of(uint32_t pid_text, uint32_t tid_text) {
  const auto [found, added] = threads_.try_emplace(uint64_t{pid_text} << 32 | tid_text, row_count(trace_.threads));
  if (!added) return found->second;
  const uint32_t process = process_of(pid_text);
  Thread& thread = trace_.threads.emplace_back();
  thread.process = ProcessId{process};
  const std::string_view text = trace_.strings[StringId{tid_text}];
  int64_t tid = 0;
  if (to_int64(text, tid) == DecimalResult::Ok) {
    thread.tid = static_cast<uint32_t>(tid);
  } else {
    thread.name = text;
  }
  return row_count(trace_.threads) - 1;
}

uint32_t KinetoModel::label_of(uint32_t text, uint32_t domain) {
  const auto [found, added] = labels_.try_emplace(uint64_t{domain} << 32 | text, row_count(trace_.labels));
  if (added) {
    Label& label = trace_.labels.emplace_back();
    label.text = StringId{text}, label.domain = StringId{domain};
  }
  return found->second;
}

uint32_t KinetoModel::stream_key(const StreamKey& key) {
  const auto [found, added] = stream_keys_.try_emplace(key, row_count(streams_));
  if (added) streams_.push_back(key);
  return found->second;
}

uint32_t KinetoModel::kernel_of(const Kernel& kernel) {
  const auto [found, added] = kernels_.try_emplace(kernel, row_count(trace_.kernels));
  if (added) trace_.kernels.push_back(kernel);
  return found->second;
}

void KinetoModel::add(const KinetoRows& rows) {
  const std::vector<std::string_view>& texts = rows.texts.texts();
  text_.resize(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) text_[i] = static_cast<uint32_t>(trace_.strings.intern(texts[i]));
  label_.assign(texts.size(), kUnset);
  api_.assign(texts.size(), kUnset);
  call_kind_.resize(texts.size());
  thread_.assign(rows.tracks.size(), kUnset);
  add_names(rows);
  const size_t first_operation = trace_.operations.size(), first_range = trace_.ranges.size();
  add_host(rows);
  add_gpu(rows);
  add_ranges(rows);
  add_counted(rows, first_operation, first_range);
  add_counts(rows);
}

void KinetoModel::add_names(const KinetoRows& rows) {
  for (const KinetoName& name : rows.names) {
    const uint32_t pid = text_[name.track.pid];
    if (name.of_thread) {
      thread_names_[uint64_t{pid} << 32 | text_[name.track.tid]] = text_[name.name];
    } else {
      process_names_[pid] = text_[name.name];
    }
  }
  // Rows of this stretch refer to threads in the order of the file.
  for (size_t i = 0; i < rows.tracks.size(); ++i)
    thread_[i] = thread_of(text_[rows.tracks[i].pid], text_[rows.tracks[i].tid]);
}

void KinetoModel::add_host(const KinetoRows& rows) {
  for (size_t i = 0; i < rows.host.size(); ++i) {
    HostEvent row = rows.host[i];
    const uint32_t name = row.stack;
    if (api_[name] == kUnset) {
      const std::string_view text = trace_.strings[StringId{text_[name]}];
      api_[name] = apis_.intern(text);
      call_kind_[name] = analyzer::call_kind(text);
    }
    row.word = HostEvent::pack(api_[name], call_kind_[name], 0, 0);
    row.stack = 0;
    row.thread = ThreadId{thread_[index(row.thread)]};
    trace_.host.push_back(row);
    host_external_.push_back(rows.host_external[i]);
  }
}

// What is added to a number of a detail in the rows that are next.
uint64_t KinetoModel::details_before() const { return trace_.details.empty() ? 0 : trace_.details.size() - 1; }

void KinetoModel::add_gpu(const KinetoRows& rows) {
  stream_.clear();
  for (const KinetoStream& stream : rows.streams) {
    stream_.push_back(stream_key({text_[stream.pid], stream.device, stream.context, stream.number}));
  }
  kernel_.clear();
  for (const KinetoKernel& each : rows.kernels) {
    Kernel kernel;
    kernel.name = StringId{text_[each.name]};
    std::copy(std::begin(each.grid), std::end(each.grid), std::begin(kernel.grid));
    std::copy(std::begin(each.block), std::end(each.block), std::begin(kernel.block));
    kernel.registers = each.registers;
    kernel.dynamic_shared_bytes = each.shared_bytes;
    kernel.from_gpu = true;
    kernel_.push_back(kernel_of(kernel));
  }
  const uint64_t first_detail = details_before();
  for (size_t i = 0; i < rows.operations.size(); ++i) {
    GpuOperation row = rows.operations[i];
    row.stream_index = stream_[row.stream_index] & ((1u << 29) - 1);
    if (row.kind() == GpuKind::Kernel) {
      row.detail = kernel_[row.detail];
      if (row.bytes != 0) row.bytes = (row.bytes + first_detail) & ((uint64_t{1} << 48) - 1);
    }
    trace_.operations.push_back(row);
    operation_external_.push_back(rows.operation_external[i]);
  }
  for (SyncEvent row : rows.syncs) {
    if (row.stream != kNone) row.stream = stream_[row.stream];
    if (row.waits_for != kNone) row.waits_for = stream_[row.waits_for];
    trace_.syncs.push_back(row);
  }
  for (GpuAnnotation row : rows.gpu_annotations) {
    row.stream = StreamId{stream_[index(row.stream)]};
    uint32_t& label = label_[index(row.label)];
    if (label == kUnset) label = label_of(text_[index(row.label)]);
    row.label = LabelId{label};
    trace_.gpu_annotations.push_back(row);
  }
}

void KinetoModel::add_ranges(const KinetoRows& rows) {
  const auto label = [&](uint32_t text) {
    if ((text & kOfDomain) != 0) {
      const KinetoLabel& of = rows.labels[text & ~kOfDomain];
      return label_of(text_[of.name], text_[of.domain]);
    }
    if (label_[text] == kUnset) label_[text] = label_of(text_[text]);
    return label_[text];
  };
  if (trace_.details.empty() && !rows.details.empty()) trace_.details.push_back({});  // row 0: none
  const uint64_t first_detail = details_before();
  for (OperatorDetail row : rows.details) {
    for (StringId* text : {&row.dims, &row.types, &row.concrete, &row.stack, &row.other})
      *text = StringId{text_[static_cast<uint32_t>(*text)]};
    trace_.details.push_back(row);
  }
  const auto add = [&](Range row, Column<Range>& to) {
    row.thread = ThreadId{thread_[index(row.thread)]};
    row.label = LabelId{label(index(row.label))};
    if (row.payload != 0) row.payload += first_detail;
    row.path = PathId{static_cast<uint32_t>(to.size())};  // as in the file, see ImportMark
    to.push_back(row);
  };
  for (const Range& row : rows.ranges) add(row, trace_.ranges);
  for (const Range& row : rows.marks) add(row, trace_.marks);
  for (MemoryEvent row : rows.memory) {
    row.thread = ThreadId{thread_[index(row.thread)]};
    trace_.memory.push_back(row);
  }
  for (const KinetoFlow& flow : rows.flows)
    (flow.starts ? flow_starts_ : flow_ends_).push_back({flow.time_ns, flow.id, text_[flow.pid], flow.number});
  for (const KinetoEdge& edge : rows.edges) {
    edges_.push_back({edge.time_ns, edge.detail == 0 ? 0 : edge.detail + first_detail, thread_[edge.thread],
                      label(edge.label), edge.key == 0 ? 0 : text_[edge.key], row_count(edges_), edge.phase,
                      static_cast<RangeKind>(edge.kind)});
  }
}

void KinetoModel::add_counts(const KinetoRows& rows) {
  for (const KinetoCount& count : rows.counts) {
    counts_[count.category] += count.events;
    events_ += count.events;
  }
  for (size_t i = 0; i < std::size(aside_); ++i) aside_[i] += rows.aside[i];
  damaged_ += rows.damaged;
  constexpr size_t kMostDamage = 1000;
  for (size_t i = 0; i < rows.damage.size() && damage_.size() < kMostDamage; ++i) damage_.push_back(rows.damage[i]);
  last_ns_ = std::max(last_ns_, rows.last_ns);
}

void KinetoModel::finish(const KinetoHeader& header, std::vector<KinetoDamage> damage) {
  edges_.shrink_to_fit();
  close_edges();
  name_streams();
  take_gpu_tracks();
  if (row_count(trace_.processes) == mark_.processes) trace_.processes.emplace_back().source = path_;
  join_counters();
  give_streams(header);
  find_counted();
  host_external_.free();
  operation_external_.free();
  flow_starts_ = {}, flow_ends_ = {};
  name_all(header);
  tell(header, std::move(damage));
  place_counters(finish_import(trace_, mark_, header.base_ns));
}

}  // namespace prof::analyzer
