// The importer of Kineto and Chrome JSON traces with its inner sizes open: for tests and benchmarks. Others call
// import_kineto_json() (importer.h).
#pragma once

#include "analyzer/base/text_source.h"
#include "analyzer/input/importer.h"

#include <cstddef>
#include <string>

namespace prof::analyzer {

inline constexpr size_t kKinetoStretch = size_t{2} << 20;  // bytes of text a worker takes at a time

void import_kineto(TextSource source, const std::string& path, Trace& trace, const ImportOptions& options,
                   size_t stretch_bytes = kKinetoStretch);

}  // namespace prof::analyzer
