// Do numbers of two stretches that mean the same become the same row of the trace?
#include "analyzer/input/kineto/kineto_translation.h"

#include "analyzer/input/kineto/kineto_numbering.h"

#include <gtest/gtest.h>

#include <string>

namespace prof::analyzer {
namespace {

class KinetoTranslating : public ::testing::Test {
 protected:
  Trace trace;
  const ImportMark mark{trace};
  const std::string path = "t";
  KinetoThreads threads{trace, mark, path};
  KinetoStreams streams{trace, mark};
  KinetoKernels kernels{trace};
  KinetoTranslation to{trace, threads, streams, kernels};
};

TEST_F(KinetoTranslating, GivesOneRowToTheSameThingOfTwoStretches) {
  KinetoRows first, second;
  KinetoNumbering of_first(first), of_second(second);
  KinetoKernel kernel;
  kernel.name = of_first.text("k");
  const StretchKernel kernel_1 = of_first.kernel(kernel);
  const StretchTrack track_1 = of_first.track("1", "2");
  const StretchStream stream_1 = of_first.stream({of_first.pid("1"), 0, 1, 7});
  to.start(first);
  const KernelId kernel_row = to.kernel(kernel_1);
  const ThreadId thread = to.thread(track_1);
  const uint32_t stream = to.stream(stream_1);
  const LabelId label = to.label({kernel.name, {}});

  of_second.text("something before");
  kernel.name = of_second.text("k");
  of_second.track("9", "9");
  const StretchTrack track_2 = of_second.track("1", "2");
  const StretchStream stream_2 = of_second.stream({of_second.pid("1"), 0, 1, 7});
  const StretchKernel kernel_2 = of_second.kernel(kernel);
  EXPECT_NE(track_2, track_1);
  to.start(second);
  EXPECT_EQ(to.kernel(kernel_2), kernel_row);
  EXPECT_EQ(to.thread(track_2), thread);
  EXPECT_EQ(to.stream(stream_2), stream);
  EXPECT_EQ(to.stream(kNoStream), kNone);
  EXPECT_EQ(to.label({kernel.name, {}}), label);
  EXPECT_EQ(trace.text(to.text(kernel.name)), "k");
}

TEST_F(KinetoTranslating, DistinguishesLabelsByTheirDomain) {
  KinetoRows rows;
  KinetoNumbering numbering(rows);
  const StretchText name = numbering.text("name"), domain = numbering.text("library");
  to.start(rows);
  const LabelId plain = to.label({name, {}}), of_domain = to.label({name, domain});
  EXPECT_NE(plain, of_domain);
  EXPECT_EQ(to.label({name, domain}), of_domain);
  EXPECT_EQ(trace.text(trace.labels[index(of_domain)].domain), "library");
}

TEST_F(KinetoTranslating, KnowsTheKindOfACallByItsName) {
  KinetoRows rows;
  KinetoNumbering numbering(rows);
  const StretchText launch = numbering.text("cudaLaunchKernel"), copy = numbering.text("cudaMemcpyAsync");
  to.start(rows);
  HostEvent event;
  event.word = to.call_word(launch);
  EXPECT_EQ(event.kind(), HostKind::KernelLaunch);
  EXPECT_EQ(trace.api_name(event), "cudaLaunchKernel");
  EXPECT_EQ(to.call_word(launch), event.word);
  event.word = to.call_word(copy);
  EXPECT_EQ(event.kind(), HostKind::MemoryLaunch);
}

TEST_F(KinetoTranslating, PutsDetailsAfterThoseOfEarlierStretches) {
  KinetoRows rows;
  to.start(rows);
  EXPECT_EQ(to.detail(StretchDetail{}), 0u);
  EXPECT_EQ(to.detail(StretchDetail{1}), 1u);  // row 0 is none
  trace.details.resize(4);
  to.start(rows);
  EXPECT_EQ(to.detail(StretchDetail{}), 0u);
  EXPECT_EQ(to.detail(StretchDetail{1}), 4u);
}

}  // namespace
}  // namespace prof::analyzer
