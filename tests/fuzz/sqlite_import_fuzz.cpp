// Any bytes as a database of nsys or nvprof: detection, import, joining and names. Nothing may crash, hang or read
// outside its memory.
#include "analyzer/base/input_error.h"
#include "analyzer/input/importer.h"
#include "analyzer/model/coverage.h"
#include "analyzer/model/names.h"
#include "analyzer/model/waiting_operations.h"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace prof::analyzer;
  static char path[] = "/tmp/sqlite_import_fuzz_XXXXXX";
  static const int file = mkstemp(path);
  static const int removed = std::atexit([] { unlink(path); });
  if (file < 0 || removed != 0 || ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  try {
    const auto trace = read_trace(std::vector<std::string>{path}, {});
    const KernelNames names(*trace);
    const WaitingOperations depth(*trace);
    coverage_line(*trace);
  } catch (const InputError&) {  // a file that is not a trace
  }
  return 0;
}
