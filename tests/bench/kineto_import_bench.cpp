// How fast the text of a Kineto trace becomes a model, and how much memory that takes. Uses a synthetic trace with the
// mix of events of a training step under torch.profiler: operators with shapes, Python frames, memory instants,
// launches, kernels and the arrows between them, about 310 bytes per event.
//
//   kineto_import_bench [MEGABYTES]          makes the trace (150), imports it plain and gzip, with one worker and two;
//                                            status 1 if two workers read one more slowly than the limit
//   kineto_import_bench --make FILE MEGABYTES
//   kineto_import_bench --run FILE WORKERS TEXT_BYTES
#include "analyzer/base/sink.h"
#include "analyzer/input/importer.h"
#include "tests/bench/limits.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

using namespace prof;

// Of all threads of the process. A loaded machine does not distort it.
double cpu_seconds() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

uint64_t peak_bytes() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

// Of JSON per second, by two workers on two cores; of gzip data, what it holds.
constexpr double kMinMegabytes = 350, kMinGzMegabytes = 280;

std::string micros(uint64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

// One operator with all its events, about 6.
std::string operator_events(uint64_t i) {
  const uint64_t at = 4'393'112'270'693'328 + i * 40'000;
  const uint64_t tid = 456 + i % 2 * 45, correlation = i + 10, depth = i % 97 * 8 + 8;
  std::string out = fmt::format(
      "  {{\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"torch/nn/modules/module.py(1775): "
      "_call_impl{}\", "
      "\"pid\": 456, \"tid\": {},\n    \"ts\": {}, \"dur\": 38.123,\n    \"args\": {{\n      \"Python parent id\": {}, "
      "\"Python id\": {}, \"Ev Idx\": {}\n    }}\n  }},\n",
      i % 300, tid, micros(at), i, i + 1, i);
  for (int nested = 0; nested < 2; ++nested)
    out += fmt::format(
        "  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::{}\", \"pid\": 456, \"tid\": {},\n    \"ts\": "
        "{}, "
        "\"dur\": {},\n    \"args\": {{\n      \"External id\": {},\"Record function id\": 0, \"Sequence number\": {}, "
        "\"Fwd "
        "thread id\": 1, \"Concrete Inputs\": [\"\", \"\"], \"Input type\": [\"float\", \"float\"], \"Input "
        "Strides\": [[{}, 1], [512, 1]], \"Input Dims\": [[1024, {}], [{}, 512]], \"Ev Idx\": {}\n    }}\n  }},\n",
        nested == 0 ? "matmul" : "mm", tid, micros(at + 1000 + 500ull * nested), nested == 0 ? "30.250" : "28.001",
        2 * i + nested, i, depth, depth, depth, i);
  out += fmt::format(
      "  {{\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\",\n    \"pid\": "
      "456, \"tid\": "
      "{},\n    \"ts\": {},\n    \"args\": {{\n      \"Total Reserved\": 648019968, \"Total Allocated\": {}, "
      "\"Bytes\": {}, "
      "\"Device Id\": 0, \"Device Type\": 1, \"Addr\": {}, \"finished\": false, \"Ev Idx\": {}\n    }}\n  }},\n",
      tid, micros(at + 2000), 573607424 + i % 1000, i % 2 == 0 ? 512 : -512, 140024020467712 + i % 100 * 512, i);
  out += fmt::format(
      "  {{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 456, \"tid\": "
      "{},\n    "
      "\"ts\": {}, \"dur\": 5.419,\n    \"args\": {{\n      \"External id\": {},\"cbid\": 211, \"correlation\": {}\n   "
      " }}\n  }},\n"
      "  {{\n    \"ph\": \"s\", \"id\": {}, \"pid\": 456, \"tid\": {}, \"ts\": {},\n    \"cat\": \"ac2g\", \"name\": "
      "\"ac2g\"\n  "
      "}},\n",
      tid, micros(at + 5000), 2 * i + 1, correlation, correlation, tid, micros(at + 5000));
  out += fmt::format(
      "  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void at::native::vectorized_elementwise_kernel<4, "
      "at::native::FillFunctor<float>, std::array<char*, {}ul> >(int, at::native::FillFunctor<float>, "
      "std::array<char*, "
      "1ul>)\", \"pid\": 0, \"tid\": 7,\n    \"ts\": {}, \"dur\": 8.128,\n    \"args\": {{\n      \"External id\": {}, "
      "     "
      "\"queued\": 0, \"device\": 0, \"context\": 1,      \"stream\": 7, \"correlation\": {},      \"registers per "
      "thread\": 16,  "
      "    \"shared memory\": 0,      \"blocks per SM\": 62.060608,      \"warps per SM\": 248.242432,      \"grid\": "
      "[{}, 1, "
      "1],      \"block\": [128, 1, 1],      \"est. achieved occupancy %\": 100\n    }}\n  }},\n"
      "  {{\n    \"ph\": \"f\", \"id\": {}, \"pid\": 0, \"tid\": 7, \"ts\": {},\n    \"cat\": \"ac2g\", \"name\": "
      "\"ac2g\", "
      "\"bp\": \"e\"\n  }},\n",
      i % 200, micros(at + 20'000), 2 * i + 1, correlation, i % 50 * 64 + 1, correlation, micros(at + 20'000));
  return out;
}

void make(const std::string& path, uint64_t bytes) {
  analyzer::Sink plain(path), gz(path + ".gz", 6);
  const auto write = [&](const std::string& text) {
    plain.write(text);
    gz.write(text);
  };
  write(
      "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H200\", \"numSms\": 132}],\n"
      "  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": 1790857026000000000,\n  \"traceEvents\": [\n");
  uint64_t written = 0;
  for (uint64_t i = 0; written < bytes; ++i) {
    const std::string events = operator_events(i);
    written += events.size();
    write(events);
  }
  write(
      "  {\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 456, \"tid\": 0, \"args\": {\"name\": \"python3\"}}\n  "
      "]\n}\n");
  plain.close();
  gz.close();
}

int run(const std::string& path, unsigned workers, double text_bytes) {
  const uint64_t before = peak_bytes();
  const double cpu_before = cpu_seconds();
  const auto begin = std::chrono::steady_clock::now();
  analyzer::Trace trace;
  const analyzer::FileHead head = analyzer::read_head(path);
  const analyzer::Importer* const importer = analyzer::find_importer(head);
  if (importer == nullptr) return 1;
  analyzer::ImportOptions options;
  options.workers = workers;
  importer->import(head, trace, options);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double cpu = cpu_seconds() - cpu_before;
  const double events = std::strtod(trace.processes[0].fact("events").c_str(), nullptr);
  const double above = static_cast<double>(peak_bytes() - before);
  fmt::print(
      "{:<4} {} worker{}  {:6.1f} MB/s  {:5.2f} M events/s; CPU time {:5.2f} s, {:6.1f} MB/s and {:4.0f} ns an event "
      "over "
      "all threads; peak {:5.1f} bytes an event, {:5.1f} beyond the first 64 MiB\n",
      head.compressed ? "gz" : "json", workers, workers == 1 ? " " : "s", text_bytes / wall / 1e6, events / wall / 1e6,
      cpu, text_bytes / cpu / 1e6, 1e9 * cpu / events, above / events, (above - (64 << 20)) / events);
  std::fflush(stdout);
  bool ok = trace.processes[0].coverage.operations_linked == trace.operations.size();
  if (workers == 2)
    ok &= bench::at_least(head.compressed ? kMinGzMegabytes : kMinMegabytes, head.compressed ? "gzip" : "JSON",
                          text_bytes / wall / 1e6, "MB/s");
  return ok ? 0 : 1;
}

}  // namespace

// The trace is made, and every import is done, in a separate process, so that memory does not add up.
int main(int argc, char** argv) {
  const std::string self = "'" + std::string(argv[0]) + "' ";
  if (argc == 4 && std::string(argv[1]) == "--make") {
    make(argv[2], std::strtoull(argv[3], nullptr, 10) << 20);
    return 0;
  }
  if (argc == 5 && std::string(argv[1]) == "--run")
    return run(argv[2], static_cast<unsigned>(std::atoi(argv[3])), std::strtod(argv[4], nullptr));
  const long megabytes = argc > 1 ? std::atol(argv[1]) : 150;
  const std::string path = "/tmp/kineto_import_bench." + std::to_string(getpid()) + ".json";
  const bool made = std::system((self + "--make " + path + " " + std::to_string(megabytes)).c_str()) == 0;
  const std::string size = made ? std::to_string(std::filesystem::file_size(path)) : "0";
  bool ok = made;
  for (const char* suffix : {"", ".gz"}) {
    for (const char* workers : {" 1 ", " 2 "}) {
      if (made) ok &= std::system((self + "--run " + path + suffix + workers + size).c_str()) == 0;
    }
  }
  std::remove(path.c_str());
  std::remove((path + ".gz").c_str());
  return ok ? 0 : 1;
}
