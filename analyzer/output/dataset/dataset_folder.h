// How does a folder of tables grow without duplicates? Several commands, also at once and on several hosts, write
// different processes into one folder:
//
//   DIR/operations/run=RUN/part-TASK-0.parquet     up to 128 MiB each
//   DIR/_tasks/run=RUN/TASK.txt                    which processes and files the command TASK has written
//
// Readers skip names that begin with _ or a dot. All files of a command are complete, under names with a dot, before
// the first of them gets its own name. TASK is made from the processes: if a command runs again, its files replace
// those of the first time. Files of other commands are replaced if all their processes are among the new ones. If only
// some are, nothing is written, because a part of a file cannot be replaced.
#pragma once

#include "analyzer/base/unfinished_file.h"
#include "analyzer/output/dataset/dataset_rows.h"
#include "analyzer/output/dataset/table_file.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace prof::analyzer::dataset {

// What a command has written.
struct DatasetTask {
  std::string name;  // of the file in _tasks
  std::set<int64_t> processes;
  std::vector<std::string> files;  // relative to the folder
};
std::string tasks_folder_of(const std::string& folder, const std::string& run);
// Throws OutputError if a task is of another version of the tables.
std::vector<DatasetTask> read_tasks(const std::string& folder, const std::string& run);
// The name of a file of the table until it is complete: readers skip it. `number`: of the file in this process.
std::string staged_path(const std::string& folder, const std::string& run, TableId table, size_t number);

class DatasetFolder : public Target {
 public:
  // Throws OutputError if the folder has other contents and `force` is not set.
  DatasetFolder(std::string folder, std::string run, bool force);

  bool wants(TableId) const override { return true; }
  TableBatch& batch(TableId table) override { return batches_[static_cast<size_t>(table)]; }
  void full(TableBatch& batch) override;

  // False: a process of this id was added already.
  bool add_process(const Identity& identity) { return processes_.insert(identity.process_id).second; }
  // Writes what is left and gives all files their names. Until then the folder shows nothing new.
  void finish();

  uint64_t rows() const { return rows_; }
  size_t files() const { return staged_.size(); }
  size_t processes() const { return processes_.size(); }

 private:
  struct Staged {
    UnfinishedFile file;
    std::string table;
  };
  void stage(TableId table);
  std::string tasks_folder() const { return tasks_folder_of(folder_, run_); }
  std::string task_name() const;

  const std::string folder_, run_;
  const bool force_;
  std::vector<TableBatch> batches_;
  std::vector<std::unique_ptr<TableFile>> open_;  // by table; null: none
  std::vector<Staged> staged_;
  std::set<int64_t> processes_;
  uint64_t rows_ = 0;
};

// One table as a stream of Arrow.
class TableStream : public Target {
 public:
  TableStream(const std::string& path, TableId table);
  bool wants(TableId table) const override { return table == table_; }
  TableBatch& batch(TableId table) override { return batches_[static_cast<size_t>(table)]; }
  void full(TableBatch& batch) override { file_.write(batch); }
  bool add_process(const Identity& identity) { return processes_.insert(identity.process_id).second; }
  void finish();
  uint64_t rows() const { return file_.rows(); }

 private:
  const TableId table_;
  std::vector<TableBatch> batches_;
  TableFile file_;
  std::set<int64_t> processes_;
};

}  // namespace prof::analyzer::dataset
