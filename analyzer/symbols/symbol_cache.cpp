#include "analyzer/symbols/symbol_cache.h"

#include "analyzer/base/unfinished_file.h"
#include "analyzer/symbols/debug_lines.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

namespace prof::analyzer {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".names";
constexpr int kRules = 1;  // version of the rules that choose names; other versions use other files

// file:  | CacheHead | identity | addresses | bytes of the answer |
struct CacheHead {
  char magic[8] = {'p', 'r', 'o', 'f', 's', 'y', 'm', '2'};
  uint64_t identity_bytes = 0, addresses = 0, answer_bytes = 0;
  uint64_t crc = 0;  // of everything after the head
};

// Identifies a file and its last change; empty: there is no file.
std::string state_of(const std::string& path) {
  struct stat facts {};
  if (path.empty()) return "-";
  if (stat(path.c_str(), &facts) != 0) return "";
  return fmt::format("{}:{}:{}:{}.{:09}", facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtim.tv_sec,
                     facts.st_mtim.tv_nsec);
}

std::string identity_of(const ModuleFiles& files) {
  const std::string functions = state_of(files.functions), lines = state_of(files.lines);
  if (functions.empty() || lines.empty()) return "";
  return fmt::format("{} {} {} {}", kRules, has_debug_lines() ? "libdw" : "no libdw", functions, lines);
}

uint64_t crc_of(std::string_view bytes) {
  return crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

// Addresses whose names are known, or known not to exist.
struct Names {
  std::vector<uint64_t> addresses;  // sorted, without duplicates
  SymbolAnswer answer{{0}, {}, {}};
};

std::string read_file(const std::string& path, uint64_t most) {
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  if (error || size > most) return "";
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::optional<Names> parse(std::string_view bytes, std::string_view identity, StringTable& strings) {
  CacheHead head;
  if (bytes.size() < sizeof head) return {};
  std::memcpy(&head, bytes.data(), sizeof head);
  bytes.remove_prefix(sizeof head);
  if (std::memcmp(head.magic, CacheHead{}.magic, sizeof head.magic) != 0 || head.crc != crc_of(bytes)) return {};
  if (head.identity_bytes != identity.size() || bytes.substr(0, identity.size()) != identity) return {};
  bytes.remove_prefix(identity.size());
  if (bytes.size() / sizeof(uint64_t) < head.addresses || head.addresses > UINT32_MAX / 2) return {};
  Names names;
  names.addresses.resize(head.addresses);
  const size_t address_bytes = head.addresses * sizeof(uint64_t);
  if (head.addresses != 0) std::memcpy(names.addresses.data(), bytes.data(), address_bytes);
  bytes.remove_prefix(address_bytes);
  const auto count = static_cast<uint32_t>(head.addresses);
  names.answer.first.assign(count + size_t{1}, 0);
  if (bytes.size() != head.answer_bytes || !add_symbol_answer(bytes, 0, count, strings, names.answer)) return {};
  names.answer.first.back() = static_cast<uint32_t>(names.answer.frames.size());
  if (!std::is_sorted(names.addresses.begin(), names.addresses.end())) return {};
  return names;
}

std::string to_bytes(const Names& names, std::string_view identity, const StringTable& strings) {
  SymbolAnswerWriter writer(names.addresses.size());
  for (size_t i = 0; i < names.addresses.size(); ++i) {
    writer.begin(i);
    for (uint32_t f = names.answer.first[i]; f < names.answer.first[i + 1]; ++f) {
      const SymbolFrame& frame = names.answer.frames[f];
      writer.add({writer.text(strings[frame.function]), writer.text(strings[frame.file]), frame.line,
                  frame.inlined ? 1u : 0u, frame.modified_s, frame.file_bytes});
    }
  }
  const std::string answer = writer.bytes();
  std::string body(identity);
  body.append(reinterpret_cast<const char*>(names.addresses.data()), names.addresses.size() * sizeof(uint64_t));
  body += answer;
  CacheHead head;
  head.identity_bytes = identity.size();
  head.addresses = names.addresses.size();
  head.answer_bytes = answer.size();
  head.crc = crc_of(body);
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) + body;
}

// The addresses of both, with their names.
Names merged(const Names& a, const Names& b) {
  Names all;
  all.answer.first.clear();
  const auto take = [&](const Names& from, size_t i) {
    all.addresses.push_back(from.addresses[i]);
    all.answer.first.push_back(static_cast<uint32_t>(all.answer.frames.size()));
    all.answer.frames.insert(all.answer.frames.end(), from.answer.frames.begin() + from.answer.first[i],
                             from.answer.frames.begin() + from.answer.first[i + 1]);
  };
  size_t i = 0, j = 0;
  while (i < a.addresses.size() || j < b.addresses.size()) {
    const bool of_a = j == b.addresses.size() || (i < a.addresses.size() && a.addresses[i] <= b.addresses[j]);
    if (of_a) {
      take(a, i++);
    } else {
      take(b, j++);
    }
  }
  all.answer.first.push_back(static_cast<uint32_t>(all.answer.frames.size()));
  return all;
}

// The answer for addresses that are all in `names`; `addresses` may have duplicates.
SymbolAnswer pick(const Names& names, const std::vector<uint64_t>& addresses) {
  SymbolAnswer answer;
  size_t at = 0;
  for (const uint64_t address : addresses) {
    while (names.addresses[at] < address) ++at;
    answer.first.push_back(static_cast<uint32_t>(answer.frames.size()));
    answer.frames.insert(answer.frames.end(), names.answer.frames.begin() + names.answer.first[at],
                         names.answer.frames.begin() + names.answer.first[at + 1]);
  }
  answer.first.push_back(static_cast<uint32_t>(answer.frames.size()));
  return answer;
}

// Writes all or nothing: two processes may write at the same time.
void write_file(const std::string& path, std::string_view bytes) {
  UnfinishedFile temporary(fmt::format("{}.{}.tmp", path, getpid()));
  std::ofstream file(temporary.path(), std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code error;
  if (file) fs::rename(temporary.path(), path, error);
  if (file && !error) temporary.keep();
}

void remove_oldest(const std::string& folder, uint64_t most_bytes) {
  struct File {
    fs::file_time_type used;
    fs::path path;
    uint64_t bytes;
  };
  std::vector<File> files;
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != kSuffix) continue;
    std::error_code gone;
    File file{fs::last_write_time(at->path(), gone), at->path(), fs::file_size(at->path(), gone)};
    if (gone) continue;
    bytes += file.bytes;
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (size_t i = 0; i < files.size() && bytes > most_bytes; ++i) {
    if (fs::remove(files[i].path, error)) bytes -= files[i].bytes;
  }
}

// The cached state of one module.
struct Entry {
  std::string identity, path;  // empty: not cached
  Names known;
  std::vector<uint64_t> missing;
};

Entry open_entry(const SymbolRequest& request, const std::string& folder, uint64_t most_bytes, StringTable& strings) {
  Entry entry;
  entry.identity = identity_of(request.files);
  if (!entry.identity.empty()) {
    entry.path = fmt::format("{}/{:016x}{}", folder, std::hash<std::string>()(entry.identity), kSuffix);
    if (auto known = parse(read_file(entry.path, most_bytes), entry.identity, strings)) {
      entry.known = std::move(*known);
      std::error_code ignored;
      fs::last_write_time(entry.path, fs::file_time_type::clock::now(), ignored);
    }
  }
  std::vector<uint64_t> wanted = request.addresses;
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::set_difference(wanted.begin(), wanted.end(), entry.known.addresses.begin(), entry.known.addresses.end(),
                      std::back_inserter(entry.missing));
  return entry;
}

}  // namespace

std::vector<SymbolAnswer> find_symbols_cached(const std::vector<SymbolRequest>& requests, StringTable& strings,
                                              const WorkerLimits& limits, const std::string& folder,
                                              const SymbolCacheLimits& cache_limits) {
  if (folder.empty()) return find_symbols(requests, strings, limits);
  std::vector<Entry> entries;
  std::vector<SymbolRequest> asked;
  for (const SymbolRequest& request : requests) {
    entries.push_back(open_entry(request, folder, cache_limits.file_bytes, strings));
    if (!entries.back().missing.empty()) asked.push_back({request.files, entries.back().missing});
  }
  std::vector<SymbolAnswer> found;
  if (!asked.empty()) {
    std::error_code ignored;
    fs::create_directories(folder, ignored);
    fs::permissions(folder, fs::perms::owner_all, ignored);
    found = find_symbols(asked, strings, limits);
  }
  std::vector<SymbolAnswer> answers;
  bool wrote = false;
  for (size_t r = 0, a = 0; r < requests.size(); ++r) {
    Entry& entry = entries[r];
    std::string problem;
    if (!entry.missing.empty()) {
      SymbolAnswer& answer = found[a++];
      problem = std::move(answer.problem);
      entry.known = merged(entry.known, {entry.missing, std::move(answer)});
      if (problem.empty() && !entry.path.empty()) {
        const std::string bytes = to_bytes(entry.known, entry.identity, strings);
        if (bytes.size() <= cache_limits.file_bytes) {
          write_file(entry.path, bytes);
          wrote = true;
        }
      }
    }
    answers.push_back(pick(entry.known, requests[r].addresses));
    answers.back().problem = std::move(problem);
  }
  if (wrote) remove_oldest(folder, cache_limits.folder_bytes);
  return answers;
}

std::string default_symbol_cache() {
  if (const char* const cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return std::string(cache) + "/prof/symbols";
  if (const char* const home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::string(home) + "/.cache/prof/symbols";
  return "";
}

}  // namespace prof::analyzer
