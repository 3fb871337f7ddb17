// The list of forms: which one a name or a file's name selects.
#include "analyzer/output/exporters.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

TEST(Exporters, ANameSelectsAForm) {
  EXPECT_EQ(exporter_named(kStackExporters, "pprof"), &kStackExporters[static_cast<size_t>(StackFormat::Pprof)]);
  EXPECT_EQ(exporter_named(kStackExporters, "svg"), nullptr);
}

TEST(Exporters, TheEndOfAFileNameSelectsAFormThatHasAnExtension) {
  EXPECT_EQ(exporter_of_file(kStackExporters, "out/a.html")->name, "html");
  EXPECT_EQ(exporter_of_file(kStackExporters, "a.folded"), nullptr) << "only --format selects it";
  EXPECT_EQ(exporter_of_file(kRooflineExporters, "a.svg")->name, "svg");
  EXPECT_EQ(exporter_of_file(kRooflineExporters, "a.html")->name, "html");
  EXPECT_EQ(exporter_of_file(kDiffExporters, "-"), nullptr);
}

}  // namespace
}  // namespace prof::analyzer
