// Which rank holds a job that hangs? A collective ends when all ranks of its communicator have entered it. So the rank
// that did not enter the last one, or that entered another one, holds the others. Used by prof blame. Definitions:
// docs/blame.md.
//
// Nothing here is quadratic in the number of ranks: jobs have thousands.
//
// Only what the logs show makes a rank a culprit. What happened after the last record of a log is not known, unless the
// process was over by then. A rank that itself waits in another communicator is no culprit; the rank for which it waits
// may be one.
#pragma once

#include "analyzer/analysis/collectives/collective_entries.h"
#include "analyzer/analysis/views.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prof::analyzer {

// Of the last collective of a rank, or of the one that others entered.
enum class CollectiveState : uint8_t {
  Finished,    // its GPU operation has ended
  Launched,    // its GPU operation was launched; whether it ended is not recorded
  Entered,     // the call was entered, and launched nothing
  NotEntered,  // others entered it, and this rank did not
  Unknown      // others entered it; whether this rank did is not recorded
};
std::string_view state_name(CollectiveState state);

// Whether a call was launched, and whether it finished on the GPU: Finished, Launched or Entered.
CollectiveState state_of_call(const Trace& trace, const CollectiveEntry& entry);
// Whether no rank can finish such an operation before every rank has entered it.
bool needs_all(CollectiveKind kind);
// Whether the calls of a rank on a communicator can be compared with those of the others.
bool is_comparable(const Trace& trace, const RankCalls& calls);
// Why it is not known which send is the n-th one to a rank, and which receive the n-th one from it. They have no such
// numbers in the log, so they are counted. Empty: it is known.
std::string_view why_pairs_unknown(const Trace& trace, const CollectiveEntries& entries, const RankCalls& calls);
// Why calls of a process are not recorded, and why it may have made calls after its log ends. Empty: it has not.
std::string_view why_calls_lost(const Process& process);
std::string_view why_end_is_open(const Process& process);
// Why a rank without a call in its log may have made one before the log begins. Empty: it made none.
std::string_view why_start_is_open(const Process& process);

// A rank of a communicator.
struct BlameRank {
  uint32_t process = kNone;     // row of Trace::processes; kNone: no log has this rank
  std::optional<int64_t> rank;  // in the communicator
  CollectiveState state = CollectiveState::Unknown;
  std::optional<uint64_t> number;  // of its last collective on the communicator
  std::string collective;          // the last collective with its arguments; empty: none
  std::optional<int64_t> ago_ns;   // from its start to the end of the logs
  std::string note;                // why the state is unknown, or where the rank is
};

struct BlameCommunicator {
  std::string name;    // "0x1111"
  uint64_t ranks = 0;  // 0: not known
  std::vector<BlameRank> of_rank;
};

enum class FindingKind : uint8_t {
  NotEntered,       // a rank did not enter a collective
  OtherCollective,  // a rank entered another collective, or one of another type or size
  OtherOrder,       // a rank entered two collectives in the other order
  NoPartner,        // a send without its receive, or the reverse
  Circle            // ranks wait for each other in several communicators
};
std::string_view finding_name(FindingKind kind);

// A rank that holds the others.
struct BlameFinding {
  FindingKind kind{};
  uint32_t process = kNone;
  std::string communicator;
  std::optional<int64_t> rank;
  std::string text;  // a sentence
};

struct Blame {
  std::vector<BlameCommunicator> communicators;
  std::vector<BlameFinding> findings;
  std::vector<std::string> unknown;  // why it cannot be told whether another rank holds the job
  std::vector<std::string> notes;    // what is not recorded, and which option records it
  uint64_t collectives = 0;          // calls in the logs
};

// `after_ns`: others must have waited at least so long. O(calls · log calls + ranks · numbers), where numbers are the
// different last calls of the ranks of a communicator.
Blame find_blame(const Trace& trace, const Views& views, int64_t after_ns);

// The threads of each process, and the last call of NCCL of each thread. For Views::derived().
struct ThreadRows {
  ThreadRows(const Trace& trace, const Views& views);
  std::vector<std::vector<uint32_t>> of_process;  // rows of Trace::threads
  std::vector<uint32_t> last_start;               // by thread: row of Trace::collectives; kNone: none
};

// Which call, wait or code each thread of a process was in at the end of its log, the thread `first` first. Also used
// for the sentences.
struct ThreadPlace {
  uint32_t thread = 0;
  std::string text;   // "in cuStreamSynchronize for 214 s"
  std::string stack;  // empty: not recorded
};
std::vector<ThreadPlace> thread_places(const Trace& trace, const Views& views, uint32_t process, uint32_t first);

}  // namespace prof::analyzer
