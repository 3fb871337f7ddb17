// The rows of one process in each table. Used by dataset_rows.cpp only; the tables of the GPU are made in
// operation_rows.cpp, those of the host in call_rows.cpp, those that compare ranks in rank_rows.cpp.
#pragma once

#include "analyzer/analysis/collectives/collective_entries.h"
#include "analyzer/analysis/collectives/collective_match.h"
#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/analysis/views.h"
#include "analyzer/output/dataset/dataset_rows.h"
#include "analyzer/reports/ranks/rank_sums.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace prof::analyzer::dataset {

// What all processes of a model share.
struct Shared {
  const Trace& trace;
  Target& target;
  const Views views{trace};
  CallStacks& stacks = call_stacks(views);
  std::optional<CollectiveEvidenceList> evidence = {};  // made when the first process needs it
  std::optional<CollectiveEntries> entries = {};
  // Caches of texts, by rows of the model.
  struct Cache {
    TextCache operation_kind, operation_name, launch_name, operation_path;
    TextCache call_name, call_kind, call_path;
    TextCache range_kind, range_style, range_domain, range_category, range_name, range_path;
    TextCache gap_cause, gap_call, gap_path, gap_next;
    TextCache sample_kind;
  } cache = {};
};

class ProcessRows {
 public:
  ProcessRows(Shared& shared, ProcessId process, Identity identity);
  void all();

 private:
  void processes();
  void anchors();
  void operations();
  void calls();
  void ranges();
  void collectives();
  void gaps();
  void samples();
  void coverage();
  void names();
  void collective_calls();
  void pair_calls();
  void ranks();  // with the table rank_items
  void rank_items(const RankSums& sums);
  void clock_evidence();

  struct Name {
    int64_t id = 0;
    GpuOperation operation;  // one of those with this name
    StackId stack{};         // or a stack, if it is not 0
  };
  struct OperationName {
    int64_t id = 0;
    uint32_t number = 0;  // dense, for caches
  };
  OperationName name_of(const GpuOperation& operation);
  std::optional<int64_t> stack_id(StackId stack);

  int64_t time(int64_t model_ns) const { return model_ns + zero_ns_; }
  std::string_view full_name(const GpuOperation& operation) const {
    return operation_name(shared_.views.names(), operation, NameForm::Full);
  }
  bool wants(TableId table) const { return shared_.target.wants(table); }
  void end_row(TableBatch& batch);
  void end_table(TableBatch& batch) { batch.set_identity(identity_); }

  Shared& shared_;
  const Trace& trace_;
  const ProcessId process_;
  const Identity identity_;
  const int64_t zero_ns_;
  std::vector<uint32_t> threads_;                           // rows of Trace::threads
  std::unordered_map<uint64_t, OperationName> operations_;  // by kind, detail and named row
  std::vector<std::optional<int64_t>> stack_ids_;           // by StackId; 0: not met yet
  std::vector<Name> names_;                                 // in the order in which they were met
  std::unordered_set<int64_t> known_;
};

}  // namespace prof::analyzer::dataset
