// Real traces of other tools with known answers, stored next to the project and not in it: <project>/../shared/data, or
// the folder in PROF_SHARED_DATA. If the folder is missing, tests that need it are skipped and report it.
#pragma once

#include "analyzer/input/log/build/builder.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace prof::tests {

inline std::filesystem::path shared_data() {
  if (const char* const given = std::getenv("PROF_SHARED_DATA")) return given;
  return std::filesystem::path(PROF_SOURCE_DIR) / ".." / "shared" / "data";
}
#define PROF_NEEDS_SHARED_DATA()                            \
  if (!std::filesystem::exists(prof::tests::shared_data())) \
  GTEST_SKIP() << "no real traces at " << prof::tests::shared_data()

// Every trace of torch.profiler and similar tools, by name; none if the folder is missing.
inline std::vector<std::filesystem::path> recorded_traces() {
  std::vector<std::filesystem::path> traces;
  for (const char* folder : {"h200", "hta", "h100", "pytorch"}) {
    if (!std::filesystem::is_directory(shared_data() / folder)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(shared_data() / folder)) {
      const std::string name = entry.path().filename().string();
      const bool text = name.ends_with(".json") || name.ends_with(".json.gz");
      if (text && name.find("expected") == std::string::npos) traces.push_back(entry.path());
    }
  }
  std::sort(traces.begin(), traces.end());
  return traces;
}

struct AnsweredTrace {
  std::filesystem::path trace;
  std::string name;  // of the file with the answers
  rapidjson::Document answers;
};

inline std::string single_underscores(std::string text) {
  for (size_t at = text.find("__"); at != std::string::npos; at = text.find("__", at)) text.erase(at, 1);
  return text;
}

// The answers in exact/, each with its trace, sorted by name. The numbers in the names of an answer file and of its
// trace are the same; the former starts with the folder's name and "__".
inline std::vector<AnsweredTrace> answered_traces() {
  std::vector<AnsweredTrace> found;
  for (const char* folder : {"h100", "h200", "hta"}) {
    for (const auto& entry : std::filesystem::directory_iterator(shared_data() / folder)) {
      std::string name = entry.path().filename().string();
      if (name.ends_with(".gz")) name.resize(name.size() - 3);
      const std::string wanted = single_underscores(std::string(folder) + "_" + name);
      for (const auto& exact : std::filesystem::directory_iterator(shared_data() / "exact")) {
        if (!single_underscores(exact.path().filename().string()).ends_with(wanted)) continue;
        std::ifstream in(exact.path());
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        AnsweredTrace& each = found.emplace_back();
        each.trace = entry.path();
        each.name = exact.path().filename().string();
        each.answers.Parse(text.c_str());
        EXPECT_FALSE(each.answers.HasParseError()) << exact.path();
      }
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return found;
}

}  // namespace prof::tests
