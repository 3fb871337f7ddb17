#include "analyzer/output/perfetto/annotation_json.h"

#include "analyzer/base/json/json_text.h"
#include "analyzer/output/perfetto/perfetto_fields.h"

#include <rapidjson/document.h>
#include <protozero/pbf_writer.hpp>

namespace prof::analyzer {

namespace {

using rapidjson::Value;

constexpr int kMostDepth = 32;  // readers refuse messages that are nested deeper than 100
constexpr auto kAnnotationFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag;

std::string_view text_of(const Value& value) { return {value.GetString(), value.GetStringLength()}; }

std::string encoded(const Value& value, InternedTexts& texts, int depth) {
  namespace field = perfetto::annotation;
  std::string to;
  protozero::pbf_writer writer(to);
  if (value.IsString()) return texts.annotation_text(readable_utf8(text_of(value)));
  if (value.IsNull() || depth > kMostDepth) return texts.annotation_text(value.IsNull() ? "null" : "...");
  if (value.IsBool()) {
    writer.add_bool(field::kBool, value.GetBool());
  } else if (value.IsUint64()) {
    writer.add_uint64(field::kUint, value.GetUint64());
  } else if (value.IsInt64()) {
    writer.add_int64(field::kInt, value.GetInt64());
  } else if (value.IsNumber()) {
    writer.add_double(field::kDouble, value.GetDouble());
  } else if (value.IsArray()) {
    // An annotation without a value cannot be told from one with an empty list.
    if (value.Empty()) return texts.annotation_text("[]");
    for (const Value& each : value.GetArray()) writer.add_message(field::kElements, encoded(each, texts, depth + 1));
  } else {
    if (value.ObjectEmpty()) return texts.annotation_text("{}");
    for (const auto& member : value.GetObject()) {
      writer.add_message(field::kEntries, texts.annotation_name(readable_utf8(text_of(member.name))) +
                                              encoded(member.value, texts, depth + 1));
    }
  }
  return to;
}

}  // namespace

std::string annotation_of_json(std::string_view json, InternedTexts& texts) {
  rapidjson::Document document;
  document.Parse<kAnnotationFlags>(json.data(), json.size());
  if (document.HasParseError()) return texts.annotation_text(readable_utf8(json));
  return encoded(document, texts, 0);
}

std::string annotations_of_members(std::string_view members, InternedTexts& texts) {
  std::string object(1, '{');
  (object += members) += '}';
  return annotations_of_object(object, texts);
}

std::string annotations_of_object(std::string_view object, InternedTexts& texts) {
  rapidjson::Document parsed;
  parsed.Parse<kAnnotationFlags>(object.data(), object.size());
  std::string to;
  if (parsed.HasParseError() || !parsed.IsObject()) return to;
  const rapidjson::Value& document = parsed;
  for (const auto& member : document.GetObject()) {
    protozero::pbf_writer(to).add_message(
        perfetto::event::kAnnotation,
        texts.annotation_name(readable_utf8(text_of(member.name))) + encoded(member.value, texts, 0));
  }
  return to;
}

}  // namespace prof::analyzer
