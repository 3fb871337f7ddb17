// Which parts of a frame's name and file differ between two runs of the same code?
#include "analyzer/analysis/stacks/frame_text.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

TEST(FrameText, AddressesAreNoPartOfAName) {
  EXPECT_EQ(frame_text("<built-in method get of dict object at 0x7f1cfb44b440>"),
            "<built-in method get of dict object at 0x*>");
  EXPECT_EQ(frame_text("<built-in method join of str object at 0xb45dd8>"),
            "<built-in method join of str object at 0x*>");
  EXPECT_EQ(frame_text("a 0x7F00AB12CD and 0x7f00ab12ce"), "a 0x* and 0x*");
  EXPECT_EQ(frame_text("mask 0xff"), "mask 0xff");
  EXPECT_EQ(frame_text("0x"), "0x");
  EXPECT_EQ(frame_text("0x7f00ab12cd"), "0x7f00ab12cd");
}

TEST(FrameText, NumbersOfGeneratedFunctionsAreNoPartOfAName) {
  EXPECT_EQ(frame_text("<eval_with_key>.12"), "<eval_with_key>.*");
  EXPECT_EQ(frame_text("<eval_with_key>.x"), "<eval_with_key>.x");
  EXPECT_EQ(frame_text("layer_12"), "layer_12");
}

TEST(FrameText, TemporaryAndGeneratedFilesAreOneFile) {
  EXPECT_EQ(frame_text("/tmp/tmpab12cd_x/model.py"), "/tmp/tmp*/model.py");
  EXPECT_EQ(frame_text("/tmp/tmpfile/model.py"), "/tmp/tmpfile/model.py");
  EXPECT_EQ(frame_text("/tmp/ipykernel_812/2733016.py"), "/tmp/ipykernel_*/*.py");
  EXPECT_EQ(frame_text("/data/2733016.py"), "/data/2733016.py");
  EXPECT_EQ(frame_text("/tmp/torchinductor_me/bo/cbolyw6ly7ttwqkvatrdbtmpfqz32fwbeo5lwiaylqkgiwxybh7m.py"),
            "/tmp/torchinductor_me/*/*.py");
  EXPECT_EQ(frame_text("~/.triton/cache/0123456789abcdef0123456789abcdef/add.so"), "~/.triton/cache/*/add.so");
}

TEST(FrameText, OtherPathsAreUnchanged) {
  for (const char* const path : {"", "/", "app.py", "/a//b/", "torch/nn/modules/linear.py", "/usr/lib/libtorch_cuda.so",
                                 "/x/a_very_long_name_of_a_module_that_is_no_hash_at_all.py"})
    EXPECT_EQ(frame_text(path), path);
}

}  // namespace
}  // namespace prof::analyzer
