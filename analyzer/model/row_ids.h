// Typed row numbers of Trace's tables. An id is an index into the table of its kind; processes never share rows.
#pragma once

#include <cstdint>

namespace prof::analyzer {

enum class ProcessId : uint32_t {};
enum class ThreadId : uint32_t {};
enum class DeviceId : uint32_t {};      // one device as one process sees it
enum class StreamId : uint32_t {};      // one (process, device, context, stream)
enum class HostStreamId : uint32_t {};  // one stream handle as the host used it; 0: none
enum class KernelId : uint32_t {};      // name and launch shape of kernels; 0: unknown
enum class GraphId : uint32_t {};       // executable graph; 0: unknown
enum class LabelId : uint32_t {};       // domain, text, colour and category of a range or mark
enum class PathId : uint32_t {};        // a chain of open ranges; 0: in no range

template <class Id> constexpr uint32_t index(Id id) { return static_cast<uint32_t>(id); }
inline constexpr uint32_t kNone = UINT32_MAX;

// Rows [first, last) of a table.
struct Rows {
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t size() const { return last - first; }
};

}  // namespace prof::analyzer
