// Do equal things of a stretch have one number, and different ones their own?
#include "analyzer/input/kineto/kineto_numbering.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

TEST(KinetoNumbering, GivesEqualTextsOneNumber) {
  KinetoRows rows;
  KinetoNumbering numbering(rows);
  const StretchText a = numbering.text("a"), b = numbering.made_text("b");
  EXPECT_NE(a, b);
  EXPECT_EQ(numbering.text("a"), a);
  EXPECT_EQ(numbering.text("b"), b);
  EXPECT_EQ(numbering.text(""), StretchText{});
  EXPECT_EQ(rows.texts.texts()[index(b)], "b");
}

TEST(KinetoNumbering, GivesEachPairOfPidAndTidOneTrack) {
  KinetoRows rows;
  KinetoNumbering numbering(rows);
  const StretchTrack first = numbering.track("1", "10");
  EXPECT_EQ(numbering.track("1", "10"), first);
  const StretchTrack other_thread = numbering.track("1", "11"), other_process = numbering.track("2", "10");
  EXPECT_NE(other_thread, first);
  EXPECT_NE(other_process, first);
  EXPECT_EQ(numbering.track("1", "10"), first);
  ASSERT_EQ(rows.tracks.size(), 3u);
  EXPECT_EQ(rows.tracks[index(other_process)].pid, numbering.pid("2"));
}

TEST(KinetoNumbering, DistinguishesStreamsAndKernelsByEveryField) {
  KinetoRows rows;
  KinetoNumbering numbering(rows);
  const KinetoStream stream{numbering.pid("1"), 0, 1, 7};
  const StretchStream first = numbering.stream(stream);
  for (uint32_t KinetoStream::*field : {&KinetoStream::device, &KinetoStream::context, &KinetoStream::number}) {
    KinetoStream other = stream;
    other.*field += 1;
    EXPECT_NE(numbering.stream(other), first);
  }
  EXPECT_EQ(numbering.stream(stream), first);
  EXPECT_EQ(rows.streams.size(), 4u);
  KinetoKernel kernel;
  kernel.name = numbering.text("k");
  const StretchKernel known = numbering.kernel(kernel);
  kernel.grid[2] = 5;
  EXPECT_NE(numbering.kernel(kernel), known);
  kernel.grid[2] = 0;
  EXPECT_EQ(numbering.kernel(kernel), known);
}

TEST(KinetoNumbering, StartsAgainWithEachStretch) {
  KinetoRows rows;
  KinetoNumbering numbering(rows);
  numbering.track("1", "10");
  numbering.stream({numbering.pid("1"), 0, 1, 7});
  rows.clear();
  numbering.start_stretch();
  EXPECT_EQ(index(numbering.track("2", "20")), 0u);
  EXPECT_EQ(index(numbering.stream({numbering.pid("2"), 0, 1, 7})), 0u);
  EXPECT_EQ(rows.texts.texts()[index(rows.tracks[0].pid)], "2");
}

}  // namespace
}  // namespace prof::analyzer
