// A list of events as JSON in memory, for tests of what makes their members.
#pragma once

#include "analyzer/output/chrome/event_list.h"

#include <string>

namespace prof::tests {

struct JsonEvents {
  std::string text;
  analyzer::Sink sink{&text};
  analyzer::EventList list{sink, analyzer::TraceForm::Json};
};

}  // namespace prof::tests
