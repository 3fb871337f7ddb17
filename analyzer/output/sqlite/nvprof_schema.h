// Which tables and columns does a profile of nvprof have? Those that prof fills or that readers query.
#pragma once

#include "analyzer/output/sqlite/database_file.h"

#include <array>

namespace prof::analyzer::nvprof {

inline constexpr std::string_view kInt = "INT", kKey = "INTEGER PRIMARY KEY";

inline constexpr std::array kStringColumns = {SqlColumn{"_id_", kKey}, SqlColumn{"value", "TEXT"}};
inline constexpr std::array kCallColumns = {SqlColumn{"_id_", kKey},          SqlColumn{"cbid", kInt},
                                            SqlColumn{"start", kInt},         SqlColumn{"end", kInt},
                                            SqlColumn{"processId", kInt},     SqlColumn{"threadId", kInt},
                                            SqlColumn{"correlationId", kInt}, SqlColumn{"returnValue", kInt}};
inline constexpr std::array kMarkerColumns = {SqlColumn{"_id_", kKey},       SqlColumn{"flags", kInt},
                                              SqlColumn{"timestamp", kInt},  SqlColumn{"id", kInt},
                                              SqlColumn{"objectKind", kInt}, SqlColumn{"objectId", "BLOB"},
                                              SqlColumn{"name", kInt},       SqlColumn{"domain", kInt}};
inline constexpr std::array kKernelColumns = {SqlColumn{"_id_", kKey},
                                              SqlColumn{"cacheConfig", "BLOB"},
                                              SqlColumn{"sharedMemoryConfig", kInt},
                                              SqlColumn{"registersPerThread", kInt},
                                              SqlColumn{"start", kInt},
                                              SqlColumn{"end", kInt},
                                              SqlColumn{"completed", kInt},
                                              SqlColumn{"deviceId", kInt},
                                              SqlColumn{"contextId", kInt},
                                              SqlColumn{"streamId", kInt},
                                              SqlColumn{"gridX", kInt},
                                              SqlColumn{"gridY", kInt},
                                              SqlColumn{"gridZ", kInt},
                                              SqlColumn{"blockX", kInt},
                                              SqlColumn{"blockY", kInt},
                                              SqlColumn{"blockZ", kInt},
                                              SqlColumn{"staticSharedMemory", kInt},
                                              SqlColumn{"dynamicSharedMemory", kInt},
                                              SqlColumn{"localMemoryPerThread", kInt},
                                              SqlColumn{"localMemoryTotal", kInt},
                                              SqlColumn{"correlationId", kInt},
                                              SqlColumn{"gridId", kInt},
                                              SqlColumn{"name", kInt},
                                              SqlColumn{"launchType", kInt}};
#define PROF_NVPROF_COPY                                                                                        \
  SqlColumn{"_id_", kKey}, SqlColumn{"copyKind", kInt}, SqlColumn{"srcKind", kInt}, SqlColumn{"dstKind", kInt}, \
      SqlColumn{"flags", kInt}, SqlColumn{"bytes", kInt}, SqlColumn{"start", kInt}, SqlColumn{"end", kInt},     \
      SqlColumn{"deviceId", kInt}, SqlColumn{"contextId", kInt}, SqlColumn{"streamId", kInt}, SqlColumn {       \
    "correlationId", kInt                                                                                       \
  }
inline constexpr std::array kCopyColumns = {PROF_NVPROF_COPY, SqlColumn{"runtimeCorrelationId", kInt}};
inline constexpr std::array kPeerColumns = {PROF_NVPROF_COPY, SqlColumn{"srcDeviceId", kInt},
                                            SqlColumn{"srcContextId", kInt}, SqlColumn{"dstDeviceId", kInt},
                                            SqlColumn{"dstContextId", kInt}};
#undef PROF_NVPROF_COPY
inline constexpr std::array kFillColumns = {
    SqlColumn{"_id_", kKey},      SqlColumn{"value", kInt},     SqlColumn{"bytes", kInt},
    SqlColumn{"start", kInt},     SqlColumn{"end", kInt},       SqlColumn{"deviceId", kInt},
    SqlColumn{"contextId", kInt}, SqlColumn{"streamId", kInt},  SqlColumn{"correlationId", kInt},
    SqlColumn{"flags", kInt},     SqlColumn{"memoryKind", kInt}};
inline constexpr std::array kDeviceColumns = {SqlColumn{"_id_", kKey},
                                              SqlColumn{"globalMemoryBandwidth", kInt},
                                              SqlColumn{"globalMemorySize", kInt},
                                              SqlColumn{"numThreadsPerWarp", kInt},
                                              SqlColumn{"numMultiprocessors", kInt},
                                              SqlColumn{"maxRegistersPerBlock", kInt},
                                              SqlColumn{"maxSharedMemoryPerBlock", kInt},
                                              SqlColumn{"maxThreadsPerBlock", kInt},
                                              SqlColumn{"coreClockRate", kInt},
                                              SqlColumn{"computeCapabilityMajor", kInt},
                                              SqlColumn{"computeCapabilityMinor", kInt},
                                              SqlColumn{"id", kInt},
                                              SqlColumn{"name", kInt}};

}  // namespace prof::analyzer::nvprof
