// Small databases for tests of the SQLite importers: a file in the temporary folder that is removed at the end.
#pragma once

#include "analyzer/input/importer.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace prof::tests {

using namespace analyzer;

class Database {
 public:
  explicit Database(const std::string& sql) : Database() { execute(sql); }
  Database() {
    char name[] = "/tmp/prof_test_XXXXXX";
    close(mkstemp(name));
    path_ = name;
  }
  ~Database() { std::filesystem::remove(path_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }

  void execute(const std::string& sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message);
    EXPECT_EQ(message, nullptr) << message << " in " << sql;
    sqlite3_free(message);
    sqlite3_close(database);
  }

  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void set_bytes(const std::string& bytes) const {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  std::unique_ptr<Trace> read() const { return read_trace(std::vector<std::string>{path_}, {}); }

 private:
  std::string path_;
};

// A file of the shared traces; empty if there are none, and then the test is skipped.
inline std::string shared_file(const std::string& name) {
  const char* const folder = std::getenv("PROF_SHARED_DATA");
  const std::string path =
      (folder != nullptr ? folder : std::string(PROF_SOURCE_DIR) + "/../shared/data") + ("/" + name);
  return std::filesystem::exists(path) ? path : "";
}

}  // namespace prof::tests
