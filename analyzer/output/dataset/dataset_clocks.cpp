#include "analyzer/output/dataset/dataset_clocks.h"

#include "analyzer/analysis/collectives/host_clocks.h"
#include "analyzer/base/unfinished_file.h"
#include "analyzer/output/dataset/dataset_folder.h"
#include "analyzer/output/dataset/dataset_rows.h"
#include "analyzer/output/dataset/table_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prof::analyzer::dataset {

namespace {

constexpr uint32_t kMostDevices = 256;  // of a process; ordinals above share the last number
constexpr double kPicoseconds = 1e12;   // in a second: a share of time in these units is a whole number

struct ClockProcess {
  Identity identity;
  std::string source;
};

std::string_view basis_text(ClockBasis basis) {
  switch (basis) {
    case ClockBasis::Reference: return "reference";
    case ClockBasis::Order: return "order";
    case ClockBasis::Ends: return "ends";
    case ClockBasis::Unknown: break;
  }
  return "unknown";
}

// In order of rank, so that the numbers of clocks do not depend on the order of the exports.
std::vector<ClockProcess> read_processes(const std::vector<std::string>& files) {
  std::vector<ClockProcess> found;
  for (const std::string& path : files) {
    TableReader reader(path, TableId::processes,
                       {processes::rank, processes::host, processes::process_id, processes::source});
    while (reader.next()) {
      for (size_t row = 0; row < reader.rows(); ++row) {
        Identity identity{std::nullopt, std::string(reader.text(1, row)), reader.number(2, row)};
        if (!reader.is_null(0, row)) identity.rank = reader.number(0, row);
        found.push_back({std::move(identity), std::string(reader.text(3, row))});
      }
    }
  }
  const auto key = [](const ClockProcess& each) {
    return std::tuple(each.identity.rank.value_or(std::numeric_limits<int64_t>::max()),
                      std::string_view(each.identity.host), each.identity.process_id);
  };
  std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  const auto last = std::unique(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.identity.process_id == b.identity.process_id;  // a row for each GPU
  });
  found.erase(last, found.end());
  return found;
}

class EvidenceReader {
 public:
  EvidenceReader(const std::vector<ClockProcess>& processes, size_t most) : choice_(most) {
    for (uint32_t p = 0; p < processes.size(); ++p) number_.emplace(processes[p].identity.process_id, p);
  }

  void read(const std::string& path) {
    namespace column = dataset::clock_evidence;
    TableReader reader(
        path, TableId::clock_evidence,
        {column::process_id, column::device, column::start_ns, column::duration_ns, column::matched_by, column::key,
         column::sequence, column::step, column::kind, column::size, column::communicator_ranks, column::root});
    while (reader.next()) {
      for (size_t row = 0; row < reader.rows(); ++row) take(reader, row);
    }
  }

  const CollectiveEvidenceList& evidence() { return choice_.list(); }
  uint32_t process_of(const CollectiveEvidence& each) const { return each.device / kMostDevices; }
  int64_t end_ns(const CollectiveEvidence& each) const { return each.start_ns + choice_.duration_ns(each.row); }

 private:
  void take(const TableReader& reader, size_t row) {
    const auto process = number_.find(reader.number(0, row));
    if (process == number_.end()) return;
    CollectiveEvidence each;
    const auto ordinal = static_cast<uint32_t>(std::clamp<int64_t>(reader.number(1, row), 0, kMostDevices - 1));
    each.device = process->second * kMostDevices + ordinal;
    each.start_ns = reader.number(2, row);
    for (const MatchedBy by : {MatchedBy::Sequence, MatchedBy::Call, MatchedBy::Kernel}) {
      if (reader.text(4, row) == matched_by_text(by)) each.by = by;
    }
    each.sequence = reader.number(6, row);
    each.kind = collective_kind(reader.text(8, row));
    each.size = static_cast<uint64_t>(reader.number(9, row));
    each.ranks = static_cast<uint64_t>(reader.number(10, row));
    each.root = reader.number(11, row) != 0;
    choice_.add(each, reader.number(3, row), reader.text(5, row), reader.text(7, row));
  }

  std::unordered_map<int64_t, uint32_t> number_;  // process_id -> place in the list of processes
  EvidenceChoice choice_;
};

void add_clock_row(const ClockProcess& process, uint32_t number, const HostClock& clock, TableBatch& batch) {
  namespace column = dataset::clocks;
  const auto whole = [](double value) { return static_cast<int64_t>(std::llround(value)); };
  const bool reference = clock.basis == ClockBasis::Reference;
  batch[column::clock].add(number);
  batch[column::basis].add_text(basis_text(clock.basis));
  batch[column::collectives].add(clock.collectives);
  batch[column::from_ns].add(clock.from_ns);
  batch[column::to_ns].add(clock.to_ns);
  batch[column::offset_ns].add(whole(clock.ahead_ns));
  batch[column::drift_ps_per_s].add(whole(clock.drift * kPicoseconds));
  batch[column::bound_ns].add_if(clock.known(), reference ? 0 : whole(std::ceil(clock.bound_ns)));
  batch[column::bound_drift_ps_per_s].add_if(clock.known(), whole(std::ceil(clock.drift_bound * kPicoseconds)));
  batch.end_row();
  batch.set_identity(process.identity);
}

}  // namespace

void EvidenceChoice::add(CollectiveEvidence evidence, int64_t duration_ns, std::string_view key,
                         std::string_view step) {
  evidence.key = intern(key);
  evidence.step = intern(step);
  if (chance_of(evidence) > threshold_) return;
  list_.rows.push_back(evidence);
  durations_.push_back(duration_ns);
  while (list_.rows.size() > most_ && threshold_ > 1) keep_half();
}

const CollectiveEvidenceList& EvidenceChoice::list() {
  for (uint32_t i = 0; i < list_.rows.size(); ++i) list_.rows[i].row = i;
  return list_;
}

// Equal for the kernels of one operation, and different for most operations.
uint64_t EvidenceChoice::chance_of(const CollectiveEvidence& each) const {
  if (each.by != MatchedBy::Sequence && each.step == 0) return 0;
  const uint64_t shared = hashes_[each.key] ^ hashes_[each.step] * 3;
  return shared ^ static_cast<uint64_t>(each.sequence) * 0x9e3779b97f4a7c15;
}

void EvidenceChoice::keep_half() {
  threshold_ /= 2;
  size_t kept = 0;
  for (size_t i = 0; i < list_.rows.size(); ++i) {
    if (chance_of(list_.rows[i]) > threshold_) continue;
    list_.rows[kept] = list_.rows[i];
    durations_[kept++] = durations_[i];
  }
  if (kept == list_.rows.size()) most_ *= 2;  // rows that are all kept
  list_.rows.resize(kept);
  durations_.resize(kept);
}

uint32_t EvidenceChoice::intern(std::string_view text) {
  if (text.empty()) return 0;
  const auto [found, fresh] = texts_.try_emplace(std::string(text), static_cast<uint32_t>(list_.texts.size()));
  if (fresh) {
    list_.texts.emplace_back(text);
    hashes_.push_back(static_cast<uint64_t>(id_of_text(text)) << 1);
  }
  return found->second;
}

ClockSummary write_clocks(const std::string& folder, const std::string& run, size_t most_evidence) {
  std::vector<std::string> of_processes, of_evidence;
  for (const DatasetTask& task : read_tasks(folder, run)) {
    for (const std::string& file : task.files) {
      if (file.starts_with("processes/")) of_processes.push_back(fmt::format("{}/{}", folder, file));
      if (file.starts_with("clock_evidence/")) of_evidence.push_back(fmt::format("{}/{}", folder, file));
    }
  }
  if (of_processes.empty())
    throw OutputError(
        fmt::format("{}: has no tables of run={}; prof export INPUT… --format parquet writes them", folder, run));
  std::sort(of_evidence.begin(), of_evidence.end());  // the order of a folder is by chance

  const std::vector<ClockProcess> processes = read_processes(of_processes);
  EvidenceReader reader(processes, most_evidence);
  for (const std::string& path : of_evidence) reader.read(path);
  const CollectiveEvidenceList& evidence = reader.evidence();
  const CollectiveMatches matches = match_collectives(evidence);

  std::vector<ClockOwner> owners;
  for (const ClockProcess& process : processes) {
    std::optional<uint32_t> rank;
    if (process.identity.rank) rank = static_cast<uint32_t>(*process.identity.rank);
    owners.push_back({process.identity.host, rank, process.source});
  }
  std::vector<HostClock> clocks;
  std::vector<uint32_t> clock_of;
  const uint32_t reference = list_clocks(owners, clocks, clock_of);
  const auto kernel = [&](uint32_t row) {
    const CollectiveEvidence& each = evidence.rows[row];
    return ClockedKernel{clock_of[reader.process_of(each)], each.start_ns, reader.end_ns(each)};
  };
  estimate_clocks(matches, kernel, reference, clocks);

  ClockSummary summary;
  summary.processes = processes.size();
  summary.clocks = clocks.size();
  summary.collectives = matches.all.size();
  summary.reference = clocks[reference].name;
  for (const HostClock& clock : clocks) {
    if (clock.basis == ClockBasis::Reference) continue;
    ++(clock.known() ? summary.measured : summary.unknown);
    if (clock.known()) summary.bound_ns = std::max(summary.bound_ns, clock.bound_ns);
  }

  UnfinishedFile staged(staged_path(folder, run, TableId::clocks, 0));
  {
    TableFile file(staged.path(), TableId::clocks, PROF_TABLE_PARQUET);
    TableBatch batch(TableId::clocks);
    for (uint32_t p = 0; p < processes.size(); ++p)
      add_clock_row(processes[p], clock_of[p], clocks[clock_of[p]], batch);
    file.write(batch);
    file.close();
  }
  const std::string to = fmt::format("{}/{}/run={}/part-0.parquet", folder, schema_of(TableId::clocks).name, run);
  if (std::rename(staged.path().c_str(), to.c_str()) != 0)
    throw OutputError(fmt::format("{}: cannot be written: {}", to, std::strerror(errno)));
  staged.keep();
  return summary;
}

}  // namespace prof::analyzer::dataset
