// What do the GPU views of ui.perfetto.dev read? Every kernel as a GpuRenderStageEvent of the category COMPUTE, with
// its launch geometry, registers, shared memory and occupancy. The slices of the streams exist beside these: only they
// can have arrows, arguments and tracks of their own below their process in every version of the viewer.
//
// Names of launch arguments are written in each event. Their interned form is an extension of the format that readers
// generated from perfetto_trace.proto do not know. The same holds for arrows between a host slice and a render stage.
#include "analyzer/analysis/cost/occupancy.h"
#include "analyzer/output/chrome/chrome_writer.h"
#include "analyzer/output/perfetto/perfetto_fields.h"

#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>

#include <cmath>
#include <map>

namespace prof::analyzer {

namespace {

using protozero::pbf_writer;
namespace stage = perfetto::stage;
namespace interned = perfetto::interned;

void put_sizes(pbf_writer& launch, perfetto::Field field, const uint32_t (&sizes)[3]) {
  pbf_writer vector(launch, field);
  for (perfetto::Field axis = 1; axis <= 3; ++axis) vector.add_uint32(axis, sizes[axis - 1]);
}

void put_argument(pbf_writer& launch, std::string_view name, uint64_t value) {
  pbf_writer argument(launch, stage::kArgument);
  argument.add_string(stage::kArgumentName, name.data(), name.size());
  argument.add_uint64(stage::kArgumentUint, value);
}

void put_argument(pbf_writer& launch, std::string_view name, double value) {
  pbf_writer argument(launch, stage::kArgument);
  argument.add_string(stage::kArgumentName, name.data(), name.size());
  if (std::trunc(value) == value) {
    argument.add_uint64(stage::kArgumentUint, static_cast<uint64_t>(value));  // shorter
  } else {
    argument.add_double(stage::kArgumentReal, value);
  }
}

class StageWriter {
 public:
  explicit StageWriter(const ChromeContext& context)
      : context_(context), stages_(context.trace.kernels.size()), launches_(context.trace.kernels.size()) {}

  void stream(uint32_t id) {
    const Trace& trace = context_.trace;
    const Stream& stream = trace.streams[id];
    const Device& device = trace.device(stream.device);
    if (device_ != &device) launches_.assign(trace.kernels.size(), {});
    device_ = &device;
    std::vector<Lane> lanes(context_.ids.lanes[id].size());
    LaneFinder finder;
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
      const GpuOperation& operation = trace.operations[row];
      Lane& lane = lanes[finder.lane(operation)];
      if (operation.kind() != GpuKind::Kernel || !context_.selects_operation(row)) continue;
      if (lane.iid == 0) lane = new_lane(id, static_cast<size_t>(&lane - lanes.data()));
      write(operation, row, stream, lane);
    }
  }

 private:
  struct Lane {
    uint64_t iid = 0;
    uint32_t queue = 0;
  };

  void intern(perfetto::Field table, const std::string& entry) {
    std::string data;
    pbf_writer(data).add_message(table, entry);
    context_.events.packets().stage_data(data);
  }

  uint64_t specification(std::string_view name, bool compute) {
    std::string entry;
    pbf_writer writer(entry);
    writer.add_uint64(interned::kIid, ++last_iid_);
    const std::string readable = readable_utf8(name);
    writer.add_string(interned::kText, readable);
    if (compute) writer.add_enum(interned::kSpecificationCategory, interned::kCompute);
    intern(interned::kGpuSpecifications, entry);
    return last_iid_;
  }

  Lane new_lane(uint32_t stream, size_t lane) {
    const std::string name = context_.ids.stream_names[stream];
    const uint64_t pid = context_.ids.process[index(device_->process)];
    const std::string place = fmt::format("GPU {} {} (pid {})", device_->ordinal, name, pid);
    const uint64_t iid = specification(lane == 0 ? place : fmt::format("{} overlap {}", place, lane), false);
    return {iid, context_.events.packets().add_queue()};
  }

  uint64_t context_iid(const Stream& stream) {
    uint64_t& iid = contexts_[{index(device_->process), stream.context}];
    if (iid != 0) return iid;
    iid = contexts_.size();
    std::string entry;
    pbf_writer writer(entry);
    writer.add_uint64(interned::kIid, iid);
    writer.add_int32(interned::kContextPid, static_cast<int32_t>(context_.ids.process[index(device_->process)]));
    writer.add_enum(interned::kContextApi, interned::kCuda);
    intern(interned::kContexts, entry);
    return iid;
  }

  // The launch of a kernel: an encoded field of the event.
  const std::string& launch_of(const GpuOperation& operation) {
    std::string& launch = launches_[operation.detail];
    if (!launch.empty()) return launch;
    const Kernel& kernel = context_.trace.kernels[operation.detail];
    pbf_writer outer(launch);
    pbf_writer writer(outer, stage::kLaunch);
    put_sizes(writer, stage::kGrid, kernel.grid);
    put_sizes(writer, stage::kBlock, kernel.block);
    put_argument(writer, "registers_per_thread", uint64_t{kernel.registers});
    put_argument(writer, "shared_mem_static", uint64_t{kernel.static_shared_bytes});
    put_argument(writer, "shared_mem_dynamic", uint64_t{kernel.dynamic_shared_bytes});
    const std::optional<KernelFill> fill = kernel_fill(*device_, kernel);
    if (fill && fill->resident_percent > 0)
      put_argument(writer, "sm__maximum_warps_per_active_cycle_pct", fill->resident_percent);
    return launch;
  }

  void write(const GpuOperation& operation, uint32_t row, const Stream& stream, const Lane& lane) {
    const KernelId named = context_.views.names().named_by(operation);
    uint64_t& stage_iid = stages_[index(named)];
    if (stage_iid == 0) stage_iid = specification(context_.views.names().name(named, NameForm::Full), true);
    const uint64_t context = context_iid(stream);
    const std::string& launch = launch_of(operation);
    event_.clear();
    pbf_writer writer(event_);
    writer.add_uint64(stage::kEvent, uint64_t{row} + 1);
    writer.add_uint64(stage::kDuration, static_cast<uint64_t>(operation.last_ns() - operation.start_ns));
    writer.add_uint64(stage::kContext, context);
    writer.add_int32(stage::kGpu, static_cast<int32_t>(device_->ordinal));
    writer.add_uint64(stage::kQueue, lane.iid);
    writer.add_uint64(stage::kStage, stage_iid);
    event_ += launch;
    context_.events.packets().stage(lane.queue, operation.start_ns + context_.offset_ns, event_);
  }

  const ChromeContext& context_;
  const Device* device_ = nullptr;
  uint64_t last_iid_ = 0;
  std::vector<uint64_t> stages_;       // iids by KernelId
  std::vector<std::string> launches_;  // by KernelId, of the current device
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> contexts_;
  std::string event_;
};

}  // namespace

void write_render_stages(const ChromeContext& context) {
  StageWriter writer(context);
  for (uint32_t s = 0; s < context.trace.streams.size(); ++s) {
    const Stream& stream = context.trace.streams[s];
    if (stream.operations.size() != 0 && context.selects_device(stream.device)) writer.stream(s);
  }
}

}  // namespace prof::analyzer
