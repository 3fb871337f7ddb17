// prof trace LOG…: a Chrome trace of everything recorded.
#include "analyzer/command/command.h"
#include "analyzer/command/inputs.h"
#include "analyzer/output/chrome_trace.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

namespace prof::analyzer {

namespace {

struct Options {
  std::vector<std::string> inputs;
  std::string output;
  bool plain = false;
  int level = 1;
};

int run_trace(const Options& options) {
  ignore_broken_pipes();
  const std::unique_ptr<Trace> trace = read_inputs(options.inputs);
  const std::string path = options.output.empty() ? options.inputs.front() + ".trace.json.gz" : options.output;
  const KernelNames names(*trace);
  const QueueDepth depth(*trace);
  Sink sink(path, options.level);
  ChromeTraceOptions chrome;
  chrome.plain = options.plain;
  chrome.name = path;
  const ChromeTraceResult result = write_chrome_trace(*trace, names, depth, chrome, sink);
  sink.close();
  if (path != "-") {
    std::fprintf(stderr, "prof: %s: %llu events; open it in ui.perfetto.dev or chrome://tracing\n", path.c_str(),
                 static_cast<unsigned long long>(result.events));
  }
  std::fprintf(stderr, "prof: %s\n", coverage_line(*trace).c_str());
  return tell_damage(*trace);
}

}  // namespace

void add_trace(CLI::App& app, Run& run) {
  CLI::App* const verb =
      app.add_subcommand("trace", "write a trace for ui.perfetto.dev, chrome://tracing and torch.profiler's readers");
  const auto options = std::make_shared<Options>();
  verb->add_option("LOG", options->inputs, "logs; several become one trace")->required();
  verb->add_option("-o,--output", options->output,
                   "file, - for stdout; .gz compresses (default: FIRST-LOG.trace.json.gz)");
  verb->add_flag("--plain", options->plain,
                 "only what torch.profiler would write: no queue depth, NVTX path or counters");
  verb->add_option("--level", options->level, "gzip level")->check(CLI::Range(1, 9))->capture_default_str();
  verb->callback([options, &run] { run = [options] { return run_trace(*options); }; });
}

}  // namespace prof::analyzer
