#include "analyzer/model/hardware_samples.h"

namespace prof::analyzer {

namespace {

struct Name {
  std::string_view base, text;
};
// Metrics of the sampling sets (preload/hardware_counters/sampling_sets.def), and similar ones.
constexpr Name kNames[] = {
    {"sm__cycles_active", "SM active"},
    {"sm__warps_active_realtime", "warps active"},
    {"sm__inst_executed_realtime", "instructions"},
    {"sm__pipe_tensor_cycles_active_realtime", "tensor active"},
    {"dram__bytes_read", "DRAM read"},
    {"dram__bytes_write", "DRAM write"},
    {"dram__bytes_op_read", "DRAM read"},
    {"dram__bytes_op_write", "DRAM write"},
    {"lts__t_bytes", "L2"},
    {"pcie__read_bytes", "PCIe read"},
    {"pcie__write_bytes", "PCIe write"},
    {"nvlrx__bytes", "NVLink received"},
    {"nvltx__bytes", "NVLink sent"},
    {"gpc__cycles_elapsed", "SM clock"},
    {"gr__cycles_active", "graphics engine active"},
};

}  // namespace

SampledUnit sampled_unit(std::string_view metric) {
  const std::string_view base = metric.substr(0, metric.find('.')), suffix = metric.substr(base.size());
  SampledUnit unit;
  unit.name = metric;
  for (const Name& known : kNames) {
    if (known.base == base) unit.name = known.text;
  }
  if (suffix.find(".pct") != std::string_view::npos) {
    unit.unit = "%";
  } else if (suffix.ends_with(".per_second")) {
    const bool clock = base.ends_with("__cycles_elapsed");
    unit.unit = clock ? "GHz" : base.find("bytes") != std::string_view::npos ? "GB/s" : "/s";
    unit.factor = unit.unit == "/s" ? 1 : 1e-9;
  } else if (suffix == ".sum" && base.find("bytes") != std::string_view::npos) {
    unit.unit = "GB/s";
    unit.per_ns = true;
  } else if (suffix == ".sum") {
    unit.unit = "/s";
    unit.per_ns = true;
    unit.factor = 1e9;
  } else {
    unit.name = metric;
  }
  return unit;
}

}  // namespace prof::analyzer
