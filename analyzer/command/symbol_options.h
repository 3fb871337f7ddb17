// The options of every verb that shows call stacks: where symbols are searched, and which frames of a stack are shown.
#pragma once

#include "analyzer/analysis/stacks/call_stacks.h"

#include <CLI/CLI.hpp>

namespace prof::analyzer {

inline void add_symbol_search(CLI::App& verb, SymbolOptions& symbols) {
  SymbolSearch& search = symbols.search;
  verb.add_option("--symbol-path", search.symbol_path,
                  "files, or folders with files, of the program's code and debug information; searched first")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->option_text("PATH");
  verb.add_option("--sysroot", search.sysroot, "folder in which the files lie that the program saw below /")
      ->option_text("FOLDER");
  verb.add_flag("--debuginfod", search.debuginfod, "ask the servers of DEBUGINFOD_URLS for what is not here");
  symbols.cache = default_symbol_cache();
  verb.add_option(
          "--symbol-cache", symbols.cache,
          "where names that were found are kept for the next time; off: nowhere. Without it ~/.cache/prof/symbols")
      ->envname("PROF_SYMBOL_CACHE")
      ->transform([](const std::string& given) { return given == "off" ? std::string() : given; })
      ->option_text("FOLDER");
}

inline void add_symbol_options(CLI::App& verb, StackOptions& options) {
  add_symbol_search(verb, options.symbols);
  verb.add_flag("--no-symbols", options.symbols.off,
                "read no file of the program: native frames that the log does not name stay addresses, module+0x...");
  verb.add_flag("--no-forward-stacks", options.no_forward,
                "launches of backward operators keep to their own stack: it does not go on in that of the forward "
                "operator or of the call of backward()");
  verb.add_option("--fold", options.fold, "file of rules for frames to hide or draw together; none: show every frame")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->option_text("FILE");
}

}  // namespace prof::analyzer
