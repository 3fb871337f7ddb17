// prof devices [INPUT…]: the table of peaks with which reports compare. With inputs, it prints what is known about
// each of their devices. With --measure, it prints the rates that the GPUs of this machine reach.
#include "analyzer/analysis/cost/device_peaks.h"
#include "analyzer/base/sink.h"
#include "analyzer/command/command.h"
#include "analyzer/command/device_rates.h"
#include "analyzer/command/input_list.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/table_options.h"
#include "analyzer/model/process_names.h"
#include "analyzer/reports/run_report.h"

#include <fmt/format.h>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace prof::analyzer {

namespace {

struct DevicesArguments {
  std::vector<std::string> inputs, files;
  std::string as, cublas, store;
  bool measure = false;
  TableOptions table;
};

void add_columns(Table& table, bool of_inputs) {
  if (of_inputs) table.add_column(ColumnId::pid);
  if (of_inputs) table.add_column(ColumnId::device);
  if (of_inputs) table.add_column(ColumnId::trace_name);
  table.add_columns({ColumnId::name, ColumnId::from});
  for (size_t type = 0; type < kPeakTypes; ++type) {
    const std::string_view name = peak_type_name(static_cast<PeakType>(type));
    table.add_named_column(ColumnId::peak_rate, fmt::format("{} (TFLOP/s)", name), std::string(name));
  }
  table.add_columns({ColumnId::bandwidth_gbs, ColumnId::memory_gb, ColumnId::units, ColumnId::mhz, ColumnId::tensor_mhz,
                     ColumnId::link, ColumnId::date});
}

void add_peaks(const DevicePeaks& peaks, Table::Row& row) {
  const auto number = [&](double value) { row.add_if(value > 0, value); };
  const auto count = [&](uint32_t value) { row.add_if(value != 0, value); };
  const auto text = [&](const std::string& value) { row.add_text(value); };
  text(peaks.name);
  row.add(peak_origin_name(peaks.origin));
  for (const double tera : peaks.tera) number(tera);
  number(peaks.bandwidth_gbs);
  number(peaks.memory_gb);
  count(peaks.units);
  count(peaks.mhz);
  count(peaks.tensor_mhz);
  text(peaks.link);
  text(peaks.date);
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

Table list_inputs(const DeviceTable& devices, const Trace& trace, const std::string& as, TableForm form) {
  Table table("devices", "Peaks of the devices of the input, dense, by data type");
  add_columns(table, true);
  const std::vector<std::string> names = process_names(trace);
  const bool several = has_several_processes(trace);
  size_t known = 0;
  for (const Device& device : trace.devices) {
    const DevicePeaks peaks = devices.of(device, as);
    {
      Table::Row row = table.row();
      row.add_owner(device.process).add(device.ordinal).add(std::string_view(device.name));
      add_peaks(peaks, row);
    }
    known += peaks.known() ? 1 : 0;
    if (!peaks.reason.empty()) {
      const std::string owner = several ? fmt::format(" of {}", names[index(device.process)]) : "";
      table.notes.push_back(fmt::format("device {}{}: {}", device.ordinal, owner, peaks.reason));
    }
  }
  name_owners(trace, owners_shown(form), table);
  table.coverage = fmt::format("devices {}, with peaks {}", trace.devices.size(), known);
  return table;
}

// A row in the form that DeviceTable::add_rows reads.
std::string row_text(const DevicePeaks& peaks) {
  std::string text = peaks.name + ':';
  for (size_t type = 0; type < kPeakTypes; ++type) {
    if (peaks.tera[type] > 0)
      text += fmt::format(" {}={:.1f}", peak_type_name(static_cast<PeakType>(type)), peaks.tera[type]);
  }
  if (peaks.bandwidth_gbs > 0) text += fmt::format(" bandwidth={:.0f}", peaks.bandwidth_gbs);
  return text + fmt::format(" units={}\n", peaks.units);
}

// Writes the rows into the file. They replace rows with the same names. Readers see either the old or the new file.
void store_rows(const std::vector<MeasuredDevice>& devices, const std::string& file) {
  std::string text;
  std::ifstream old(file);
  for (std::string line; std::getline(old, line);) {
    const bool replaced = std::any_of(devices.begin(), devices.end(), [&](const MeasuredDevice& each) {
      return line.starts_with(each.rates.name + ':') || line.starts_with("# " + each.rates.name + ':');
    });
    if (!replaced) text += line + '\n';
  }
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char date[16] = "";
  std::strftime(date, sizeof date, "%F", std::gmtime(&now));
  for (const MeasuredDevice& each : devices)
    text += fmt::format("# {}: measured {}: {}\n", each.rates.name, date, each.how) + row_text(each.rates);
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
  try {
    Sink out(file);
    out.write(text);
    out.close();
  } catch (const OutputError& error) {
    throw std::runtime_error(fmt::format("{}; name another file with --store FILE", error.what()));
  }
}

int measure(const DevicesArguments& options, const DeviceTable& devices, TableForm form, Sink& sink) {
  const std::vector<MeasuredDevice> measured = measure_devices(options.cublas, [](const std::string& next) {
    if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "prof: measuring {}\n", next);
  });
  Table table("devices", "What the GPUs of this machine reach, dense, by data type");
  add_columns(table, false);
  for (const MeasuredDevice& each : measured) {
    const DevicePeaks& rates = each.rates;
    {
      Table::Row row = table.row();
      add_peaks(rates, row);
    }
    Device device;
    device.name = rates.name;
    const DevicePeaks peaks = devices.of(device);
    std::string shares;
    const auto share = [&](std::string_view name, double reached, double peak) {
      if (reached > 0 && peak > 0)
        shares += fmt::format("{}{} {:.0f} %", shares.empty() ? "" : ", ", name, 100 * reached / peak);
    };
    for (size_t type = 0; type < kPeakTypes; ++type)
      share(peak_type_name(static_cast<PeakType>(type)), rates.tera[type], peaks.tera[type]);
    share("bandwidth", rates.bandwidth_gbs, peaks.bandwidth_gbs);
    table.notes.push_back(fmt::format("{}: {}", rates.name, each.how));
    if (!shares.empty())
      table.notes.push_back(fmt::format("{}: of the peaks of {}: {}", rates.name, peaks.name, shares));
    for (const std::string& missing : each.missing)
      table.notes.push_back(fmt::format("{}: not measured: {}", rates.name, missing));
  }
  const std::string file = options.store.empty() ? measured_devices_file() : options.store;
  store_rows(measured, file);
  const std::string use = options.store.empty() ? "measured" : file;
  table.notes.push_back(fmt::format("kept in {}: reports compare with it under --devices {}", file, use));
  table.coverage = fmt::format("{} kinds of GPUs measured", measured.size());
  write_document(table, form, options.table.unit, sink, options.table.output.terminal_columns());
  sink.close();
  const bool all =
      std::all_of(measured.begin(), measured.end(), [](const MeasuredDevice& each) { return each.missing.empty(); });
  return all ? kComplete : kPartial;
}

int run_devices(const DevicesArguments& options) {
  ignore_broken_pipes();
  const TableForm form = options.table.answer_form("devices");
  const OutputOptions& output = options.table.output;
  const std::vector<std::string> inputs = input_files(options.inputs);
  std::vector<std::string> read = inputs;
  read.insert(read.end(), options.files.begin(), options.files.end());
  check_output(output.path, output.force, read);
  DeviceTable devices;
  for (const std::string& file : options.files) devices.read_file(file);
  Sink sink(output.path);
  const auto write = [&](const Table& table) {
    write_document(table, form, options.table.unit, sink, output.terminal_columns());
    sink.close();
  };
  if (options.measure) return measure(options, devices, form, sink);
  if (inputs.empty()) {
    write(list_rows(devices));
    return kComplete;
  }
  const std::unique_ptr<Trace> trace = read_inputs(inputs);
  write(list_inputs(devices, *trace, options.as, form));
  return tell_damage(*trace);
}

}  // namespace

void add_devices(CLI::App& app, Run& run) {
  CLI::App* const verb = app.add_subcommand("devices", "the peaks of GPUs that reports compare with");
  const auto options = std::make_shared<DevicesArguments>();
  verb->add_option("FILE", options->inputs, "logs or traces: which devices they have and what is known of them");
  verb->add_option("--devices", options->files,
                   "file of rows of your own, looked at first; measured: those that --measure kept")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->option_text("FILE");
  verb->add_option("--device-as", options->as, "take the devices of the input for this GPU")->option_text("NAME");
  CLI::Option* const measured = verb->add_flag("--measure", options->measure,
                                               "run copies and products of matrices on the GPUs of this machine, and "
                                               "keep what they reach as rows for --devices measured");
  measured->excludes(verb->get_option("FILE"));
  verb->add_option("--store", options->store, "with --measure: keep the rows in this file")
      ->needs(measured)
      ->option_text("FILE");
  verb->add_option("--cublas", options->cublas, "with --measure: the libcublas to use, instead of searching for one")
      ->needs(measured)
      ->option_text("FILE");
  options->table.add_to(*verb, kTableForms);
  verb->callback([options, &run] { run = [options] { return run_devices(*options); }; });
}

}  // namespace prof::analyzer
