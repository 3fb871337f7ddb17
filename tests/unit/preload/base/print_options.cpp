// Prints every option as the recorder reads it: "member: value" lines. Compiled by option_defaults.py.
#include "preload/base/options.h"

#include <cstdio>
#include <string>

using namespace prof::preload;

namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }
std::string show(bool value) { return value ? "true" : "false"; }
std::string show(uint64_t value) { return std::to_string(value); }
std::string show(const char* value) { return quoted(value); }
std::string show(const option::Names& value) { return quoted(value.list) + (value.every ? " every" : ""); }
std::string show(const option::Numbers& value) { return quoted(value.list) + (value.every ? " every" : ""); }
std::string show(const option::Ring& value) { return show(value.bytes) + " bytes " + show(value.ns) + " ns"; }
std::string show(const option::HostRate& value) { return show(value.hz) + " a second " + show(value.starved); }
std::string show(const option::PcPeriod& value) {
  return "2^" + show(value.exponent) + " auto " + show(value.automatic);
}
std::string show(const option::Percent& value) { return std::to_string(value.share) + " " + quoted(value.text); }
std::string show(const option::Repeat& value) {
  return quoted(value.kernel) + " launch " + show(value.launch) + " times " + show(value.times);
}
std::string show(const option::ChosenWord& value) {
  return "word " + std::to_string(value.index) + " " + quoted(value.text) + " " + show(value.number) + " " +
         quoted(value.range.name) + "@" + quoted(value.range.domain) + show(value.range.every_domain);
}
template <class Enum> std::string show(const option::SomeOf<Enum>& value) {
  return "bits " + show(uint64_t{value.bits});
}
std::string show(const option::WantedMetrics& value) {
  std::string text;
  for (uint32_t i = 0; i < value.count; ++i)
    text += "[" + show(uint64_t{value.items[i].set}) + " " + quoted(value.items[i].metric) + "]";
  return text;
}

}  // namespace

int main() {
  if (!read_options_once()) return 1;
#define PROF_OPTION(member, ...) std::printf("%s: %s\n", #member, show(options().member).c_str());
#define PROF_CHOICES(member, ...) std::printf("%s: %s\n", #member, show(options().member).c_str());
#include "preload/format/options.def"
#undef PROF_OPTION
#undef PROF_CHOICES
  for (uint32_t row = 0; row < kOptionCount; ++row) {
    SetOption set{};
    if (set_option(row, set) && !set.valid) std::printf("not valid: %s\n", set.entry);
  }
}
