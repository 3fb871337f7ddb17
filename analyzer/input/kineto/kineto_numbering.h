// Numbers for the texts, tracks, streams and kernels of one stretch.
#pragma once

#include "analyzer/input/kineto/kineto_rows.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace prof::analyzer {

// KinetoNumbering gives every distinct text, track, stream and kernel of a stretch its number, in order of appearance,
// and puts it into the table of KinetoRows. Neighbouring events mostly have the same process, thread and stream, so the
// last ones are compared before a table is searched. Texts must live as long as the rows.
class KinetoNumbering {
 public:
  explicit KinetoNumbering(KinetoRows& rows) : rows_(rows) {}
  // Forgets all numbers; the rows are cleared by their owner.
  void start_stretch();

  StretchText text(std::string_view text) { return StretchText{rows_.texts.add(text)}; }
  // Keeps a copy of the text.
  StretchText made_text(std::string_view text) { return this->text(rows_.made.keep(text)); }
  StretchText pid(std::string_view pid);
  StretchTrack track(std::string_view pid, std::string_view tid);
  StretchStream stream(const KinetoStream& stream);
  StretchKernel kernel(const KinetoKernel& kernel);

 private:
  struct KernelHash {
    size_t operator()(const KinetoKernel& kernel) const;
  };
  struct StreamHash {
    size_t operator()(const KinetoStream& stream) const;
  };

  KinetoRows& rows_;
  std::string_view last_pid_, last_tid_;
  StretchText last_pid_text_{}, last_tid_text_{};
  uint64_t last_track_key_ = 0;
  StretchTrack last_track_{kNone};
  StretchStream last_stream_ = kNoStream;
  std::unordered_map<uint64_t, StretchTrack> track_of_;  // (pid, tid)
  std::unordered_map<KinetoStream, StretchStream, StreamHash> stream_of_;
  std::unordered_map<KinetoKernel, StretchKernel, KernelHash> kernel_of_;
};

}  // namespace prof::analyzer
