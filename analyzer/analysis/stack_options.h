// How call stacks are named, folded and joined: what the command line says of them.
#pragma once

#include "analyzer/model/names.h"
#include "analyzer/symbols/symbols.h"

#include <string>
#include <vector>

namespace prof::analyzer {

struct StackOptions {
  SymbolOptions symbols;
  std::vector<std::string> fold;  // words of --fold
  NameForm names = NameForm::Short;
  bool no_forward = false;  // backward operators and autograd's threads keep to their own stacks
};

}  // namespace prof::analyzer
