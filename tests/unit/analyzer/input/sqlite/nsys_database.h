// Small exports of Nsight Systems for tests: the tables that the importer reads, their rows, and the messages of the
// importer.
#pragma once

#include "analyzer/base/input_error.h"
#include "tests/unit/analyzer/input/sqlite/sqlite_database.h"

#include <cstdint>
#include <string>

namespace prof::tests {

// globalTid of thread `tid` of process `pid`.
inline std::string global(uint64_t pid, uint64_t tid = 0) {
  return std::to_string(int64_t{1} << 48 | static_cast<int64_t>(pid << 24 | tid));
}

inline constexpr const char* kSmallSchema = R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, '_Z3addPf'), (2, 'cudaLaunchKernel_v7000'), (3, 'cudaMemcpyAsync_v3020'),
  (4, 'registered'), (5, 'maths'), (6, 'worker'), (7, 'cudaEventSynchronize_v3020'), (8, 'Buffer flush');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, "end", globalTid, correlationId, nameId, returnValue);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, "end", deviceId, contextId, greenContextId, streamId, correlationId,
  globalPid, demangledName, gridX, gridY, gridZ, blockX, blockY, blockZ, graphNodeId, launchType);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, "end", deviceId, contextId, streamId, correlationId, globalPid, bytes,
  copyKind, srcKind, dstKind, srcDeviceId, dstDeviceId);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, "end", deviceId, contextId, streamId, correlationId, globalPid, bytes, memKind);
CREATE TABLE NVTX_EVENTS (start, "end", eventType, globalTid, domainId, text, textId, category, color, uint64Value,
  int64Value, doubleValue);
)";

inline void call(const Database& db, int begin, int end, uint64_t pid, uint64_t tid, int correlation, int name = 2) {
  db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + std::to_string(begin) + "," + std::to_string(end) +
             "," + global(pid, tid) + "," + std::to_string(correlation) + "," + std::to_string(name) + ",0)");
}
inline void kernel(const Database& db, int start, int end, uint64_t pid, int device, int stream, int correlation) {
  db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + std::to_string(start) + "," + std::to_string(end) +
             "," + std::to_string(device) + ",1,NULL," + std::to_string(stream) + "," + std::to_string(correlation) +
             "," + global(pid) + ",1,4,1,1,32,1,1,NULL,1)");
}

inline std::string all_damage(const Trace& trace) {
  std::string text;
  for (const Process& process : trace.processes) {
    for (const std::string& line : process.damage) text += line + "\n";
  }
  return text;
}

inline std::string error_of(const Database& db) {
  try {
    db.read();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace prof::tests
