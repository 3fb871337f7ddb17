// Which tables and columns does an SQLite export of Nsight Systems have? Those of schema 3.25 (nsys 2026.2) that prof
// fills or that readers query.
#pragma once

#include "analyzer/output/sqlite/database_file.h"

#include <array>

namespace prof::analyzer::nsys {

inline constexpr std::string_view kInteger = "INTEGER", kText = "TEXT", kReal = "REAL";
inline constexpr std::string_view kIntegerSet = "INTEGER NOT NULL", kTextSet = "TEXT NOT NULL";

inline constexpr std::array kStringColumns = {SqlColumn{"id", "INTEGER NOT NULL PRIMARY KEY"},
                                              SqlColumn{"value", kTextSet}};
inline constexpr std::array kPairColumns = {SqlColumn{"name", kTextSet}, SqlColumn{"value", kText}};
inline constexpr std::array kEnumColumns = {SqlColumn{"id", "INTEGER NOT NULL PRIMARY KEY"}, SqlColumn{"name", kText},
                                            SqlColumn{"label", kText}};
inline constexpr std::array kDetailColumns = {SqlColumn{"globalVid", kIntegerSet}, SqlColumn{"duration", kIntegerSet},
                                              SqlColumn{"startTime", kIntegerSet}, SqlColumn{"stopTime", kIntegerSet}};
inline constexpr std::array kSessionColumns = {SqlColumn{"utcEpochNs", kInteger}, SqlColumn{"utcTime", kText},
                                               SqlColumn{"localTime", kText}, SqlColumn{"systemClockNs", kInteger}};
inline constexpr std::array kEnvironmentColumns = {SqlColumn{"globalVid", kInteger},
                                                   SqlColumn{"devStateName", kTextSet}, SqlColumn{"name", kTextSet},
                                                   SqlColumn{"nameEnum", kIntegerSet}, SqlColumn{"value", kTextSet}};
inline constexpr std::array kProcessColumns = {SqlColumn{"globalPid", kInteger}, SqlColumn{"pid", kInteger},
                                               SqlColumn{"name", kText}};
inline constexpr std::array kThreadColumns = {SqlColumn{"nameId", kIntegerSet}, SqlColumn{"priority", kInteger},
                                              SqlColumn{"globalTid", kInteger}};
inline constexpr std::array kGpuColumns = {
    SqlColumn{"id", kIntegerSet},
    SqlColumn{"name", kText},
    SqlColumn{"uuid", kText},
    SqlColumn{"cuDevice", kInteger},
    SqlColumn{"maxWarpsPerSm", kInteger},
    SqlColumn{"busLocation", kText},
    SqlColumn{"chipName", kText},
#define PROF_NSYS_GPU(column, name) SqlColumn{column, kInteger},
#include "analyzer/input/sqlite/nsys_gpu_columns.def"
#undef PROF_NSYS_GPU
};
inline constexpr std::array kCudaDeviceColumns = {SqlColumn{"gpuId", kInteger}, SqlColumn{"cudaId", kIntegerSet},
                                                  SqlColumn{"pid", kIntegerSet}, SqlColumn{"uuid", kText},
                                                  SqlColumn{"numMultiprocessors", kInteger}};
inline constexpr std::array kStreamColumns = {SqlColumn{"streamId", kIntegerSet},  SqlColumn{"hwId", kIntegerSet},
                                              SqlColumn{"vmId", kIntegerSet},      SqlColumn{"processId", kIntegerSet},
                                              SqlColumn{"contextId", kIntegerSet}, SqlColumn{"priority", kIntegerSet},
                                              SqlColumn{"flag", kIntegerSet}};
inline constexpr std::array kContextColumns = {
    SqlColumn{"nullStreamId", kInteger},    SqlColumn{"hwId", kIntegerSet},       SqlColumn{"vmId", kIntegerSet},
    SqlColumn{"processId", kIntegerSet},    SqlColumn{"deviceId", kIntegerSet},   SqlColumn{"contextId", kIntegerSet},
    SqlColumn{"parentContextId", kInteger}, SqlColumn{"isGreenContext", kInteger}};

// The columns of every table of GPU operations.
#define PROF_NSYS_OPERATION                                                                                           \
  SqlColumn{"start", kIntegerSet}, SqlColumn{"end", kIntegerSet}, SqlColumn{"deviceId", kIntegerSet},                 \
      SqlColumn{"contextId", kIntegerSet}, SqlColumn{"greenContextId", kInteger}, SqlColumn{"streamId", kIntegerSet}, \
      SqlColumn{"correlationId", kInteger}, SqlColumn {                                                               \
    "globalPid", kInteger                                                                                             \
  }
inline constexpr std::array kKernelColumns = {PROF_NSYS_OPERATION,
                                              SqlColumn{"demangledName", kIntegerSet},
                                              SqlColumn{"shortName", kIntegerSet},
                                              SqlColumn{"mangledName", kInteger},
                                              SqlColumn{"launchType", kInteger},
                                              SqlColumn{"cacheConfig", kInteger},
                                              SqlColumn{"registersPerThread", kIntegerSet},
                                              SqlColumn{"gridX", kIntegerSet},
                                              SqlColumn{"gridY", kIntegerSet},
                                              SqlColumn{"gridZ", kIntegerSet},
                                              SqlColumn{"blockX", kIntegerSet},
                                              SqlColumn{"blockY", kIntegerSet},
                                              SqlColumn{"blockZ", kIntegerSet},
                                              SqlColumn{"staticSharedMemory", kIntegerSet},
                                              SqlColumn{"dynamicSharedMemory", kIntegerSet},
                                              SqlColumn{"localMemoryPerThread", kIntegerSet},
                                              SqlColumn{"localMemoryTotal", kInteger},
                                              SqlColumn{"gridId", kInteger},
                                              SqlColumn{"sharedMemoryExecuted", kInteger},
                                              SqlColumn{"graphNodeId", kInteger},
                                              SqlColumn{"graphId", kInteger},
                                              SqlColumn{"clusterX", kInteger},
                                              SqlColumn{"clusterY", kInteger},
                                              SqlColumn{"clusterZ", kInteger}};
inline constexpr std::array kCopyColumns = {PROF_NSYS_OPERATION,
                                            SqlColumn{"bytes", kIntegerSet},
                                            SqlColumn{"copyKind", kIntegerSet},
                                            SqlColumn{"deprecatedSrcId", kInteger},
                                            SqlColumn{"srcKind", kInteger},
                                            SqlColumn{"dstKind", kInteger},
                                            SqlColumn{"srcDeviceId", kInteger},
                                            SqlColumn{"srcContextId", kInteger},
                                            SqlColumn{"dstDeviceId", kInteger},
                                            SqlColumn{"dstContextId", kInteger},
                                            SqlColumn{"migrationCause", kInteger},
                                            SqlColumn{"graphNodeId", kInteger},
                                            SqlColumn{"virtualAddress", kInteger},
                                            SqlColumn{"copyCount", kInteger}};
inline constexpr std::array kFillColumns = {PROF_NSYS_OPERATION, SqlColumn{"value", kInteger},
                                            SqlColumn{"bytes", kIntegerSet}, SqlColumn{"graphNodeId", kInteger},
                                            SqlColumn{"memKind", kInteger}};
inline constexpr std::array kGraphColumns = {PROF_NSYS_OPERATION, SqlColumn{"graphId", kIntegerSet},
                                             SqlColumn{"graphExecId", kInteger}};
inline constexpr std::array kSyncColumns = {PROF_NSYS_OPERATION, SqlColumn{"deprecatedSyncType", kInteger},
                                            SqlColumn{"syncType", kIntegerSet}, SqlColumn{"eventId", kIntegerSet},
                                            SqlColumn{"eventSyncId", kInteger}};
#undef PROF_NSYS_OPERATION
inline constexpr std::array kEventColumns = {
    SqlColumn{"timestamp", kInteger},      SqlColumn{"deviceId", kIntegerSet}, SqlColumn{"contextId", kIntegerSet},
    SqlColumn{"greenContextId", kInteger}, SqlColumn{"streamId", kIntegerSet}, SqlColumn{"correlationId", kInteger},
    SqlColumn{"globalPid", kInteger},      SqlColumn{"eventId", kIntegerSet},  SqlColumn{"eventSyncId", kInteger}};
inline constexpr std::array kCallColumns = {SqlColumn{"start", kIntegerSet},       SqlColumn{"end", kIntegerSet},
                                            SqlColumn{"eventClass", kIntegerSet},  SqlColumn{"globalTid", kInteger},
                                            SqlColumn{"correlationId", kInteger},  SqlColumn{"nameId", kIntegerSet},
                                            SqlColumn{"returnValue", kIntegerSet}, SqlColumn{"callchainId", kInteger}};
inline constexpr std::array kOverheadColumns = {SqlColumn{"start", kIntegerSet}, SqlColumn{"end", kIntegerSet},
                                                SqlColumn{"globalTid", kInteger}, SqlColumn{"nameId", kIntegerSet},
                                                SqlColumn{"overheadType", kIntegerSet}};
inline constexpr std::array kRangeColumns = {
    SqlColumn{"start", kIntegerSet},   SqlColumn{"end", kInteger},       SqlColumn{"eventType", kIntegerSet},
    SqlColumn{"rangeId", kInteger},    SqlColumn{"category", kInteger},  SqlColumn{"color", kInteger},
    SqlColumn{"text", kText},          SqlColumn{"globalTid", kInteger}, SqlColumn{"endGlobalTid", kInteger},
    SqlColumn{"textId", kInteger},     SqlColumn{"domainId", kInteger},  SqlColumn{"uint64Value", kInteger},
    SqlColumn{"int64Value", kInteger}, SqlColumn{"doubleValue", kReal},  SqlColumn{"uint32Value", kInteger},
    SqlColumn{"int32Value", kInteger}, SqlColumn{"floatValue", kReal},   SqlColumn{"jsonTextId", kInteger},
    SqlColumn{"jsonText", kText},      SqlColumn{"binaryData", kText}};
inline constexpr std::array kDiagnosticColumns = {
    SqlColumn{"timestamp", kIntegerSet}, SqlColumn{"timestampType", kIntegerSet},
    SqlColumn{"source", kIntegerSet},    SqlColumn{"severity", kIntegerSet},
    SqlColumn{"text", kTextSet},         SqlColumn{"globalPid", kInteger}};

}  // namespace prof::analyzer::nsys
