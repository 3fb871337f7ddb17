// How is a Chrome trace of another tool written again with what the analyses know? The text of every event is copied,
// and members are added to its args. The model keeps no arguments, so the file is read a second time, as text
// (input/kineto/chrome_text.h). chrome_match.h finds the row of the model for each event. Called by chrome_trace.cpp.
#pragma once

#include "analyzer/input/kineto/chrome_text.h"
#include "analyzer/output/chrome/augment.h"
#include "analyzer/output/chrome/chrome_match.h"
#include "analyzer/output/chrome/chrome_writer.h"
#include "analyzer/output/chrome/copied_events.h"

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// The pids of a merged trace. A file keeps its own pid if no earlier file has it.
class ChromePids {
 public:
  void take(uint64_t pid);
  // Returns the JSON text of the pid to write. Files are numbered from 1.
  const std::string& of(size_t file, std::string_view pid);

 private:
  std::set<std::string, std::less<>> used_;  // without quotes
  std::vector<std::unordered_map<std::string, std::string>> of_file_;
};

class ChromeCopy {
 public:
  // `processes`: the processes that the importer made of the file. `augment` and `arrows` are null for a plain trace.
  ChromeCopy(const Trace& trace, Rows processes, EventList& events, Augment* augment, ChromeArrows* arrows);

  // Writes the whole file unchanged, with additions. `append` may add events after the last one. Times and ids are
  // those of the file.
  void whole(ChromeText& text, Sink& sink, EventList& events, const std::function<void(const ChromeCopy&)>& append);

  // Writes only the events, on the time line of the model. Their pids come from `pids`, and their flow and correlation
  // ids are unique among all files.
  void events_of(ChromeText& text, size_t file, ChromePids& pids, EventList& events);

  // The same for a Perfetto trace. `pids`: null if times and ids are those of the file.
  void packets_of(ChromeText& text, size_t file, ChromePids* pids, CopiedEvents& to);

  // Only events that are selected are copied; null: all.
  void select(const Selection* selection) { selection_ = selection; }

  // The members of the outer object of a file read by events_of(): name -> value.
  const std::vector<std::pair<std::string, std::string>>& members() const { return members_; }
  // JSON texts of the pids under which GPU operations were written. A text is empty if the device has none.
  const std::vector<std::string>& device_pids() const { return device_pids_; }
  // The offset from times of the model to times of the file, in ns.
  int64_t offset_ns() const { return match_.offset_ns(); }
  // The counters that the file already has: `name` + ' ' + `pid`, both JSON texts.
  const std::set<std::string>& counters() const { return counters_; }

  const ChromeCopyCounts& counts() const { return counts_; }

 private:
  struct Edit {
    size_t at, remove;
    std::string_view insert;
  };
  // Computes the members to add to the event, in members_of_event_. Returns an empty text if there are none.
  std::string_view additions(const EventFields& fields);
  void find_row(const EventFields& fields);
  // Notes what is needed later, when other events are added after the last one.
  void note_event(const EventFields& fields, std::string_view pid);
  void put(std::string_view separator, std::string_view text, const EventFields* fields, Sink& sink);
  void edit_ids(std::string_view text, const EventFields& fields, size_t file, ChromePids& pids);
  void edit(std::string_view text, std::string_view old_part, std::string new_part);
  void edit_number(std::string_view text, std::string_view number);
  std::string_view strict(const ChromeText& piece, const EventFields*& fields);
  void note_damage(const ChromeText& text);

  const Trace& trace_;
  Augment* augment_;
  ChromeArrows* arrows_;
  ChromeMatch match_;
  Rows processes_;
  ProcessId process_{};
  EventMembers members_of_event_;
  bool selected(const EventFields* fields);
  const Selection* selection_ = nullptr;
  std::vector<Edit> edits_;
  std::deque<std::string> edit_texts_;
  std::string strict_text_, insertion_;
  EventFields strict_fields_;
  std::vector<std::pair<std::string, std::string>> members_;
  std::vector<std::string> device_pids_;
  ChromeRow last_row_;  // the row of the current event
  bool row_known_ = false, expected_ = false;
  std::set<std::string> counters_;
  ChromeCopyCounts counts_;
};

}  // namespace prof::analyzer
