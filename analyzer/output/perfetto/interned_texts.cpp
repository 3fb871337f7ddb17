#include "analyzer/output/perfetto/interned_texts.h"

#include <protozero/pbf_writer.hpp>

namespace prof::analyzer {

namespace {

std::string number_field(protozero::pbf_tag_type field, uint64_t value) {
  std::string text;
  protozero::pbf_writer(text).add_uint64(field, value);
  return text;
}

}  // namespace

uint64_t InternedTexts::iid(Table& table, std::string_view text) {
  if (const auto found = table.iids.find(text); found != table.iids.end()) return found->second;
  const uint64_t iid = table.iids.size() + 1;
  table.iids.emplace(text, iid);
  std::string data;
  {
    protozero::pbf_writer writer(data);
    protozero::pbf_writer entry(writer, table.kind);
    entry.add_uint64(perfetto::interned::kIid, iid);
    entry.add_string(perfetto::interned::kText, text.data(), text.size());
  }
  packets_.interned_data(data);
  return iid;
}

std::string InternedTexts::category(std::string_view text) {
  return number_field(perfetto::event::kCategory, iid(categories_, text));
}
std::string InternedTexts::name(std::string_view text) {
  return number_field(perfetto::event::kName, iid(names_, text));
}
std::string InternedTexts::annotation_name(std::string_view text) {
  return number_field(perfetto::annotation::kName, iid(annotation_names_, text));
}
std::string InternedTexts::annotation_text(std::string_view text) {
  if (text.size() <= 1) {  // a number of an interned text takes at least as many bytes
    std::string field;
    protozero::pbf_writer(field).add_string(perfetto::annotation::kString, text.data(), text.size());
    return field;
  }
  return number_field(perfetto::annotation::kText, iid(annotation_texts_, text));
}

}  // namespace prof::analyzer
