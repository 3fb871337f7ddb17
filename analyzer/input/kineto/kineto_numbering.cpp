#include "analyzer/input/kineto/kineto_numbering.h"

#include "analyzer/input/kineto/kineto_hash.h"

namespace prof::analyzer {

size_t KinetoNumbering::KernelHash::operator()(const KinetoKernel& kernel) const {
  return hash_words(index(kernel.name), {kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0],
                                         kernel.block[1], kernel.block[2], kernel.registers, kernel.shared_bytes});
}

size_t KinetoNumbering::StreamHash::operator()(const KinetoStream& stream) const {
  return hash_words(index(stream.pid), {stream.device, stream.context, stream.number, stream.in_order ? 1u : 0u});
}

void KinetoNumbering::start_stretch() {
  last_pid_ = last_tid_ = {};
  last_pid_text_ = last_tid_text_ = {};
  last_track_ = StretchTrack{kNone};
  last_stream_ = kNoStream;
  track_of_.clear();
  stream_of_.clear();
  kernel_of_.clear();
}

StretchText KinetoNumbering::pid(std::string_view pid) {
  if (pid != last_pid_) {
    last_pid_ = pid;
    last_pid_text_ = text(pid);
  }
  return last_pid_text_;
}

StretchTrack KinetoNumbering::track(std::string_view pid, std::string_view tid) {
  const StretchText pid_text = this->pid(pid);
  if (tid != last_tid_) {
    last_tid_ = tid;
    last_tid_text_ = text(tid);
  }
  const uint64_t key = uint64_t{index(pid_text)} << 32 | index(last_tid_text_);
  if (index(last_track_) != kNone && key == last_track_key_) return last_track_;
  const auto [found, added] = track_of_.try_emplace(key, StretchTrack{row_count(rows_.tracks)});
  if (added) rows_.tracks.push_back({pid_text, last_tid_text_});
  last_track_key_ = key;
  last_track_ = found->second;
  return last_track_;
}

StretchStream KinetoNumbering::stream(const KinetoStream& stream) {
  if (last_stream_ != kNoStream && rows_.streams[index(last_stream_)] == stream) return last_stream_;
  const auto [found, added] = stream_of_.try_emplace(stream, StretchStream{row_count(rows_.streams)});
  if (added) rows_.streams.push_back(stream);
  last_stream_ = found->second;
  return last_stream_;
}

StretchKernel KinetoNumbering::kernel(const KinetoKernel& kernel) {
  const auto [found, added] = kernel_of_.try_emplace(kernel, StretchKernel{row_count(rows_.kernels)});
  if (added) rows_.kernels.push_back(kernel);
  return found->second;
}

}  // namespace prof::analyzer
