// Reads many inputs one by one, each into a model of its own, which the caller reduces and drops. So memory does not
// grow with the number of inputs. Used where an answer needs only sums of each input: the report `ranks`, and to find
// the inputs that cannot be used.
#pragma once

#include "analyzer/input/importer.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace prof::analyzer {

// Calls take(i, model of paths[i]) for each input that can be read, and failed(i, text of the error) for the others,
// in any order, on all cores: both are called by several threads at a time. An InputError or std::runtime_error of
// take() is a failure of that input. options.progress is called with the share of inputs that are done, one call at a
// time.
void each_input(const std::vector<std::string>& paths, const ImportOptions& options,
                const std::function<void(size_t, std::unique_ptr<Trace>)>& take,
                const std::function<void(size_t, const std::string&)>& failed);

// The inputs that cannot be used, in the order of the paths: each is read once, alone.
std::vector<UnusableInput> unusable_inputs(const std::vector<std::string>& paths, const ImportOptions& options);

}  // namespace prof::analyzer
