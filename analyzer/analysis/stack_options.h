// How are call stacks named, folded and joined? Set from command line options.
#pragma once

#include "analyzer/model/names.h"
#include "analyzer/symbols/symbols.h"

#include <string>
#include <vector>

namespace prof::analyzer {

struct StackOptions {
  SymbolOptions symbols;
  std::vector<std::string> fold;  // arguments of --fold
  NameForm names = NameForm::Short;
  bool no_forward = false;  // do not join stacks of backward operators and autograd's threads to others
};

}  // namespace prof::analyzer
