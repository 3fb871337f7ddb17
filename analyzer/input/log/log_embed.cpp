#include "analyzer/input/log/log_embed.h"

#include "analyzer/input/log/log_definitions.h"
#include "analyzer/input/log/log_kinds.h"
#include "preload/format/codec.h"
#include "preload/format/crc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace prof::analyzer {

namespace {

// Definition blocks of one thread; each is sealed when it is full.
class DefinitionBlocks {
 public:
  DefinitionBlocks(uint32_t thread, uint64_t base_tick) : thread_(thread), base_tick_(base_tick) {}

  template <class T> void add(const T& record) {
    uint8_t bytes[2 * format::kMaxRecordBytes];
    format::CodecState state{base_tick_};  // definitions have no differences except those of times
    const auto size = static_cast<uint32_t>(format::encode(bytes, record, state) - bytes);
    if (blocks_.empty() || size > format::kPayloadBytes - blocks_.back().header.committed) open();
    format::Block& block = blocks_.back();
    std::memcpy(block.payload + block.header.committed, bytes, size);
    block.header.committed += size;
    ++block.header.records;
  }
  const std::vector<format::Block>& finish() {
    seal();
    return blocks_;
  }

 private:
  void open() {
    seal();
    format::BlockHeader& header = blocks_.emplace_back().header;
    header.magic = format::kBlockMagic;
    header.kind = format::BlockKind::Definitions;
    header.thread = thread_;
    header.sequence = blocks_.size() - 1;
    header.base_tick = base_tick_;
  }
  void seal() {
    if (blocks_.empty()) return;
    format::Block& block = blocks_.back();
    block.header.flags = format::kBlockSealed;
    std::memset(block.header.crc, 0, sizeof block.header.crc);
    format::block_crc(block, block.header.crc);
  }
  const uint32_t thread_;
  const uint64_t base_tick_;
  std::vector<format::Block> blocks_;
};

class Embedder {
 public:
  Embedder(const LogFile& log, const Trace& trace, const Symbols& symbols)
      : log_(log),
        trace_(trace),
        symbols_(symbols),
        definitions_(load_definitions(log)),
        blocks_(free_thread(), log.header().start_tick) {
    definitions_.strings.for_each([&](format::StringId id, std::string_view) {
      next_string_ = std::max(next_string_, static_cast<uint32_t>(id) + 1);
    });
    // Any image of a module can be used.
    definitions_.images.for_each([&](format::ImageId id, const format::ImageDef& image) {
      images_.try_emplace(std::pair(definitions_.strings[image.path], image.build_id), id);
    });
  }

  EmbedResult write(Sink& sink) {
    const uint64_t whole = (log_.log_bytes() - format::kBlocksOffset) / format::kBlockBytes;
    if (log_.still_written()) throw std::runtime_error(fmt::format("{}: its program still writes it", log_.path()));
    if (log_.log_bytes() != format::kBlocksOffset + whole * format::kBlockBytes)
      throw std::runtime_error(fmt::format("{}: its end is missing, so nothing can be appended", log_.path()));
    EmbedResult result;
    result.addresses = define();
    const std::vector<format::Block>& added = blocks_.finish();
    if (!added.empty()) {
      write_header(sink, whole + added.size());
    } else {
      put(sink, log_.bytes_at(0), format::kBlocksOffset);
    }
    put(sink, log_.bytes_at(format::kBlocksOffset), whole * format::kBlockBytes);
    put(sink, added.data(), added.size() * format::kBlockBytes);
    result.bytes_before = log_.log_bytes();
    result.bytes_after = log_.log_bytes() + added.size() * format::kBlockBytes;
    return result;
  }

 private:
  uint32_t free_thread() const {
    uint32_t largest = 0;
    for (const BlockRef& block : log_.blocks()) largest = std::max(largest, block.thread);
    return largest + 1;
  }
  static void put(Sink& sink, const void* bytes, size_t count) { sink.write({static_cast<const char*>(bytes), count}); }

  uint64_t define() {
    std::unordered_set<uint32_t> known;
    for (const KnownSymbol& each : trace_.symbols) known.insert(static_cast<uint32_t>(each.frame));
    uint64_t addresses = 0;
    for (uint32_t f = 1; f < trace_.stacks.frames(); ++f) {
      const Frame& frame = trace_.stacks[static_cast<FrameId>(f)];
      const std::span<const SymbolFrame> found = symbols_.at(static_cast<FrameId>(f));
      if (frame.kind != FrameKind::Native || found.empty() || known.contains(f)) continue;
      const Module& module = trace_.stacks[frame.module];
      const auto image = images_.find({trace_.text(module.path), trace_.text(module.build_id)});
      if (image == images_.end()) continue;
      ++addresses;
      for (size_t i = 0; i < found.size(); ++i) {
        format::SymbolDef symbol;
        symbol.image = image->second;
        symbol.address = frame.address;
        symbol.function = string(found[i].function);
        symbol.file = string(found[i].file);
        symbol.line = found[i].line;
        symbol.inlined = i + 1 < found.size() ? 1 : 0;
        blocks_.add(symbol);
      }
    }
    return addresses;
  }

  format::StringId string(StringId of_symbols) {
    const std::string_view text = symbols_.text(of_symbols);
    if (text.empty()) return {};
    const auto [found, added] = strings_.try_emplace(static_cast<uint32_t>(of_symbols), format::StringId{next_string_});
    if (!added) return found->second;
    ++next_string_;
    for (size_t offset = 0; offset < text.size(); offset += format::kMaxTextBytes)
      blocks_.add(format::StringPart{found->second, text.size(), offset, text.substr(offset, format::kMaxTextBytes)});
    return found->second;
  }

  // The header with the kind `symbol` in its table, and the page of loss counters with room for the new blocks.
  void write_header(Sink& sink, uint64_t blocks) const {
    format::FileHeader header = log_.header();
    std::string kinds(log_.kind_table_text());
    if (log_.kinds().find(format::SymbolDef::kKind) == nullptr)
      kinds += compiled_signature(format::SymbolDef::kKind) + "\n";
    const std::string_view counters = log_.counter_names_text();
    if (sizeof header + kinds.size() + counters.size() > format::kHeaderBytes)
      throw std::runtime_error(fmt::format("{}: its header has no room for another kind of record", log_.path()));
    header.kind_table_bytes = static_cast<uint32_t>(kinds.size());
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes += kinds;
    bytes += counters;
    bytes.resize(format::kHeaderBytes);
    format::CounterPage page = log_.counter_page();
    page.blocks_reserved = std::max(page.blocks_reserved, blocks);
    bytes.append(reinterpret_cast<const char*>(&page), sizeof page);
    sink.write(bytes);
  }

  const LogFile& log_;
  const Trace& trace_;
  const Symbols& symbols_;
  const LogDefinitions definitions_;
  DefinitionBlocks blocks_;
  uint32_t next_string_ = 1;
  std::map<std::pair<std::string_view, std::string_view>, format::ImageId> images_;  // by path and build-id
  std::unordered_map<uint32_t, format::StringId> strings_;
};

}  // namespace

EmbedResult write_with_symbols(const LogFile& log, const Trace& trace, const Symbols& symbols, Sink& sink) {
  return Embedder(log, trace, symbols).write(sink);
}

}  // namespace prof::analyzer
