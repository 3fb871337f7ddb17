// How is a sample of a running program written: as text, as JSON, and as OpenMetrics for node_exporter? What is not
// known is "—" in text, null in JSON, and absent in OpenMetrics.
#pragma once

#include "analyzer/live/live_log.h"

#include <span>
#include <string>

namespace prof::analyzer {

// `most`: rows of kernels and streams; 0: all.
std::string live_text(std::span<const LiveSample> samples, size_t most);
std::string live_json(std::span<const LiveSample> samples);
std::string live_openmetrics(std::span<const LiveSample> samples);

}  // namespace prof::analyzer
