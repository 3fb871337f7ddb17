// GPU tracks of the Chrome trace: kernels, copies and memsets with Kineto's names. Each has the end of its flow.
#include "analyzer/analysis/cost/occupancy.h"
#include "analyzer/output/chrome/chrome_writer.h"
#include "analyzer/output/chrome/counter_members.h"

#include <fmt/format.h>

#include <unordered_map>

namespace prof::analyzer {

namespace {

class GpuWriter final : public TrackRows {
 public:
  explicit GpuWriter(const ChromeContext& context)
      : context_(context),
        heads_(context.trace.kernels.size()),
        tails_(context.trace.kernels.size()),
        members_(context.events),
        piece_(context.events) {
    members_.add_count(EventKey::Queued, 0);
    queued_ = members_.text();
  }

  void start(uint32_t id) override {
    const Trace& trace = context_.trace;
    const Stream& stream = trace.streams[id];
    const Device& device = trace.device(stream.device);
    process_ = device.process;
    if (device_ != &device) tails_.assign(trace.kernels.size(), {});
    device_ = &device;
    tracks_.clear();
    for (const uint64_t tid : context_.ids.lanes[id])
      tracks_.push_back(context_.events.track(context_.ids.device[index(stream.device)], tid));
    members_.clear();
    members_.add_count(EventKey::Device, device.ordinal);
    members_.add_count(EventKey::Context, stream.context);
    members_.add_count(EventKey::Stream, stream.number);
    where_ = members_.text();
    members_.clear();
    if (stream.priority_known) members_.add_signed(EventKey::Priority, stream.priority);
    priority_ = members_.text();
    lanes_ = LaneFinder();
  }

  void row(uint32_t row) override {
    const GpuOperation& operation = context_.trace.operations[row];
    const std::string& track = tracks_[lanes_.lane(operation)];
    if (!context_.selects_operation(row)) return;
    const bool kernel = operation.has_kernel();
    const HostEvent* const launch = operation.linked() ? &context_.trace.host[operation.launch] : nullptr;
    const bool has_arrow = launch != nullptr && context_.selects_call(operation.launch);
    const StackId stack = context_.stacks == nullptr ? StackId{} : context_.stacks->of_operation(operation);
    members_.clear();
    if (kernel) members_.append(queued_);
    members_.append(where_);
    members_.add_count(
        EventKey::Correlation,
        ChromeIds::correlation(process_, launch != nullptr ? launch->correlation : operation.correlation));
    if (kernel) {
      members_.append(kernel_tail(operation));
    } else {
      add_memory(operation);
    }
    if (operation.graph_node != 0) {
      members_.add_count(EventKey::GraphId, graph_of(operation.graph_node));
      if (operation.kind() != GpuKind::Graph) members_.add_count(EventKey::GraphNodeId, operation.graph_node);
    }
    add_counter_members(context_.trace, context_.trace.counters.of_operation(context_.trace, row), context_.events,
                        members_);
    if (context_.augment != nullptr) {
      members_.append(priority_);
      context_.augment->operation(row, members_);
    }
    if (stack != StackId{}) context_.stacks->add_of_operation(stack, members_);
    const uint64_t flow = has_arrow ? ChromeIds::correlation(process_, launch->correlation) : 0;
    const bool arrows = context_.arrows != nullptr && context_.arrows->wants_operation(row);
    const uint32_t frame = stack != StackId{} && context_.stacks->with_frames() ? context_.stacks->frame(stack) : 0;
    context_.events.slice(kernel ? kernel_head(operation) : memory_head(operation), track, operation.start_ns,
                          operation.end_ns > operation.start_ns ? operation.duration_ns() : 0, members_,
                          context_.flows_of({false, row}, arrows, flow, true, flows_), {false, frame});
    if (has_arrow) context_.events.launch_flow(false, flow, track, operation.start_ns);
    if (arrows) context_.arrows->put({false, row}, track);
  }

  Rows rows_of(uint32_t stream) const override { return context_.trace.streams[stream].operations; }
  Interval interval(uint32_t row) const override {
    const GpuOperation& operation = context_.trace.operations[row];
    return {operation.start_ns, operation.last_ns()};
  }

 private:
  void add_memory(const GpuOperation& operation) {
    members_.add_count(EventKey::CallBytes, operation.bytes);
    const double ns = static_cast<double>(operation.duration_ns());
    members_.add_double(EventKey::MemoryBandwidth, ns > 0 ? static_cast<double>(operation.bytes) / ns : 0);
    if (operation.peer_source != 0 || operation.peer_destination != 0) {
      members_.add_signed(EventKey::FromDevice, static_cast<int64_t>(operation.peer_source) - 1);
      members_.add_signed(EventKey::ToDevice, static_cast<int64_t>(operation.peer_destination) - 1);
    }
  }

  const std::string& kernel_head(const GpuOperation& operation) {
    const KernelId kernel = context_.views.names().named_by(operation);
    std::string& head = heads_[index(kernel)];
    if (head.empty()) head = context_.events.slice_head("kernel", context_.views.names().name(kernel, NameForm::Full));
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
    return head = context_.events.slice_head(copy ? "gpu_memcpy" : "gpu_memset", name);
  }

  const std::string& kernel_tail(const GpuOperation& operation) {
    std::string& tail = tails_[operation.detail];
    if (!tail.empty()) return tail;
    const Kernel& kernel = context_.trace.kernels[operation.detail];
    piece_.clear();
    piece_.add_count(EventKey::Registers, kernel.registers);
    piece_.add_count(EventKey::SharedMemory, uint64_t{kernel.static_shared_bytes} + kernel.dynamic_shared_bytes);
    const std::optional<KernelFill> fill = kernel_fill(*device_, kernel);
    if (fill) {
      piece_.add_double(EventKey::BlocksPerSm, fill->blocks_per_sm);
      piece_.add_double(EventKey::WarpsPerSm, fill->warps_per_sm);
    }
    piece_.add_sizes(EventKey::Grid, kernel.grid);
    piece_.add_sizes(EventKey::Block, kernel.block);
    if (fill) piece_.add_signed(EventKey::Occupancy, fill->occupancy_percent);
    tail = piece_.text();
    return tail;
  }

  const ChromeContext& context_;
  std::vector<std::string> heads_;  // by KernelId
  std::vector<std::string> tails_;  // by KernelId, of the current device
  std::unordered_map<uint32_t, std::string> memory_heads_;
  ProcessId process_{};
  const Device* device_ = nullptr;
  std::vector<std::string> tracks_;  // by lane of the current stream
  LaneFinder lanes_;
  std::string queued_, where_, priority_;
  EventMembers members_, piece_;
  SliceFlows flows_;
};

}  // namespace

std::unique_ptr<TrackRows> operation_rows(const ChromeContext& context) { return std::make_unique<GpuWriter>(context); }

void write_chrome_gpu(const ChromeContext& context) {
  GpuWriter writer(context);
  for (uint32_t s = 0; s < context.trace.streams.size(); ++s) {
    const Stream& stream = context.trace.streams[s];  // a stream without operations may have no device either
    if (stream.operations.size() == 0 || !context.writes(stream.device)) continue;
    writer.start(s);
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) writer.row(row);
  }
}

}  // namespace prof::analyzer
