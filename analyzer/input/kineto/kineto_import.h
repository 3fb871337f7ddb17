// The importer of Kineto and Chrome JSON traces. Tests and benchmarks choose the size of a stretch. Others call
// import_kineto_json() (importer.h).
#pragma once

#include "analyzer/base/text_source.h"
#include "analyzer/input/importer.h"
#include "analyzer/input/kineto/json_cutter.h"

#include <cstddef>
#include <string>

namespace prof::analyzer {

inline constexpr size_t kKinetoStretch = size_t{2} << 20;  // bytes of text that a worker reads at a time

void import_kineto(TextSource source, const std::string& path, Trace& trace, const ImportOptions& options,
                   size_t stretch_bytes = kKinetoStretch, const JsonLimits& limits = {});

}  // namespace prof::analyzer
