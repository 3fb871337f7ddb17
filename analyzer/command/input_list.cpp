#include "analyzer/command/input_list.h"

#include "analyzer/base/file_head.h"
#include "analyzer/base/input_error.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/input/importer.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace fs = std::filesystem;

namespace prof::analyzer {

namespace {

constexpr std::string_view kLogName = ".plog";

bool is_input(const fs::path& path) {
  if (path.extension() == kLogName) return true;  // also a damaged one: the reader reports what is wrong
  return find_importer(read_head(path.string())) != nullptr;
}

void add_list(const std::string& path, std::vector<std::string>& files) {
  std::ifstream list(path);
  if (!list.is_open()) throw InputError(path + ": a list of files, which cannot be read");
  std::vector<std::string> arguments;
  for (std::string line; std::getline(list, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty() && line.front() == '@') throw InputError(fmt::format("{}: a list in a list: {}", path, line));
    if (!line.empty()) arguments.push_back(line);
  }
  if (arguments.empty()) throw InputError(path + ": a list without files; it has one file a line");
  const std::vector<std::string> listed = input_files(arguments);
  files.insert(files.end(), listed.begin(), listed.end());
}

void add_matches(const std::string& pattern, std::vector<std::string>& files) {
  if (("/" + pattern + "/").find("/**/") != std::string::npos)
    throw InputError(pattern + ": ** is no pattern; give the folder: it is read with all folders in it");
  glob_t found{};
  const int status = glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> matches;
  for (size_t i = 0; i < found.gl_pathc; ++i) matches.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  if (status != 0 || matches.empty()) throw InputError(pattern + ": no file has such a name");
  for (const std::string& match : matches) {
    if (!fs::is_directory(match)) {
      files.push_back(match);
      continue;
    }
    const std::vector<std::string> inside = files_in_folder(match);
    files.insert(files.end(), inside.begin(), inside.end());
  }
}

}  // namespace

std::vector<std::string> files_in_folder(const std::string& folder) {
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  std::vector<std::string> files;
  size_t others = 0;
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    if (!entry->is_regular_file(gone)) continue;
    if (is_input(entry->path())) {
      files.push_back(entry->path().string());
    } else {
      ++others;
    }
  }
  if (error) throw InputError(folder + ": the folder cannot be read: " + error.message());
  if (files.empty()) throw InputError(folder + ": a folder without logs (*.plog) and traces");
  if (others != 0)
    std::fprintf(stderr, "prof: %s: not read, because it is no log or trace: %zu %s\n", readable_lines(folder).c_str(),
                 others, others == 1 ? "file" : "files");
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> input_files(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  for (const std::string& argument : arguments) {
    std::error_code error;
    const fs::file_status status = fs::status(argument, error);
    if (fs::is_directory(status)) {
      const std::vector<std::string> inside = files_in_folder(argument);
      files.insert(files.end(), inside.begin(), inside.end());
    } else if (fs::exists(status)) {
      files.push_back(argument);
    } else if (argument.size() > 1 && argument.front() == '@') {
      add_list(argument.substr(1), files);
    } else if (argument.find_first_of("*?[") != std::string::npos) {
      add_matches(argument, files);
    } else {
      files.push_back(argument);
    }
  }
  return files;
}

}  // namespace prof::analyzer
