// The text of a source line is shown only if the file is the one that was compiled, as far as that is known.
#include "analyzer/symbols/source_text.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace prof::analyzer {
namespace {

class SourceTextTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "source_XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/kernel.py";
    std::ofstream(path_) << "def kernel():\n\n    return 1  \r\nlast";
    const timespec times[2] = {{1000, 0}, {1000, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_, path_;
  SourceText texts_;
};

TEST_F(SourceTextTest, ALineIsShownWithoutItsIndent) {
  EXPECT_EQ(texts_.line(path_, 1).text, "def kernel():");
  EXPECT_EQ(texts_.line(path_, 2).text, "");
  EXPECT_EQ(texts_.line(path_, 2).problem, "");
  EXPECT_EQ(texts_.line(path_, 3).text, "return 1");
  EXPECT_EQ(texts_.line(path_, 4).text, "last");
  EXPECT_EQ(texts_.line(path_, 1, {1000, 35, 2000}).text, "def kernel():");
}

TEST_F(SourceTextTest, AChangedFileIsNotShown) {
  EXPECT_EQ(texts_.line(path_, 1, {0, 30, 0}).problem, path_ + ": changed after it was compiled: 35 bytes, 30 then");
  EXPECT_EQ(texts_.line(path_, 1, {999, 0, 0}).problem, path_ + ": changed after it was compiled");
  EXPECT_EQ(texts_.line(path_, 1, {0, 0, 999}).problem, path_ + ": changed after the recording");
  EXPECT_EQ(texts_.line(path_, 1, {0, 0, 999}).text, "");
}

TEST_F(SourceTextTest, ALineOrFileThatIsNotThereHasAReason) {
  EXPECT_EQ(texts_.line(path_, 5).problem, path_ + ": no line 5: it has 4");
  EXPECT_EQ(texts_.line(path_, 0).problem, path_ + ": no line 0: it has 4");
  EXPECT_EQ(texts_.line(folder_ + "/none", 1).problem, folder_ + "/none: No such file or directory");
  EXPECT_EQ(texts_.line(folder_, 1).problem, folder_ + ": no regular file");
  EXPECT_EQ(texts_.line("/dev/zero", 1).problem, "/dev/zero: no regular file");
}

}  // namespace
}  // namespace prof::analyzer
