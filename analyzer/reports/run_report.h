// Runs a report and names the process of each row. The columns `rank`, `host` and `pid`, and the words rank, host,
// process and device of --group-by, are the same for all reports, so no report handles them itself.
#pragma once

#include "analyzer/reports/reports.h"
#include "analyzer/table/table_document.h"

#include <string>
#include <vector>

namespace prof::analyzer {

// When do rows have the columns `rank` and `host`? WhenSeveral: if the input has several processes, and only those that
// have values. Always: for programs that read the table.
enum class OwnersShown : uint8_t { WhenSeveral, Always };
constexpr OwnersShown owners_shown(TableForm form) {
  return form == TableForm::Csv || form == TableForm::Json ? OwnersShown::Always : OwnersShown::WhenSeveral;
}

// Returns the report's table. With such a word of --group-by the report runs once for each rank, host, process or
// device that is selected, in order of rank, host and process id, and the rows follow one another. Notes that differ
// between these runs name theirs. Throws what the report throws, and std::logic_error for a column that its row of
// reports.def does not have.
Table run_report(const Report& report, const AnalysisInput& input, OwnersShown shown = OwnersShown::WhenSeveral);

// The selected processes whose rows belong together, by words of --group-by other than device, in order of rank, host
// and process id: "rank 8", "host node001".
struct OwnerGroup {
  std::string name;
  std::vector<bool> processes;  // by ProcessId, as Selection::processes
};
std::vector<OwnerGroup> owner_groups(const AnalysisInput& input, const std::vector<std::string>& words);

// Names the processes in column `pid` of a table that is no report. A table without that column stays as it is.
void name_owners(const Trace& trace, OwnersShown shown, Table& table);

// Whether --group-by has a word that run_report() handles, other than `kernels`'s own.
bool groups_by_owner(const ReportOptions& options);

}  // namespace prof::analyzer
