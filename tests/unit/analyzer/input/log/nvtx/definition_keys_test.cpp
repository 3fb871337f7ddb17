// Definitions of NVTX that differ in one part of their key are different ones.
#include "analyzer/input/log/nvtx/program_counters.h"
#include "analyzer/input/log/nvtx/scope_paths.h"
#include "preload/format/nvtx_types.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {
namespace {

using format::DomainId;
using format::NvtxCounterId;
using format::SchemaId;

format::NvtxSemanticsDef unit(NvtxCounterId counter, SchemaId schema, uint32_t entry, std::string_view text) {
  format::NvtxSemanticsDef made;
  made.counter = counter, made.schema = schema, made.entry = entry, made.unit = text;
  return made;
}

TEST(NvtxDefinitionKeys, SemanticsBelongToOneEntryOfOneSchemaOrToOneCounter) {
  const CounterSemantics semantics({unit({}, SchemaId{1}, 0, "bytes"), unit({}, SchemaId{1}, 1, "watts"),
                                    unit({}, SchemaId{2}, 0, "degrees"), unit(NvtxCounterId{3}, {}, 0, "of counter 3"),
                                    unit(NvtxCounterId{4}, {}, 0, "of counter 4")});
  const auto found = [&](uint32_t counter, uint32_t schema, uint32_t entry) {
    format::NvtxCounterDef of;
    of.id = NvtxCounterId{counter};
    format::NvtxSchemaEntry member;
    member.schema = SchemaId{schema}, member.index = entry;
    return std::string(semantics.of(of, &member).unit);
  };
  EXPECT_EQ(found(3, 1, 0), "bytes");
  EXPECT_EQ(found(3, 1, 1), "watts");
  EXPECT_EQ(found(3, 2, 0), "degrees");
  EXPECT_EQ(found(3, 2, 1), "of counter 3") << "the entry has none";
  EXPECT_EQ(found(4, 2, 1), "of counter 4");
  EXPECT_EQ(found(5, 2, 1), "");
}

TEST(NvtxDefinitionKeys, AScopeHasOneNumberInOneDomain) {
  constexpr uint64_t kFirst = format::nvtx::kFirstSchema;
  const auto scope = [](uint32_t domain, uint64_t number, std::string_view path, uint64_t parent = 0) {
    return format::NvtxScopeDef{DomainId{domain}, number, parent, path};
  };
  const NvtxScopes scopes({scope(1, kFirst, "rack"), scope(1, kFirst + 1, "/switch", kFirst),
                           scope(2, kFirst, "cabinet"), scope(1, kFirst, "defined again")});
  const auto path = [&](uint32_t domain, uint64_t number) { return scopes.path(DomainId{domain}, number, {}); };
  EXPECT_EQ(path(1, kFirst), "rack");
  EXPECT_EQ(path(1, kFirst + 1), "rack/switch");
  EXPECT_EQ(path(2, kFirst), "cabinet");
  EXPECT_EQ(path(2, kFirst + 1), "") << "defined in another domain only";
}

}  // namespace
}  // namespace prof::analyzer
