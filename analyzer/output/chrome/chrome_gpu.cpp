// GPU tracks of the Chrome trace: kernels, copies and memsets with Kineto's names. Each has the end of its flow.
#include "analyzer/analysis/cost/occupancy.h"
#include "analyzer/output/chrome/chrome_writer.h"
#include "analyzer/output/chrome/counter_members.h"

#include <fmt/format.h>

#include <unordered_map>

namespace prof::analyzer {

namespace {

std::string double_text(double value) {
  char text[32];
  return std::string(text, put_double(text, value));
}

class GpuWriter {
 public:
  explicit GpuWriter(const ChromeContext& context)
      : context_(context), heads_(context.trace.kernels.size()), tails_(context.trace.kernels.size()) {}

  void stream(StreamId id) {
    const Trace& trace = context_.trace;
    const Stream& stream = trace.stream(id);
    if (stream.operations.size() == 0) return;
    const Device& device = trace.device(stream.device);
    process_ = device.process;
    if (device_ != &device) tails_.assign(trace.kernels.size(), {});
    device_ = &device;
    std::vector<std::string> tracks;
    for (const uint64_t tid : context_.ids.lanes[index(id)])
      tracks.push_back(track_piece(context_.ids.device[index(stream.device)], tid));
    const std::string where = fmt::format("\"device\":{},\"context\":{},\"stream\":{},\"correlation\":", device.ordinal,
                                          stream.context, stream.number);
    priority_ = stream.priority_known ? fmt::format(",\"priority\":{}", stream.priority) : std::string();
    LaneFinder lanes;
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
      const GpuOperation& operation = trace.operations[row];
      write(operation, row, tracks[lanes.lane(operation)], where);
    }
  }

 private:
  void write(const GpuOperation& operation, uint32_t row, const std::string& track, const std::string& where) {
    const bool kernel = operation.has_kernel();
    const std::string& head = kernel ? kernel_head(operation) : memory_head(operation);
    const std::string* const tail = kernel ? &kernel_tail(operation) : nullptr;
    const HostEvent* const launch = operation.linked() ? &context_.trace.host[operation.launch] : nullptr;
    added_.clear();
    if (context_.augment != nullptr) context_.augment->operation(row, added_);
    counted_.clear();
    append_counter_members(context_.trace, context_.trace.counters.of_operation(context_.trace, row), counted_);
    const StackId stack = context_.stacks == nullptr ? StackId{} : context_.stacks->of_operation(operation);
    const std::string* const frames = stack == StackId{} ? nullptr : &context_.stacks->operation_member(stack);
    char* to = context_.events.begin(head.size() + track.size() + where.size() + priority_.size() +
                                     (frames != nullptr ? frames->size() : 0) + (tail != nullptr ? tail->size() : 0) +
                                     added_.text().size() + counted_.size() + 640);
    to = put_bytes(to, head);
    to = put_bytes(to, track);
    to = put_micros(to, operation.start_ns);
    to = put_bytes(to, ",\"dur\":");
    to = put_micros(to, operation.end_ns > operation.start_ns ? operation.duration_ns() : 0);
    if (frames != nullptr && context_.stacks->with_frames()) to = put_frame(to, context_.stacks->frame(stack));
    to = put_bytes(to, kernel ? ",\"args\":{\"queued\":0," : ",\"args\":{");
    to = put_bytes(to, where);
    to = put_decimal(to,
                     ChromeIds::correlation(process_, launch != nullptr ? launch->correlation : operation.correlation));
    to = kernel ? put_bytes(to, *tail) : put_memory(to, operation);
    if (operation.graph_node != 0) {
      to = put_decimal(put_bytes(to, ",\"graph id\":"), graph_of(operation.graph_node));
      if (operation.kind() != GpuKind::Graph)
        to = put_decimal(put_bytes(to, ",\"graph node id\":"), operation.graph_node);
    }
    to = put_bytes(to, counted_);
    if (context_.augment != nullptr) to = put_extras(to);
    if (frames != nullptr && !frames->empty()) to = put_bytes(put_bytes(to, ","), *frames);
    context_.events.end(put_bytes(to, "}}"));
    if (launch != nullptr) flow(operation, *launch, track);
    if (context_.arrows != nullptr && context_.arrows->wants_operation(row)) context_.arrows->put({false, row}, track);
  }

  char* put_memory(char* to, const GpuOperation& operation) {
    to = put_decimal(put_bytes(to, ",\"bytes\":"), operation.bytes);
    const double ns = static_cast<double>(operation.duration_ns());
    to = put_bytes(to, ",\"memory bandwidth (GB/s)\":");
    to = put_double(to, ns > 0 ? static_cast<double>(operation.bytes) / ns : 0);
    if (operation.peer_source != 0 || operation.peer_destination != 0) {
      to = put_signed(put_bytes(to, ",\"fromDevice\":"), static_cast<int64_t>(operation.peer_source) - 1);
      to = put_signed(put_bytes(to, ",\"toDevice\":"), static_cast<int64_t>(operation.peer_destination) - 1);
    }
    return to;
  }

  char* put_extras(char* to) {
    to = put_bytes(to, priority_);
    return put_bytes(put_bytes(to, ","), added_.text());  // every operation has at least one
  }

  void flow(const GpuOperation& operation, const HostEvent& launch, const std::string& track) {
    char* to = context_.events.begin(track.size() + 128);
    to = put_bytes(to, "{\"ph\":\"f\",\"id\":");
    to = put_decimal(to, ChromeIds::correlation(process_, launch.correlation));
    *to++ = ',';
    to = put_bytes(to, track);
    to = put_micros(to, operation.start_ns);
    context_.events.end(put_bytes(to, ",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\"}"));
  }

  const std::string& kernel_head(const GpuOperation& operation) {
    const KernelId kernel = context_.views.names().named_by(operation);
    std::string& head = heads_[index(kernel)];
    if (head.empty()) {
      head = "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":" +
             json_string(context_.views.names().name(kernel, NameForm::Full)) + ",";
    }
    return head;
  }

  const std::string& memory_head(const GpuOperation& operation) {
    const uint32_t key = operation.detail << 2 | static_cast<uint32_t>(operation.kind());
    std::string& head = memory_heads_[key];
    if (!head.empty()) return head;
    const bool copy = operation.kind() == GpuKind::Copy;
    const std::string name = copy ? fmt::format("Memcpy {} ({} -> {})", copy_kind_name(operation.copy_kind()),
                                                memory_kind_name(operation.source_memory()),
                                                memory_kind_name(operation.destination_memory()))
                                  : fmt::format("Memset ({})", memory_kind_name(operation.memory_kind()));
    return head = fmt::format("{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":{},", copy ? "gpu_memcpy" : "gpu_memset",
                              json_string(name));
  }

  const std::string& kernel_tail(const GpuOperation& operation) {
    std::string& tail = tails_[operation.detail];
    if (!tail.empty()) return tail;
    const Kernel& kernel = context_.trace.kernels[operation.detail];
    tail = fmt::format(",\"registers per thread\":{},\"shared memory\":{}", kernel.registers,
                       uint64_t{kernel.static_shared_bytes} + kernel.dynamic_shared_bytes);
    const std::optional<KernelFill> fill = kernel_fill(*device_, kernel);
    if (fill) {
      tail += fmt::format(",\"blocks per SM\":{},\"warps per SM\":{}", double_text(fill->blocks_per_sm),
                          double_text(fill->warps_per_sm));
    }
    tail += fmt::format(",\"grid\":[{},{},{}],\"block\":[{},{},{}]", kernel.grid[0], kernel.grid[1], kernel.grid[2],
                        kernel.block[0], kernel.block[1], kernel.block[2]);
    if (fill) tail += fmt::format(",\"est. achieved occupancy %\":{}", fill->occupancy_percent);
    return tail;
  }

  const ChromeContext& context_;
  std::vector<std::string> heads_;  // by KernelId
  std::vector<std::string> tails_;  // by KernelId, of the current device
  std::unordered_map<uint32_t, std::string> memory_heads_;
  ProcessId process_{};
  const Device* device_ = nullptr;
  std::string priority_;
  AugmentMembers added_;
  std::string counted_;
};

}  // namespace

void write_chrome_gpu(const ChromeContext& context) {
  GpuWriter writer(context);
  for (uint32_t s = 0; s < context.trace.streams.size(); ++s) {
    const Stream& stream = context.trace.streams[s];  // a stream without operations may have no device either
    if (stream.operations.size() != 0 && context.writes(stream.device)) writer.stream(StreamId{s});
  }
}

}  // namespace prof::analyzer
