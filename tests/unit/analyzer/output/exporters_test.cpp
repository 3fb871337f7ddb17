// The list of forms: which one a name or a file's name selects.
#include "analyzer/output/exporters.h"

#include "analyzer/output/forms.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

TEST(Exporters, ANameSelectsAForm) {
  EXPECT_EQ(exporter_named(kStackExporters, "pprof"), &kStackExporters[static_cast<size_t>(StackFormat::Pprof)]);
  EXPECT_EQ(exporter_named(kStackExporters, "svg"), nullptr);
}

std::string form_of(const std::vector<Form>& forms, const std::string& path, const std::string& word = "") {
  return std::string(choose_form(forms, "it", word, path).name);
}

TEST(Exporters, TheEndOfAFileNameSelectsAForm) {
  EXPECT_EQ(form_of(report_forms("flame"), "out/a.html"), "html");
  EXPECT_EQ(form_of(report_forms("flame"), "a.folded"), "folded");
  EXPECT_EQ(form_of(report_forms("stacks"), "a.json"), "json");
  EXPECT_EQ(form_of(report_forms("stacks"), "a.speedscope.json"), "speedscope");
  EXPECT_EQ(form_of(report_forms("stacks"), "a.pb.gz"), "pprof");
  EXPECT_EQ(form_of(report_forms("roofline"), "a.svg"), "svg");
  EXPECT_EQ(form_of(report_forms("kernels"), "a.csv.gz"), "csv");
  EXPECT_EQ(form_of(diff_forms(), "a.xml"), "junit");
  for (const char* const path : {"-", "a", "a.b/c", ".csv", "a/", "/dev/null"})
    EXPECT_EQ(form_of(report_forms("kernels"), path), "text") << path;
}

TEST(Exporters, AWordOverridesTheNameAndAnImpossibleFormIsRefused) {
  EXPECT_EQ(form_of(report_forms("kernels"), "a.pdf", "csv"), "csv");
  EXPECT_THROW(form_of(report_forms("kernels"), "a.svg"), std::runtime_error);
  EXPECT_THROW(form_of(report_forms("kernels"), "a.pdf"), std::runtime_error);
  EXPECT_THROW(form_of(report_forms("kernels"), "a.csv", "svg"), std::runtime_error);
}

}  // namespace
}  // namespace prof::analyzer
