// Runs a recording in a child process, because a recorder's state is one per process. Reads the resulting log with
// nothing but the format's own decoder. Used by the tests of preload/log and preload/runtime.
#pragma once

#include "preload/base/options.h"
#include "preload/format/codec.h"
#include "preload/format/crc.h"
#include "preload/format/loss_counters.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/record/append.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace prof::test {

namespace fs = std::filesystem;

class TempFolder {
 public:
  TempFolder() {
    std::string name = (fs::temp_directory_path() / "prof-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::vector<std::string> logs() const {
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path_)) {
      if (entry.path().extension() == ".plog") found.push_back(entry.path().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  std::string path_;
};

// Of options.def: the recorder copies its variables once per process, and tests need other ones.
inline constexpr preload::Options kDefaultOptions;

// The child's wait status. Options are "NAME=value"; PROF_OUTPUT is `folder` unless given.
inline int run_child(const std::string& folder, const std::vector<std::string>& options,
                     const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("PROF_OUTPUT", folder.c_str(), 1);
    setenv("PROF_GPU", "off", 1);
    for (const std::string& option : options) {
      const size_t equal = option.find('=');
      setenv(option.substr(0, equal).c_str(), option.substr(equal + 1).c_str(), 1);
    }
    preload::read_options(environ, kDefaultOptions);
    body();
    exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// Makes one recorded call, as a hook does. Returns true if it was committed to the log.
__attribute__((noinline)) inline bool record_call(uint64_t object) {
  preload::CallScope scope(format::ApiId{7}, PROF_HOOK_FRAME());
  if (!scope.recording()) return false;
  scope.end();
  format::ApiCall call;
  call.end = scope.end_tick();
  call.duration = scope.duration();
  call.api = format::ApiId{7};
  call.object = object;
  const bool ok = preload::emit(call);
  scope.leave();
  return ok;
}

struct ScannedLog {
  std::string damage;  // the first incomplete item
  bool whole = false;  // every block decodes up to its commit, and sealed blocks have correct checksums
  uint64_t size = 0;
  uint64_t finished = 0;
  format::RingWords ring{};
  std::map<uint32_t, uint64_t> records;  // kind → count
  std::vector<uint64_t> objects;         // of ApiCall records, in file order
  std::vector<uint64_t>
      by_chance;  // the same, in blocks that were sealed before a ring's horizon: the next one may be missing
  std::map<uint32_t, uint64_t> threads;   // ordinal → blocks
  std::vector<std::string> strings;       // as they were defined
  std::map<uint32_t, std::string> names;  // ordinal → of the thread
  std::map<std::string, uint64_t> counters;
  format::FileHeader header{};
  std::map<uint32_t, uint32_t> in_call;  // ordinal → api of its last event block
};

inline ScannedLog scan(const std::string& path) {
  using namespace format;
  ScannedLog log;
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  log.size = bytes.size();
  if (bytes.size() < kBlocksOffset) return log;
  std::memcpy(&log.header, bytes.data(), sizeof log.header);
  CounterPage page;
  std::memcpy(&page, bytes.data() + kCounterPageOffset, sizeof page);
  log.finished = page.finished;
  log.ring = page.ring;
  for (size_t i = 0; i < kCounterCount; ++i) log.counters[std::string(kCounters[i].name)] = page.counter[i];
  log.whole = log.header.magic == kFileMagic;
  for (size_t at = kBlocksOffset; at + kBlockBytes <= bytes.size(); at += kBlockBytes) {
    Block block;
    std::memcpy(&block, bytes.data() + at, sizeof block);
    if (block.header.magic == 0 || (page.ring.bytes != 0 && block.header.magic == kBlockGoneMagic)) continue;
    uint32_t crc[4];
    block_crc(block, crc);
    // A kill between the flag and the checksums leaves zeros. The reader treats such a block as not sealed, and so does
    // this code.
    const auto& stored = block.header.crc;
    const bool sealed =
        (block.header.flags & kBlockSealed) != 0 && (stored[0] | stored[1] | stored[2] | stored[3]) != 0;
    if (block.header.magic != kBlockMagic || block.header.committed > kPayloadBytes ||
        (sealed && std::memcmp(crc, block.header.crc, sizeof crc) != 0)) {
      log.whole = false;
      log.damage = "block at " + std::to_string(at) + ": magic " + std::to_string(block.header.magic) + " committed " +
                   std::to_string(block.header.committed) + (sealed ? " sealed" : "") + " checksums";
      for (int lane = 0; lane < 4; ++lane)
        log.damage += crc[lane] == stored[lane] ? " right" : stored[lane] == 0 ? " zero" : " wrong";
      continue;
    }
    ++log.threads[block.header.thread];
    if (block.header.kind == BlockKind::Events) log.in_call[block.header.thread] = block.header.in_call_api;
    const bool old = sealed && log.ring.blocks != 0 && block.header.in_call_tick <= log.ring.horizon_tick;
    Cursor from{block.payload, block.payload + block.header.committed};
    CodecState state;
    state.tick = block.header.base_tick;
    CallPair scratch[kMaxCallPairs];
    while (from.ok && !from.at_end()) {
      const uint64_t tag = from.varint();
      bool known = false;
      AllKinds::for_each([&]<class T>() {
        if (known || T::kKind != tag >> 3) return;
        known = true;
        T record;
        if (!decode_fields(from, state, scratch, tag & 7, record)) return;
        ++log.records[T::kKind];
        if constexpr (std::is_same_v<T, ApiCall>) (old ? log.by_chance : log.objects).push_back(record.object);
        if constexpr (std::is_same_v<T, StringPart>) log.strings.emplace_back(record.text);
        if constexpr (std::is_same_v<T, ThreadDef>) log.names[block.header.thread] = record.name;
      });
      if (!known) from.fail();
    }
    if (!from.ok) log.whole = false, log.damage = "block at " + std::to_string(at) + " does not decode to its end";
  }
  return log;
}

// The only log of a folder; checks that there is exactly one.
inline std::string only_log(const TempFolder& folder) {
  const std::vector<std::string> logs = folder.logs();
  EXPECT_EQ(logs.size(), 1u);
  return logs.empty() ? std::string() : logs.front();
}

// Memory that a child writes and the parent reads.
template <class T> T* shared_value() {
  void* const memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return new (memory) T{};
}

}  // namespace prof::test
