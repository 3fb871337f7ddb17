// Any bytes as a Chrome trace that `prof trace` writes again: read into a model, then copied event by event as text
// with the additions of the analyses. Nothing may crash, hang or read outside its memory. Without additions, a whole
// strict trace is copied byte for byte. With additions, the copy is strict JSON, has every event of the plain copy, and
// a second copy changes no event. As a Perfetto trace, it consists of whole packets, and each slice has an end.
#include "analyzer/analysis/views.h"
#include "analyzer/input/kineto/chrome_text.h"
#include "analyzer/input/kineto/kineto_import.h"
#include "analyzer/output/chrome/chrome_trace.h"
#include "analyzer/output/perfetto/perfetto_fields.h"
#include "tests/fuzz/strict_json.h"

#include <protozero/pbf_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace prof::analyzer;
using prof::tests::is_json;

constexpr size_t kStretch = 64;  // so that every piece crosses a boundary once

void require(bool holds, const char* what, std::string_view input, const std::string& text) {
  if (holds) return;
  std::fprintf(stderr, "%s: of\n%.*s\ncame\n%s\n", what, static_cast<int>(input.size()), input.data(), text.c_str());
  std::abort();
}

std::string inflated(std::string_view bytes) {
  TextSource source = TextSource::of_memory(bytes);
  std::string text;
  char block[4096];
  for (size_t got = 0; (got = source.read(block, sizeof block)) != 0;) text.append(block, got);
  return text;
}

struct Copy {
  std::string text;
  ChromeTraceResult result;
};

// Slices that begin minus those that end; -1: the packets are not whole.
int64_t open_slices(const std::string& packets) {
  namespace field = perfetto;
  int64_t open = 0;
  try {
    protozero::pbf_reader trace(packets);
    while (trace.next()) {
      protozero::pbf_reader packet = trace.get_message();
      while (packet.next()) {
        if (packet.tag() != field::packet::kTrackEvent) {
          packet.skip();
          continue;
        }
        protozero::pbf_reader event = packet.get_message();
        while (event.next()) {
          if (event.tag() != field::event::kType) {
            event.skip();
            continue;
          }
          const uint32_t type = event.get_uint32();
          open += type == field::event::kBegin ? 1 : type == field::event::kEnd ? -1 : 0;
        }
      }
    }
  } catch (const protozero::exception&) {
    return -1;
  }
  return open;
}

Copy copy_of(std::string_view bytes, const Trace& trace, bool plain, bool perfetto = false) {
  const Views views(trace);
  ChromeText text(TextSource::of_memory(bytes), "fuzz", kStretch);
  ChromeTraceOptions options;
  options.plain = plain;
  Copy copy;
  Sink sink(&copy.text);
  copy.result = (perfetto ? copy_as_perfetto_trace : copy_chrome_trace)(trace, views, text, options, sink);
  sink.close();
  return copy;
}

bool import(std::string_view bytes, Trace& trace) {
  ImportOptions options;
  options.workers = 1;
  try {
    import_kineto(TextSource::of_memory(bytes), "fuzz", trace, options, 512);
  } catch (const InputError&) {
    return false;
  }
  return true;
}

// Equal byte for byte, or except for the end that an array of events may lack.
bool is_whole_copy(std::string_view copy, std::string_view input) {
  if (copy == input) return true;
  constexpr std::string_view kEnd = "\n]";
  if (!copy.ends_with(kEnd)) return false;
  copy.remove_suffix(kEnd.size());
  return input.starts_with(copy) && input.find_first_not_of(", \n\r\t", copy.size()) == std::string_view::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Trace trace;
  if (!import(bytes, trace)) return 0;
  const Copy plain = copy_of(bytes, trace, true);
  if (plain.result.copied.damaged == 0 && plain.result.copied.repaired == 0)
    require(is_whole_copy(plain.text, inflated(bytes)), "the plain copy differs", bytes, plain.text);
  const Copy more = copy_of(bytes, trace, false);
  require(more.text.empty() || is_json(more.text), "no strict JSON", bytes, more.text);
  require(plain.text.empty() || is_json(plain.text), "the plain copy is no strict JSON", bytes, plain.text);
  require(more.result.copied.events == plain.result.copied.events, "events were lost", bytes, more.text);
  require(more.result.copied.damaged == plain.result.copied.damaged, "other damage", bytes, more.text);
  for (const bool only_recorded : {true, false}) {
    const Copy packets = copy_of(bytes, trace, only_recorded, true);
    require(open_slices(packets.text) == 0, "packets are not whole, or a slice has no end", bytes, packets.text);
  }
  Trace again;
  if (!import(more.text, again)) return 0;
  const Copy twice = copy_of(more.text, again, true);
  require(twice.text == more.text, "what we wrote is not what we read", bytes, twice.text);
  return 0;
}
