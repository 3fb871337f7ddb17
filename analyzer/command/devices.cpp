// prof devices [INPUT…]: the table of peaks that reports compare with; with inputs, what is known of each of their devices.
#include "analyzer/model/devices.h"

#include "analyzer/command/command.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/table_options.h"
#include "analyzer/output/sink.h"

#include <fmt/format.h>

#include <memory>

namespace prof::analyzer {

namespace {

struct Options {
  std::vector<std::string> inputs, files;
  std::string as;
  TableOptions table;
};

void add_columns(Table& table, bool of_inputs) {
  if (of_inputs) table.add_column("Pid", "pid", CellType::Count);
  if (of_inputs) table.add_column("Device", "device", CellType::Count);
  if (of_inputs) table.add_column("Name in the trace", "trace_name", CellType::Text);
  table.add_column("Name", "name", CellType::Text);
  table.add_column("From", "from", CellType::Text);
  for (size_t type = 0; type < kPeakTypes; ++type) {
    const std::string_view name = peak_type_name(static_cast<PeakType>(type));
    table.add_column(fmt::format("{} (TFLOP/s)", name), std::string(name), CellType::Real, 1);
  }
  table.add_column("Bandwidth (GB/s)", "bandwidth_gbs", CellType::Real, 0);
  table.add_column("Memory (GB)", "memory_gb", CellType::Real, 0);
  table.add_column("Units", "units", CellType::Count);
  table.add_column("MHz", "mhz", CellType::Count);
  table.add_column("Tensor MHz", "tensor_mhz", CellType::Count);
  table.add_column("Link", "link", CellType::Text);
  table.add_column("Date", "date", CellType::Text);
}

void add_peaks(const DevicePeaks& peaks, Table::Row& row) {
  const auto number = [&](double value) { value > 0 ? row.add(value) : row.empty(); };
  const auto count = [&](uint32_t value) { value != 0 ? row.add(value) : row.empty(); };
  const auto text = [&](const std::string& value) { value.empty() ? row.empty() : row.add(std::string_view(value)); };
  text(peaks.name);
  row.add(peak_origin_name(peaks.origin));
  for (const double tera : peaks.tera) number(tera);
  number(peaks.bandwidth_gbs), number(peaks.memory_gb);
  count(peaks.units), count(peaks.mhz), count(peaks.tensor_mhz);
  text(peaks.link), text(peaks.date);
}

Table list_rows(const DeviceTable& devices) {
  Table table("devices", "Peaks of known GPUs, dense, by data type");
  add_columns(table, false);
  for (const DevicePeaks& peaks : devices.rows()) {
    Table::Row row = table.row();
    add_peaks(peaks, row);
  }
  table.coverage = fmt::format("{} GPUs", devices.rows().size());
  table.notes.push_back("without 2:4 sparsity; int8: TOP/s; tf32 to fp4 of tensor or matrix cores; units: SMs or CUs");
  return table;
}

Table list_inputs(const DeviceTable& devices, const Trace& trace, const std::string& as) {
  Table table("devices", "Peaks of the devices of the input, dense, by data type");
  add_columns(table, true);
  size_t known = 0;
  for (const Device& device : trace.devices) {
    const DevicePeaks peaks = devices.of(device, as);
    {
      Table::Row row = table.row();
      row.add(trace.processes[index(device.process)].pid).add(device.ordinal).add(std::string_view(device.name));
      add_peaks(peaks, row);
    }
    known += peaks.known() ? 1 : 0;
    if (!peaks.reason.empty()) table.notes.push_back(fmt::format("device {}: {}", device.ordinal, peaks.reason));
  }
  table.coverage = fmt::format("devices {}, with peaks {}", trace.devices.size(), known);
  return table;
}

int run_devices(const Options& options) {
  ignore_broken_pipes();
  DeviceTable devices;
  for (const std::string& file : options.files) devices.read_file(file);
  Sink sink(options.table.output);
  if (options.inputs.empty()) {
    write_table(list_rows(devices), options.table.format, options.table.unit, sink);
    sink.close();
    return kComplete;
  }
  const std::unique_ptr<Trace> trace = read_inputs(options.inputs);
  write_table(list_inputs(devices, *trace, options.as), options.table.format, options.table.unit, sink);
  sink.close();
  return tell_damage(*trace);
}

}  // namespace

void add_devices(CLI::App& app, Run& run) {
  CLI::App* const verb = app.add_subcommand("devices", "the peaks of GPUs that reports compare with");
  const auto options = std::make_shared<Options>();
  verb->add_option("FILE", options->inputs, "logs or traces: which devices they have and what is known of them");
  verb->add_option("--devices", options->files, "file of rows of your own, looked at first")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->option_text("FILE");
  verb->add_option("--device-as", options->as, "take the devices of the input for this GPU")->option_text("NAME");
  options->table.add_to(*verb);
  verb->callback([options, &run] { run = [options] { return run_devices(*options); }; });
}

}  // namespace prof::analyzer
