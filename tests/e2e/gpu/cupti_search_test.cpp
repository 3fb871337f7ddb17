// Which libcupti a process uses if there are several: copies of the simulated one are in all places of the search and
// are removed one after another. The log contains which one was used and why.
#include "tests/e2e/gpu/ended.h"

namespace prof::test {
namespace {

class CuptiSearch : public testing::Test {
 protected:
  CuptiSearch() {
    std::string name = (fs::temp_directory_path() / "prof-search-XXXXXX").string();
    tree_ = mkdtemp(name.data());
  }
  ~CuptiSearch() override {
    std::error_code ignored;
    fs::remove_all(tree_, ignored);
  }

  // A copy, because the loader knows a library by its inode. Returns its path.
  std::string put(const std::string& where, const std::string& what = "libcupti.so.13") {
    const fs::path to = tree_ / where;
    fs::create_directories(to.parent_path());
    fs::copy_file(kBuild + "/sim/" + what, to);
    return to.string();
  }
  // Loads the library before the search starts.
  void load(const std::string& library) { preload_ += ":" + library; }

  void expect_found(const std::string& path, const std::string& how) {
    Lines settings = settings_;
    settings.push_back("LD_PRELOAD=" + preload_);
    const Ended run({"work", "10"}, settings);
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.meta("cupti_found"), how);
    EXPECT_EQ(fs::weakly_canonical(run.meta("cupti_path")), fs::weakly_canonical(path));
    EXPECT_EQ(run.lines("kernel_run").size(), 20u);
  }

  fs::path tree_;
  std::string preload_ = kBuild + "/lib/libprof.so";
  Lines settings_ = {"PROF_CUPTI="};
};

TEST_F(CuptiSearch, TakesTheFirstOfItsPlaces) {
  const std::string loaded = put("loaded/libcupti.so.13"), named = put("named/libcupti.so.13");
  const std::string in_loader = put("loader/libcupti.so.13");
  load(put("site/nvidia/cuda_runtime/lib/libcudart.so.13", "libcudart.so.13"));
  load(put("site/torch/lib/libtorch_cpu.so", "libcudart.so.13"));
  // From the last place to the first: each place wins over all places after it.
  settings_.push_back("LD_LIBRARY_PATH=" + (tree_ / "loader").string() + ":" + kBuild + "/sim");
  expect_found(in_loader, "by the loader's search");
  settings_.push_back("CUDA_HOME=" + (tree_ / "home").string());
  for (const char* inside : {"home/lib64/", "home/extras/CUPTI/lib64/"})
    expect_found(put(inside + std::string("libcupti.so.13")), "in CUDA_HOME");
  expect_found(put("site/torch/lib/libcupti.so.13"), "beside a loaded CUDA library");
  for (const char* inside : {"cu13/lib/", "cuda_cupti/lib/"})
    expect_found(put("site/nvidia/" + std::string(inside) + "libcupti.so.13"),
                 "installed near the loaded CUDA libraries");
  expect_found(put("site/nvidia/cuda_runtime/lib/libcupti.so.13"), "beside the loaded libcudart");
  settings_.push_back("PROF_CUPTI=" + named);
  expect_found(named, "PROF_CUPTI");
  load(loaded);
  expect_found(loaded, "already loaded");
}

TEST_F(CuptiSearch, FindsPipsFolderFromALibraryOfPyTorch) {
  load(put("site/torch/lib/libtorch_cpu.so", "libcudart.so.13"));
  expect_found(put("site/nvidia/cuda_cupti/lib/libcupti.so.13"), "installed near the loaded CUDA libraries");
}

TEST_F(CuptiSearch, FindsTheToolkitThatALoadedRunTimeBelongsTo) {
  load(put("cuda/lib64/libcudart.so.13", "libcudart.so.13"));
  expect_found(put("cuda/extras/CUPTI/lib64/libcupti.so.13"), "installed near the loaded CUDA libraries");
}

TEST_F(CuptiSearch, TakesTheOneOfTheDriversMajorVersion) {
  load(put("lib/libcudart.so.13", "libcudart.so.13"));
  put("lib/libcupti.so.13");
  settings_.push_back("SIM=driver_version 12040; cupti version 26");
  expect_found(put("lib/libcupti.so.12", "libcupti.so.12"), "beside the loaded libcudart");
}

TEST_F(CuptiSearch, PassesOverAFileThatIsNoLibrary) {
  load(put("lib/libcudart.so.13", "libcudart.so.13"));
  std::ofstream(tree_ / "lib/libcupti.so.13") << "no library\n";
  settings_.push_back("CUDA_HOME=" + (tree_ / "home").string());
  expect_found(put("home/extras/CUPTI/lib64/libcupti.so.13"), "in CUDA_HOME");
}

TEST_F(CuptiSearch, TakesNoOtherLibraryInPlaceOfALoadedOneThatCannotBeUsed) {
  const std::string named = put("named/libcupti.so.13");
  load(put("loaded/libcupti.so.13", "libcudart.so.13"));  // it has none of CUPTI's functions
  settings_ = {"PROF_CUPTI=" + named, "LD_PRELOAD=" + preload_};
  const Ended run({"work", "10"}, settings_);
  EXPECT_EQ(run.counter(format::LossCounter::cupti_unavailable), 1u);
  EXPECT_EQ(run.lines("kernel_launch").size(), 20u);
  ASSERT_EQ(run.messages.size(), 1u);
  EXPECT_NE(run.messages[0].find("loaded/libcupti.so.13: no function"), std::string::npos) << run.messages[0];
}

}  // namespace
}  // namespace prof::test
