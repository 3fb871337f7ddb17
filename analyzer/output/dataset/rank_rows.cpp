// The rows of the tables that compare ranks: collective_calls, pair_calls, ranks and clock_evidence. See
// process_rows.h.
#include "analyzer/analysis/bursts.h"
#include "analyzer/analysis/collectives/rank_blame.h"
#include "analyzer/output/dataset/process_rows.h"

#include <cmath>
#include <numeric>

namespace prof::analyzer::dataset {

void ProcessRows::collective_calls() {
  namespace column = dataset::collective_calls;
  if (!shared_.entries) shared_.entries.emplace(trace_);
  const CollectiveEntries& entries = *shared_.entries;
  TableBatch& batch = shared_.target.batch(TableId::collective_calls);
  for (const CommunicatorCalls& communicator : entries.communicators()) {
    for (const RankCalls& calls : communicator.of_rank) {
      const bool comparable = is_comparable(trace_, calls);
      for (const CollectiveEntry& entry : calls.calls) {
        if (trace_.threads[entry.thread].process != process_) continue;
        const std::string kind = entries.kind(entry.text);
        batch[column::tid].add(trace_.threads[entry.thread].tid);
        batch[column::communicator].add_text(communicator.name);
        batch[column::communicator_rank].add(calls.rank);
        batch[column::communicator_ranks].add_if(communicator.ranks != 0, communicator.ranks);
        batch[column::number].add(entry.number);
        batch[column::kind].add_text(kind);
        batch[column::call].add_text(entries.text(entry.text));
        batch[column::needs_all].add(needs_all(collective_kind(kind)));
        batch[column::start_ns].add(time(entry.time_ns));
        batch[column::duration_ns].add_if(entry.end_ns != INT64_MAX, entry.end_ns - entry.time_ns);
        batch[column::state].add_text(state_name(state_of_call(trace_, entry)));
        batch[column::comparable].add(comparable);
        end_row(batch);
      }
    }
  }
  end_table(batch);
}

void ProcessRows::pair_calls() {
  namespace column = dataset::pair_calls;
  if (!shared_.entries) shared_.entries.emplace(trace_);
  const CollectiveEntries& entries = *shared_.entries;
  TableBatch& batch = shared_.target.batch(TableId::pair_calls);
  for (const CommunicatorCalls& communicator : entries.communicators()) {
    for (const RankCalls& calls : communicator.of_rank) {
      const bool comparable = why_pairs_unknown(trace_, entries, calls).empty();
      for (const auto* const lists : {&calls.sends, &calls.receives}) {
        for (const auto& [peer, list] : *lists) {
          for (size_t i = 0; i < list.size(); ++i) {
            const CollectiveEntry& entry = list[i];
            if (trace_.threads[entry.thread].process != process_) continue;
            batch[column::tid].add(trace_.threads[entry.thread].tid);
            batch[column::communicator].add_text(communicator.name);
            batch[column::communicator_rank].add(calls.rank);
            batch[column::communicator_ranks].add_if(communicator.ranks != 0, communicator.ranks);
            batch[column::peer].add_if(peer >= 0, peer);
            batch[column::kind].add_text(entries.kind(entry.text));
            batch[column::number].add(i + 1);
            batch[column::arguments].add_text(entries.pair_arguments(entry.text));
            batch[column::start_ns].add(time(entry.time_ns));
            batch[column::duration_ns].add_if(entry.end_ns != INT64_MAX, entry.end_ns - entry.time_ns);
            batch[column::state].add_text(state_name(state_of_call(trace_, entry)));
            batch[column::comparable].add(comparable);
            end_row(batch);
          }
        }
      }
    }
  }
  end_table(batch);
}

void ProcessRows::ranks() {
  namespace column = dataset::ranks;
  if (!budget_of(trace_.processes[index(process_)]).empty()) return;  // GPU times in bursts cannot be compared
  const Selection selection;
  const ReportOptions options;
  const std::optional<RankSums> sums = sums_of_rank({trace_, shared_.views, selection, options}, process_);
  if (!sums) return;
  if (wants(TableId::rank_items)) rank_items(*sums);
  if (!wants(TableId::ranks)) return;
  TableBatch& batch = shared_.target.batch(TableId::ranks);
  const auto whole_ns = [](double ns) { return static_cast<int64_t>(std::llround(ns)); };
  const double own_ns = std::accumulate(sums->own_step_ns.begin(), sums->own_step_ns.end(), 0.0);
  batch[column::device_name].add_text(sums->gpu);
  batch[column::steps].add(sums->steps);
  batch[column::step_ns].add_if(sums->steps != 0, whole_ns(sums->step_ns));
  batch[column::own_step_ns].add_if(
      sums->steps != 0, sums->steps == 0 ? 0 : whole_ns(own_ns / static_cast<double>(sums->own_step_ns.size())));
  batch[column::window_ns].add(sums->window_ns);
  batch[column::busy_ns].add(sums->busy_ns);
  batch[column::compute_ns].add(sums->compute_ns);
  batch[column::exposed_communication_ns].add(sums->exposed_communication_ns);
  batch[column::copy_ns].add(sums->copies_ns);
  batch[column::idle_ns].add(sums->idle_ns);
  batch[column::launches].add(sums->launches);
  batch[column::operations].add(sums->operations);
  end_row(batch);
  end_table(batch);
}

void ProcessRows::rank_items(const RankSums& sums) {
  namespace column = dataset::rank_items;
  TableBatch& batch = shared_.target.batch(TableId::rank_items);
  for (const auto& [key, item] : sums.items) {
    batch[column::kind].add_text(rank_item_kind_text(key.kind));
    batch[column::name].add_text(key.name);
    batch[column::shape].add_text(key.shape);
    batch[column::count].add(item.count);
    batch[column::bytes].add(item.bytes);
    batch[column::total_ns].add(item.total_ns);
    batch[column::typical].add(item.typical);
    batch[column::low].add(item.low);
    batch[column::high].add(item.high);
    end_row(batch);
  }
  end_table(batch);
}

void ProcessRows::clock_evidence() {
  namespace column = dataset::clock_evidence;
  if (!shared_.evidence) shared_.evidence = collective_evidence(trace_, CollectiveCalls(trace_));
  const CollectiveEvidenceList& evidence = *shared_.evidence;
  TableBatch& batch = shared_.target.batch(TableId::clock_evidence);
  for (const CollectiveEvidence& each : evidence.rows) {
    const GpuOperation& operation = trace_.operations[each.row];
    if (trace_.process_of(operation.stream()) != process_) continue;
    batch[column::device].add(trace_.devices[each.device].ordinal);
    batch[column::start_ns].add(time(operation.start_ns));
    batch[column::duration_ns].add(operation.duration_ns());
    batch[column::matched_by].add_text(matched_by_text(each.by));
    batch[column::key].add_text(evidence.texts[each.key]);
    batch[column::sequence].add_if(each.by == MatchedBy::Sequence, each.sequence);
    batch[column::step].add_text(evidence.texts[each.step]);
    batch[column::kind].add_text(collective_kind_text(each.kind));
    batch[column::size].add(each.size);
    batch[column::communicator_ranks].add(each.ranks);
    batch[column::root].add(each.root);
    end_row(batch);
  }
  end_table(batch);
}

}  // namespace prof::analyzer::dataset
