// Offline. The contents of the cubins that the recorder kept in a file beside a log (preload/format/kept_cubins.h),
// looked up by checksum. The file may be missing, cut or damaged: every offset is checked, and the answer is a reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

namespace prof::analyzer {

class KeptCubins {
 public:
  // `log`: path of the log. A file that cannot be used has no cubins, and find() has the reason.
  explicit KeptCubins(const std::string& log);
  // The bytes of a whole file, which must outlive the object. For tests and fuzzing.
  KeptCubins(std::string name, std::span<const uint8_t> bytes);
  ~KeptCubins();
  KeptCubins(const KeptCubins&) = delete;
  KeptCubins& operator=(const KeptCubins&) = delete;

  // The contents; valid as long as this object. Empty: none, and `why` has the reason. `bytes`: their size as the log
  // has it; other contents are refused. 0: not known.
  std::span<const uint8_t> find(uint64_t crc, uint64_t bytes, std::string& why) const;
  size_t size() const { return found_.size(); }

 private:
  void read();

  std::string name_;  // of the file, in reasons
  std::string problem_;
  std::span<const uint8_t> bytes_;
  void* mapped_ = nullptr;
  std::unordered_map<uint64_t, std::span<const uint8_t>> found_;  // by checksum; empty: outside the file
};

}  // namespace prof::analyzer
