#include "analyzer/table/table_document.h"

#include "analyzer/base/sink.h"
#include "analyzer/table/table_pages.h"

#include <fmt/format.h>

namespace prof::analyzer {

TableDocument::TableDocument(Sink& sink, TableForm form, TimeUnit unit, size_t tables, size_t width)
    : sink_(sink), form_(form), unit_(unit), tables_(tables), width_(width) {}

// What is between two parts, and before the first one.
void TableDocument::begin_part() {
  const bool first = added_++ == 0;
  if (tables_ == 1) return;
  switch (form_) {
    case TableForm::Json:
      sink_.write(first ? fmt::format("{{\"schema_version\":{},\"reports\":[\n", kTableSchemaVersion) : ",");
      break;
    case TableForm::Html:
      if (first) write_page_head("prof report", sink_);
      break;
    default:
      if (!first) sink_.write("\n");
  }
}

void TableDocument::add(const Table& table) {
  begin_part();
  switch (form_) {
    case TableForm::Text: write_text_table(table, unit_, width_, sink_); break;
    case TableForm::Csv: write_table(table, TableFormat::Csv, unit_, sink_); break;
    case TableForm::Json: write_table(table, TableFormat::Json, unit_, sink_); break;
    case TableForm::Markdown: write_markdown(table, unit_, sink_); break;
    case TableForm::Html:
      if (tables_ == 1) write_page_head(table.title(), sink_);
      write_page_section(table, unit_, sink_);
      if (tables_ == 1) write_page_end(sink_);
      break;
  }
}

void TableDocument::add_page(std::string_view title, std::string_view name, std::string_view page) {
  begin_part();
  if (tables_ == 1) {
    sink_.write(page);
  } else {
    write_page_in_page(title, name, page, sink_);
  }
}

void TableDocument::close() {
  if (tables_ == 1 || added_ == 0) return;
  if (form_ == TableForm::Json) sink_.write("]}\n");
  if (form_ == TableForm::Html) write_page_end(sink_);
}

void write_document(const Table& table, TableForm form, TimeUnit unit, Sink& sink, size_t width) {
  TableDocument document(sink, form, unit, 1, width);
  document.add(table);
  document.close();
}

}  // namespace prof::analyzer
