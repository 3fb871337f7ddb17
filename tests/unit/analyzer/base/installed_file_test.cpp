// The files of an installation are found from the place of the program.
#include "analyzer/base/installed_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace prof::analyzer {
namespace {

namespace fs = std::filesystem;

class InstalledFiles : public testing::Test {
 protected:
  InstalledFiles() {
    std::string name = (fs::temp_directory_path() / "installed.XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~InstalledFiles() override { fs::remove_all(root_); }

  void make(const std::string& path) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << "x";
  }
  // The path that is found for a program in bin/, below the root.
  std::string found(const std::string& name) const {
    const InstalledFile file = find_installed(name, root_ / "bin/prof");
    return file.path.empty() ? "" : fs::path(file.path).lexically_relative(root_).string();
  }

 private:
  fs::path root_;
};

TEST_F(InstalledFiles, AreFoundInTheFoldersOfEveryDistribution) {
  EXPECT_EQ(found("libprof.so"), "");
  for (const char* const folder : {"lib64", "lib", "bin"}) {  // each comes before those that exist already
    make(std::string(folder) + "/libprof.so");
    EXPECT_EQ(found("libprof.so"), std::string(folder) + "/libprof.so");
  }
}

TEST_F(InstalledFiles, AreFoundInTheFolderOfTheArchitecture) {
  const std::string name = "prof/parquet/libprof_parquet.so";
  const std::string last = find_installed(name, "/usr/bin/prof").looked.back();
  ASSERT_TRUE(last.starts_with("/usr/lib/") && last.ends_with("-linux-gnu/" + name)) << last;
  make(last.substr(5));
  EXPECT_EQ(found(name), last.substr(5));
}

TEST_F(InstalledFiles, ListThePlacesOnceIfTheyDoNotExist) {
  const InstalledFile file = find_installed("libprof.so", "/opt/prof/bin/prof");
  EXPECT_TRUE(file.path.empty());
  ASSERT_GE(file.looked.size(), 4U);
  EXPECT_EQ(file.looked.front(), "/opt/prof/bin/libprof.so");
  EXPECT_EQ(file.looked[1], "/opt/prof/lib/libprof.so");
  EXPECT_EQ(std::count(file.looked.begin(), file.looked.end(), "/opt/prof/lib/libprof.so"), 1);
}

}  // namespace
}  // namespace prof::analyzer
