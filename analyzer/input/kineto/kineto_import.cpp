// How does a Chrome trace, plain or gzip, become a model on all cores? One worker at a time reads and cuts the next
// stretch of the text. Each worker makes rows of its stretch. KinetoModel adds the rows in the order of the file.
//
//   file -> [inflate, a thread] -> cut, one at a time -> rows, on all cores -> add, in order -> finish
//
// Memory beyond the model: one stretch of text and its rows for each worker, and a few inflated blocks.
#include "analyzer/input/kineto/kineto_import.h"

#include "analyzer/base/parallel.h"
#include "analyzer/input/kineto/json_cutter.h"
#include "analyzer/input/kineto/kineto_model.h"
#include "analyzer/input/kineto/kineto_row_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>

namespace prof::analyzer {

namespace {

constexpr size_t kPadding = 64;  // RapidJSON looks at 16 bytes at a time

// One stretch of text. What follows its last whole event is carried over to the next.
struct Stretch {
  std::vector<char> text;
  size_t size = 0;
  uint64_t offset = 0;  // in the text of the file
  uint64_t number = 0;
  JsonCutter::Cut cut;
};

class KinetoImport {
 public:
  KinetoImport(TextSource source, const std::string& path, Trace& trace, const ImportOptions& options,
               size_t stretch_bytes, const JsonLimits& limits)
      : path_(path),
        options_(options),
        stretch_bytes_(stretch_bytes),
        source_(std::move(source)),
        cutter_(limits),
        model_(trace, path) {}

  void run() {
    const unsigned workers = options_.workers != 0 ? options_.workers : worker_count();
    parallel_for(
        workers, [this](size_t) { work(); }, workers);
    KinetoTextDamage damage{{}, cutter_.damaged_places(), cutter_.lost_events()};
    for (const JsonDamage& each : cutter_.damage()) damage.listed.push_back({each.offset, each.what});
    if (!source_.damage().empty()) {
      damage.listed.push_back({offset_, source_.damage()});
      ++damage.places;
    }
    const bool nothing = model_.events() == 0 && (damage.places != 0 || cutter_.not_events() != 0);
    if (nothing || !cutter_.found_events() || model_.no_event_at_all()) refuse(damage.listed);
    if (cutter_.not_events() != 0)
      header_.facts.emplace_back(
          "skipped", fmt::format("{} elements of the list of events that are no objects", cutter_.not_events()));
    model_.finish(header_, std::move(damage));
  }

 private:
  [[noreturn]] void refuse(const std::vector<KinetoDamage>& damage) const {
    if (damage.empty()) throw InputError(path_ + ": JSON, but no trace: there is no list of events with \"ph\" in it");
    throw InputError(fmt::format("{}: no event can be read: {} (at offset {} of the text)", path_, damage.front().what,
                                 damage.front().offset));
  }

  void work() {
    Stretch stretch;
    KinetoRows rows;
    KinetoRowMaker maker(rows);
    try {
      while (next(stretch)) {
        maker.start_stretch();
        char* const text = stretch.text.data();
        const std::span<const JsonPlace> nested(stretch.cut.nested);
        uint32_t first = 0;
        for (const JsonCutter::Cut::Event& event : stretch.cut.events) {
          maker.add(text, event.place, nested.subspan(first, event.nested_end - first), stretch.offset);
          first = event.nested_end;
        }
        put_together(stretch, rows);
      }
    } catch (...) {
      // The others must not wait for this stretch.
      const std::lock_guard lock(order_mutex_);
      failed_ = true;
      order_changed_.notify_all();
      throw;
    }
  }

  // Reads and cuts the next stretch; false at the end of the text.
  bool next(Stretch& stretch) {
    const std::lock_guard lock(read_mutex_);
    if (ended_ || failed_) return false;
    stretch.cut.events.clear();
    stretch.cut.nested.clear();
    stretch.cut.members.clear();
    stretch.offset = offset_;
    stretch.size = carried_.size();
    // A buffer that was enlarged for a long event is not kept.
    const size_t needed = carried_.size() + stretch_bytes_ + kPadding;
    if (stretch.text.size() > 2 * needed) std::vector<char>().swap(stretch.text);
    if (stretch.text.size() < needed) stretch.text = std::vector<char>(needed);
    std::copy(carried_.begin(), carried_.end(), stretch.text.begin());
    const size_t room = stretch.text.size() - kPadding - stretch.size;
    const size_t got = source_.read(stretch.text.data() + stretch.size, room);
    stretch.size += got;
    ended_ = got < room;
    std::memset(stretch.text.data() + stretch.size, 0, kPadding);
    cutter_.cut({stretch.text.data(), stretch.size}, offset_, ended_, stretch.cut);
    for (const JsonMember& member : stretch.cut.members)
      header_.add(member.key,
                  {stretch.text.data() + member.value.begin, size_t{member.value.end - member.value.begin}});
    const size_t left = stretch.size - stretch.cut.consumed;
    if (carried_.capacity() > 2 * stretch_bytes_ && left <= stretch_bytes_) std::vector<char>().swap(carried_);
    carried_.assign(stretch.text.data() + stretch.cut.consumed, stretch.text.data() + stretch.size);
    offset_ += stretch.cut.consumed;
    stretch.number = next_number_++;
    if (options_.progress) options_.progress(source_.share_read());
    return true;
  }

  void put_together(const Stretch& stretch, const KinetoRows& rows) {
    std::unique_lock lock(order_mutex_);
    order_changed_.wait(lock, [&] { return put_together_ == stretch.number || failed_; });
    if (failed_) return;
    model_.add(rows);
    ++put_together_;
    order_changed_.notify_all();
  }

  const std::string path_;
  const ImportOptions& options_;
  const size_t stretch_bytes_;

  std::mutex read_mutex_;  // guards the next eight
  TextSource source_;
  JsonCutter cutter_;
  KinetoHeader header_;
  std::vector<char> carried_;  // the start of an event whose end is not read yet
  uint64_t offset_ = 0;
  uint64_t next_number_ = 0;
  bool ended_ = false;

  std::mutex order_mutex_;  // guards the rest
  std::condition_variable order_changed_;
  std::atomic<bool> failed_{false};
  uint64_t put_together_ = 0;
  KinetoModel model_;
};

}  // namespace

void import_kineto(TextSource source, const std::string& path, Trace& trace, const ImportOptions& options,
                   size_t stretch_bytes, const JsonLimits& limits) {
  KinetoImport(std::move(source), path, trace, options, stretch_bytes, limits).run();
}

}  // namespace prof::analyzer
