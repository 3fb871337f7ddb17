// Which files of prof are not complete yet? They are deleted when the command fails, and when SIGINT, SIGTERM, SIGHUP
// or SIGQUIT ends it. Whoever creates a file that only makes sense when it is complete holds an UnfinishedFile until
// then.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace prof::analyzer {

class UnfinishedFile {
 public:
  UnfinishedFile() = default;
  // Call it before the file is created: a signal in between would leave the file.
  explicit UnfinishedFile(std::string path);
  ~UnfinishedFile() { remove(); }
  UnfinishedFile(UnfinishedFile&& other) noexcept { *this = std::move(other); }
  UnfinishedFile& operator=(UnfinishedFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(slot_, other.slot_);
    return *this;
  }

  const std::string& path() const { return path_; }
  bool empty() const { return path_.empty(); }
  void keep();    // the file is complete, or has another name now
  void remove();  // deletes the file

 private:
  static constexpr size_t kNoSlot = static_cast<size_t>(-1);
  std::string path_;
  size_t slot_ = kNoSlot;
};

}  // namespace prof::analyzer
