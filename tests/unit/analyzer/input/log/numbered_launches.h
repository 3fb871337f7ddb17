// A log of numbered launches, and what the reader returns for it; for tests of the reader.
#pragma once

#include "analyzer/input/log/log_decode.h"
#include "tests/unit/analyzer/log_builder.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace prof::tests {

using namespace analyzer;

struct Launches {
  std::vector<format::KernelLaunch> all;
  std::vector<std::string> unknown_names;
  void operator()(const format::KernelLaunch& launch, RecordPlace) { all.push_back(launch); }
  void unknown(const KindSignature& kind, RecordPlace) { unknown_names.emplace_back(kind.name); }
};

inline format::KernelLaunch launch_number(uint64_t i) {
  format::KernelLaunch launch;
  launch.end = 1000 + i * 10;
  launch.duration = i % 7;
  launch.config = static_cast<format::ConfigId>(i % 3 + 1);
  launch.stream = static_cast<format::StreamId>(1);
  launch.depth = i % 200;
  launch.flags = i % 50 == 0 ? 1 : 0;
  return launch;
}

inline LogBuilder some_log(uint64_t launches) {
  LogBuilder log;
  log.add(1, format::ThreadDef{static_cast<format::ThreadOrdinal>(1), 77, 900, "main"});
  for (uint64_t i = 0; i < launches; ++i) log.add(1, launch_number(i));
  return log;
}

inline Launches decode_all(const LogFile& log, uint64_t* bad = nullptr) {
  Launches out;
  for (const BlockRef& block : log.blocks()) {
    const DecodeResult result = decode_block(log, block, out);
    if (bad != nullptr && result.bad_record) ++*bad;
  }
  return out;
}

inline std::unique_ptr<LogFile> reopen(const std::vector<uint8_t>& bytes) {
  return std::move(LogFile::from_memory(bytes, "test.plog").log);
}

}  // namespace prof::tests
