// Which work of the host left devices idle, and how long would the run be without it? Sums the pieces of gaps for which
// the host took the time (analysis/idle/gap_division.h) by window, device, cause and name. Used by advise and what-if.
#pragma once

#include "analyzer/analysis/critical/run_graph.h"
#include "analyzer/analysis/idle/host_code_times.h"
#include "analyzer/analysis/idle/piece_names.h"

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// The pieces of a device's gaps with one cause and one name, in one window.
struct HostPieces {
  struct BeforeCall {
    uint32_t call = 0;
    Interval time;
  };
  DeviceId device{};
  GapCharge charge{};
  uint64_t name = 0;  // key of PieceNames
  uint64_t gaps = 0;
  int64_t time_ns = 0;
  Interval longest{};                        // the longest piece
  uint32_t launch = kNone;                   // row of Trace::host: the launch that ended the gap of the longest piece
  StackId code{};                            // of the longest piece; with host samples, of the most samples
  std::optional<HostCode> sampled;           // what most host samples show; empty: no samples
  std::vector<uint32_t> calls;               // rows of Trace::host: calls that are pieces
  std::vector<BeforeCall> before;            // pieces outside calls, with the call that followed
  std::map<std::string, int64_t> functions;  // time by the most informative frame; empty: the input has no stacks
};

// The idle time of the selected devices in one window.
struct WindowIdle {
  std::map<std::tuple<uint32_t, size_t, uint64_t>, HostPieces> host;  // by device, number of the charge, name
  struct Sum {
    int64_t idle_ns = 0;
    int64_t between_ns = 0;  // in gaps that an operation ended
  };
  std::map<uint32_t, Sum> sums;  // by device
  Sum of_device(DeviceId device) const {
    const auto found = sums.find(index(device));
    return found == sums.end() ? Sum{} : found->second;
  }
};

class HostIdle {
 public:
  // The windows must outlive this object. `with_code`: whether the code of pieces is wanted.
  HostIdle(const AnalysisInput& input, const std::vector<Window>& windows, bool with_code);

  // `window` is one of those given to the constructor.
  const WindowIdle& of(const Window& window) const { return idle_[static_cast<size_t>(&window - windows_.data())]; }
  std::string name_of(const HostPieces& pieces) const { return names_.text(pieces.name); }

 private:
  const std::vector<Window>& windows_;
  PieceNames names_;
  std::vector<WindowIdle> idle_;  // by window
};

// These pieces take no time: calls lose their own time, and the time before a call loses the pieces in it. Pieces of
// gaps of several devices may be the same time of a thread, which counts once.
Scenario without_pieces(const std::vector<const HostPieces*>& pieces);

}  // namespace prof::analyzer
