// Any bytes as a log: open, definitions, clock, every record, check and dump. Nothing may crash, hang or read outside
// its memory.
#include "analyzer/input/log/log_health.h"
#include "analyzer/input/log/log_text.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace prof::analyzer;
  const LogOpenResult opened = LogFile::from_memory(std::vector<uint8_t>(data, data + size), "fuzz");
  if (!opened) return 0;
  const LogHealth health = examine_log(*opened.log);
  const LogClock clock = make_clock(*opened.log, health.definitions);
  for (const BlockRef& block : opened.log->blocks()) clock.gpu_ns(block.base_tick);
  Sink sink("/dev/null");
  write_log_text(*opened.log, sink, {});
  sink.close();
  return 0;
}
