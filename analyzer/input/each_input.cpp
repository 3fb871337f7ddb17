#include "analyzer/input/each_input.h"

#include "analyzer/base/parallel.h"

#include <mutex>
#include <stdexcept>

namespace prof::analyzer {

void each_input(const std::vector<std::string>& paths, const ImportOptions& options,
                const std::function<void(size_t, std::unique_ptr<Trace>)>& take,
                const std::function<void(size_t, const std::string&)>& failed) {
  std::mutex mutex;
  size_t done = 0;
  ImportOptions each;
  each.workers = paths.size() == 1 ? options.workers : 1;  // the cores have inputs of their own
  parallel_for(
      paths.size(),
      [&](size_t i) {
        try {
          take(i, read_trace({paths[i]}, each));
        } catch (const std::runtime_error& error) {
          failed(i, error.what());
        }
        const std::lock_guard lock(mutex);
        ++done;
        if (options.progress) options.progress(static_cast<double>(done) / static_cast<double>(paths.size()));
      },
      options.workers != 0 ? options.workers : worker_count());
}

std::vector<UnusableInput> unusable_inputs(const std::vector<std::string>& paths, const ImportOptions& options) {
  std::vector<std::string> errors(paths.size());
  each_input(
      paths, options, [](size_t, const std::unique_ptr<Trace>&) {},
      [&](size_t i, const std::string& error) {
        errors[i] = error.starts_with(paths[i]) ? error : paths[i] + ": " + error;
      });
  std::vector<UnusableInput> unusable;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (!errors[i].empty()) unusable.push_back({paths[i], std::move(errors[i])});
  }
  return unusable;
}

}  // namespace prof::analyzer
