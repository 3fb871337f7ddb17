// Chrome traces written again: every event's own text is copied through, and what the analyses know is added to its args. The model
// keeps no arguments, so the file is read a second time, as text (input/kineto/chrome_text.h); which row an event became is found by
// chrome_match.h. Called by chrome_trace.cpp for inputs that are such traces.
#pragma once

#include "analyzer/input/kineto/chrome_text.h"
#include "analyzer/output/chrome/augment.h"
#include "analyzer/output/chrome/chrome_match.h"
#include "analyzer/output/chrome/chrome_writer.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// pids of a merged trace. A file keeps its own where no file before it has them.
class ChromePids {
 public:
  void take(uint64_t pid);
  // Files are numbered from 1; the JSON text of the pid to write.
  const std::string& of(size_t file, std::string_view pid);

 private:
  std::set<std::string, std::less<>> used_;  // without quotes
  std::vector<std::unordered_map<std::string, std::string>> of_file_;
};

class ChromeCopy {
 public:
  // `processes`: those the file became. Plain: `augment` and `arrows` are null.
  ChromeCopy(const Trace& trace, Rows processes, Augment* augment, ChromeArrows* arrows);

  // The whole file as it is, with additions. `append` may add events behind its last one. Times and ids are the file's own.
  void whole(ChromeText& text, Sink& sink, EventList& events, const std::function<void(const ChromeCopy&)>& append);

  // The events alone, on the time line of the model, with pids from `pids`, and flow and correlation ids that no other file has.
  void events_of(ChromeText& text, size_t file, ChromePids& pids, EventList& events);

  // Members of the outer object of a file read by events_of(): name -> value.
  const std::vector<std::pair<std::string, std::string>>& members() const { return members_; }
  // JSON texts of the pids under which GPU operations were written; empty: the device has none.
  const std::vector<std::string>& device_pids() const { return device_pids_; }
  // What times of the model lack to be the file's own.
  int64_t offset_ns() const { return match_.offset_ns(); }
  // Counters the file has already: name and pid, as `name` + ' ' + `pid`, both JSON texts.
  const std::set<std::string>& counters() const { return counters_; }

  const ChromeCopyCounts& counts() const { return counts_; }

 private:
  struct Edit {
    size_t at, remove;
    std::string_view insert;
  };
  // Members to add for the event, in members_of_event_; empty: none.
  std::string_view additions(const EventFields& fields);
  // What is to be known of an event under that pid when others are added behind the last one.
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
  AugmentMembers members_of_event_;
  std::vector<Edit> edits_;
  std::deque<std::string> edit_texts_;
  std::string strict_text_, insertion_;
  EventFields strict_fields_;
  std::vector<std::pair<std::string, std::string>> members_;
  std::vector<std::string> device_pids_;
  ChromeRow last_row_;  // what the event in hand became
  std::set<std::string> counters_;
  ChromeCopyCounts counts_;
};

}  // namespace prof::analyzer
