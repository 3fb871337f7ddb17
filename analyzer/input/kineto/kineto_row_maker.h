// From the events of one stretch to rows.
#pragma once

#include "analyzer/input/kineto/kineto_category.h"
#include "analyzer/input/kineto/kineto_counter_rows.h"
#include "analyzer/input/kineto/kineto_event.h"
#include "analyzer/input/kineto/kineto_gpu_rows.h"
#include "analyzer/input/kineto/kineto_host_rows.h"
#include "analyzer/input/kineto/kineto_numbering.h"
#include "analyzer/input/kineto/kineto_rows.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace prof::analyzer {

// KinetoRowMaker decides, for each event of a stretch, which row it becomes or why it becomes none, by its phase ("ph")
// and category ("cat"). The makers of host, GPU and counter rows read the event's members and add the row.
class KinetoRowMaker {
 public:
  explicit KinetoRowMaker(KinetoRows& rows);
  // Clears the rows.
  void start_stretch();
  // One event of the stretch whose text begins at `origin` and at `offset` of the file (see KinetoEventReader::read).
  // The text must live as long as the rows.
  void add(char* origin, JsonPlace place, std::span<const JsonPlace> nested, uint64_t offset);

 private:
  void count();
  void dispatch();
  void repair_path();
  void complete();
  void timed(const KinetoTimes& times);
  void foreign(const KinetoTimes& times);
  void edge(KinetoEdgeKind edge);
  void instant();
  void metadata();
  bool times_of(bool with_duration, KinetoTimes& times);
  void aside(KinetoAside reason) { rows_.tally.aside(reason); }

  KinetoRows& rows_;
  KinetoEventReader reader_;
  KinetoNumbering numbering_;
  KinetoHostRowMaker host_;
  KinetoGpuRowMaker gpu_;
  KinetoCounterRowMaker counters_;
  KinetoEvent event_;
  std::string_view last_category_;
  KinetoClass class_ = KinetoClass::Other;  // what last_category_ means
  size_t last_count_ = 0;                   // its entry in the tally
};

}  // namespace prof::analyzer
