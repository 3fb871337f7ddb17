#include "analyzer/output/dataset/dataset_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace prof::analyzer::dataset {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{128} << 20;
constexpr std::string_view kFirstLine = "prof dataset, version ";

std::vector<TableBatch> empty_batches() {
  std::vector<TableBatch> batches;
  for (size_t table = 0; table < kTables; ++table) batches.emplace_back(static_cast<TableId>(table));
  return batches;
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw OutputError(fmt::format("{}: cannot be created: {}", path, error.message()));
}

}  // namespace

DatasetFolder::DatasetFolder(std::string folder, std::string run, bool force)
    : folder_(std::move(folder)), run_(std::move(run)), force_(force), batches_(empty_batches()), open_(kTables) {
  std::error_code error;
  if (fs::exists(folder_, error) && !fs::is_directory(folder_, error))
    throw OutputError(fmt::format("{}: is a file; a dataset is a folder, so give another name", folder_));
  const bool others = fs::is_directory(folder_, error) && !fs::is_empty(folder_, error) &&
                      !fs::is_directory(folder_ + "/_tasks", error);
  if (others && !force_)
    throw OutputError(fmt::format(
        "{}: is a folder with other contents; give a new or empty folder, or --force to add the tables to it",
        folder_));
  make_folder(tasks_folder());
}

void DatasetFolder::full(TableBatch& batch) {
  std::unique_ptr<TableFile>& file = open_[static_cast<size_t>(batch.id())];
  if (!file) {
    file = std::make_unique<TableFile>(staged_path(folder_, run_, batch.id(), staged_.size()), batch.id(),
                                       PROF_TABLE_PARQUET);
  }
  rows_ += batch.rows();
  file->write(batch);
  if (file->bytes() >= kMostBytes) stage(batch.id());
}

void DatasetFolder::stage(TableId table) {
  std::unique_ptr<TableFile>& file = open_[static_cast<size_t>(table)];
  UnfinishedFile staged(file->path());
  file->close();
  staged_.push_back({std::move(staged), std::string(schema_of(table).name)});
  file.reset();
}

// 16 hexadecimal digits that follow from the processes.
std::string DatasetFolder::task_name() const {
  std::string text;
  for (const int64_t process : processes_) text += fmt::format("{}\n", process);
  return fmt::format("{:016x}", id_of_text(text));
}

std::string tasks_folder_of(const std::string& folder, const std::string& run) { return folder + "/_tasks/run=" + run; }

std::string staged_path(const std::string& folder, const std::string& run, TableId table, size_t number) {
  const std::string place = fmt::format("{}/{}/run={}", folder, schema_of(table).name, run);
  make_folder(place);
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return fmt::format("{}/.staged-{}-{}-{}.parquet", place, host, getpid(), number);
}

std::vector<DatasetTask> read_tasks(const std::string& folder, const std::string& run) {
  std::vector<DatasetTask> tasks;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(tasks_folder_of(folder, run), error)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".txt")) continue;
    std::ifstream file(entry.path());
    DatasetTask task{name, {}, {}};
    std::string line;
    const std::string first = fmt::format("{}{}", kFirstLine, kDatasetVersion);
    if (!std::getline(file, line) || line != first)
      throw OutputError(
          fmt::format("{}: is of another version of the tables ('{}', not '{}'); export into a new folder",
                      entry.path().string(), line, first));
    while (std::getline(file, line)) {
      const size_t space = line.find(' ');
      const std::string value = space == std::string::npos ? "" : line.substr(space + 1);
      int64_t process = 0;
      if (line.starts_with("process ") &&
          std::from_chars(value.data(), value.data() + value.size(), process).ec == std::errc{}) {
        task.processes.insert(process);
      } else if (line.starts_with("file ")) {
        task.files.push_back(value);
      }
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

void DatasetFolder::finish() {
  for (TableBatch& batch : batches_) {
    if (batch.rows() != 0) full(batch);
  }
  for (size_t table = 0; table < kTables; ++table) {
    if (open_[table]) stage(static_cast<TableId>(table));
  }

  std::vector<DatasetTask> replaced;
  for (DatasetTask& task : read_tasks(folder_, run_)) {
    const auto again = std::count_if(task.processes.begin(), task.processes.end(),
                                     [&](int64_t process) { return processes_.contains(process); });
    if (again == 0) continue;
    if (static_cast<size_t>(again) != task.processes.size() && !force_)
      throw OutputError(fmt::format(
          "{}: {} of the {} processes of {}/{} are exported again, which would duplicate them; nothing was written. "
          "Export all of them together, give another --run, or --force, which removes the others",
          folder_, again, task.processes.size(), tasks_folder(), task.name));
    replaced.push_back(std::move(task));
  }

  const std::string name = task_name();
  std::vector<std::string> files;
  std::string text = fmt::format("{}{}\n", kFirstLine, kDatasetVersion);
  for (const int64_t process : processes_) text += fmt::format("process {}\n", process);
  for (const Staged& staged : staged_) {
    const auto number = std::count_if(files.begin(), files.end(),
                                      [&](const std::string& file) { return file.starts_with(staged.table + '/'); });
    files.push_back(fmt::format("{}/run={}/part-{}-{}.parquet", staged.table, run_, name, number));
    text += fmt::format("file {}\n", files.back());
  }
  // First the list: whatever ends this command from here on, the next one knows the files.
  Sink list(fmt::format("{}/{}.txt", tasks_folder(), name));
  list.write(text);
  list.close();
  for (size_t i = 0; i < staged_.size(); ++i) {
    const std::string to = folder_ + '/' + files[i];
    if (std::rename(staged_[i].file.path().c_str(), to.c_str()) != 0)
      throw OutputError(fmt::format("{}: cannot be written: {}", to, std::strerror(errno)));
    staged_[i].file.keep();
  }
  std::error_code error;
  for (const DatasetTask& task : replaced) {
    for (const std::string& file : task.files) {
      if (std::find(files.begin(), files.end(), file) == files.end()) fs::remove(folder_ + '/' + file, error);
    }
    if (task.name != name + ".txt") fs::remove(tasks_folder() + '/' + task.name, error);
  }
}

TableStream::TableStream(const std::string& path, TableId table)
    : table_(table), batches_(empty_batches()), file_(path, table, PROF_TABLE_ARROW_STREAM) {}

void TableStream::finish() {
  TableBatch& batch = batches_[static_cast<size_t>(table_)];
  if (batch.rows() != 0) file_.write(batch);
  file_.close();
}

}  // namespace prof::analyzer::dataset
