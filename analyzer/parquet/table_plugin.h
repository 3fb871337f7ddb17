// How does prof hand tables to the plug-in that writes Parquet files and Arrow streams? The plug-in is
// lib/prof/parquet/libprof_parquet.so. It is built and shipped with one version of libarrow and libparquet, and prof
// loads it with dlopen(RTLD_LOCAL) when a table is written. So prof itself needs no Arrow, and no Arrow that a user has
// is ever used. This is the whole interface, in C: no exception and no C++ type crosses it. Offline.
//
//   open, write a batch of rows any number of times, close, free
//   open_file, read a batch of rows until it has none, close_file
//
// A batch becomes one row group, or one record batch. A function returns 0, or non-zero with a text in `error`.
// Not thread-safe; different tables may be written by different threads.
#ifndef PROF_TABLE_PLUGIN_H
#define PROF_TABLE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

// NOLINTBEGIN(readability-identifier-naming): names as in C
#ifdef __cplusplus
extern "C" {
#endif

// Raise it with every change of this file: prof refuses a plug-in of another version.
enum { PROF_TABLE_PLUGIN_VERSION = 2 };

enum prof_table_format { PROF_TABLE_PARQUET = 0, PROF_TABLE_ARROW_STREAM = 1 };
// INT: signed, 64 bits, no logical type. TEXT: UTF-8.
enum prof_table_type { PROF_TABLE_INT = 0, PROF_TABLE_REAL = 1, PROF_TABLE_BOOL = 2, PROF_TABLE_TEXT = 3 };
// Of Parquet. DELTA: DELTA_BINARY_PACKED. DICTIONARY: for columns of few different values.
enum prof_table_encoding { PROF_TABLE_PLAIN = 0, PROF_TABLE_DELTA = 1, PROF_TABLE_DICTIONARY = 2 };

struct prof_table_column {
  const char* name;
  int32_t type, encoding, nullable;
};

// The cells of a column in one batch. `values` has one element a row: int64_t, or double (REAL). BOOL: 0 or 1. TEXT:
// the number of the text. `valid` has one bit a row, the lowest first, 1: there is a value; null: every row has one.
// Text i is the bytes from offsets[i] to offsets[i + 1]. All memory belongs to the caller.
struct prof_table_cells {
  const int64_t* values;
  const uint8_t* valid;
  int64_t nulls;
  const int64_t* offsets;
  const char* bytes;
  int64_t texts;
};

struct prof_table_fact {
  const char *key, *value;
};

struct prof_table_error {
  char text[512];
};

// Writes all bytes. Non-zero: it failed, and nothing more is to be written.
typedef int (*prof_table_write)(void* file, const void* bytes, size_t size);

struct prof_table;       // a table that is being written
struct prof_table_file;  // a Parquet file that is being read

struct prof_table_plugin {
  int32_t version;
  const char* arrow_version;
  struct prof_table* (*open)(int32_t format, const struct prof_table_column* columns, size_t column_count,
                             const struct prof_table_fact* facts, size_t fact_count, prof_table_write write, void* file,
                             struct prof_table_error* error);  // null: it failed
  int (*write)(struct prof_table* table, const struct prof_table_cells* columns, size_t rows,
               struct prof_table_error* error);
  int (*close)(struct prof_table* table, struct prof_table_error* error);
  void (*free)(struct prof_table* table);  // also after a failure

  // Opens a Parquet file to read these columns: INT, BOOL or TEXT; `encoding` and `nullable` are not used. Null: it
  // failed; so it does if a column is missing or of another type. `fact`: null, or the value of that key in the file.
  struct prof_table_file* (*open_file)(const char* path, const struct prof_table_column* columns, size_t column_count,
                                       const char* key, const char** fact, struct prof_table_error* error);
  // `columns` gets the cells of each column, valid until the next call. `rows`: 0 at the end. Text i is that of row i.
  int (*read)(struct prof_table_file* file, struct prof_table_cells* columns, size_t* rows,
              struct prof_table_error* error);
  void (*close_file)(struct prof_table_file* file);
};

// The only symbol that the plug-in exports.
const struct prof_table_plugin* get_prof_table_plugin(void);

#ifdef __cplusplus
}
#endif
// NOLINTEND(readability-identifier-naming)

#endif
