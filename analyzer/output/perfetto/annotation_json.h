// How does a JSON value become a DebugAnnotation? Numbers stay numbers, texts are interned, objects and arrays are
// nested. null has no counterpart and becomes the text "null".
#pragma once

#include "analyzer/output/perfetto/interned_texts.h"

#include <string>
#include <string_view>

namespace prof::analyzer {

// The encoded value: fields of a DebugAnnotation without its name. Text that is not JSON becomes a text.
std::string annotation_of_json(std::string_view json, InternedTexts& texts);

// `"a":1,"b":[]` as encoded annotations of a TrackEvent.
std::string annotations_of_members(std::string_view members, InternedTexts& texts);

// The same of a whole object.
std::string annotations_of_object(std::string_view object, InternedTexts& texts);

}  // namespace prof::analyzer
