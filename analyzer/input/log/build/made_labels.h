// Labels whose texts are not defined in the log: written with a record, or derived from another label. Part of the
// third step of the builder.
#pragma once

#include "analyzer/model/trace.h"

#include <string_view>
#include <unordered_map>

namespace prof::analyzer {

class MadeLabels {
 public:
  explicit MadeLabels(Trace& trace) : trace_(trace) {}

  // The name was not interned: the domain (or `of_domain`) and the colour of `like`, with the text of the record.
  LabelId with_text(LabelId like, std::string_view text, std::string_view of_domain = {});

  // The text of `from` between two others.
  LabelId around(LabelId from, std::string_view before, std::string_view after);

 private:
  LabelId find_or_add(uint64_t made_how, LabelId from, const Label& label);

  Trace& trace_;
  std::unordered_map<uint64_t, uint32_t> made_;
};

}  // namespace prof::analyzer
