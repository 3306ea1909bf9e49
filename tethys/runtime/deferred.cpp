#include "runtime/deferred.h"

#include "base/error.h"
#include "base/number.h"
#include "base/units.h"
#include "ir/clone.h"
#include "ops/registry.h"

namespace tethys {

std::string to_string(const Flush& flush) {
  return fmt::format("flush: {} ops, {} results of {:.1f} MiB, {}; because of {}", with_commas(flush.ops),
                     with_commas(flush.results), static_cast<double>(flush.bytes) / kMiB,
                     flush.compiled ? "compiled" : "known", flush.why);
}

DeferredObserver::DeferredObserver(Executor& executor, Graph& graph, DeferredOptions options)
    : RunObserver(executor, graph), options_(std::move(options)) {}

void DeferredObserver::appended(Graph&, NodeId id) {
  liveness_.appended(id);
  const Node& node = graph_.node(id);
  if (node.op->generator) return;
  queue_.insert(id);
  if (static_cast<int64_t>(queue_.size()) >= options_.most_ops)
    flush(fmt::format("a queue of {} ops", queue_.size()), std::nullopt);
}

void DeferredObserver::dropped(const Value& value) {
  const std::vector<ValueId> freed = liveness_.dropped(value.id);
  freed_.insert(freed_.end(), freed.begin(), freed.end());
  if (queue_.empty()) clear_queue();
}

void DeferredObserver::clear_queue() {
  queue_.clear();
  for (ValueId v : freed_) {
    if (!liveness_.needed(v)) arrays_.erase(v);
  }
  freed_.clear();
}

const Array& DeferredObserver::array(const Value& value) {
  require(value.graph == &graph_, "%{} is of another graph", value.id);
  if (!has_data(value.id)) {
    liveness_.kept(value.id);
    const Node& producer = graph_.producer(value.id);
    flush(fmt::format("a read of {}{}", producer.op->name, producer.scope.empty() ? "" : " in " + producer.scope),
          value.id);
  }
  return arrays_.at(value.id);
}

void DeferredObserver::end_step(const std::vector<Value>& wanted) {
  std::vector<ValueId> outputs;
  for (const Value& v : wanted) {
    liveness_.kept(v.id);
    outputs.push_back(v.id);
  }
  run("the end of a step", outputs);
  clear_queue();
}

void DeferredObserver::flush(const std::string& why, std::optional<ValueId> value) {
  std::vector<ValueId> outputs;
  if (value) outputs.push_back(*value);
  for (NodeId n : queue_) {
    for (ValueId v : graph_.node(n).results) {
      if (liveness_.needed(v)) outputs.push_back(v);
    }
  }
  run(why, outputs);
  clear_queue();
}

void DeferredObserver::run(const std::string& why, const std::vector<ValueId>& outputs) {
  std::set<ValueId> wanted;
  for (ValueId v : outputs) {
    if (!has_data(v)) wanted.insert(v);
  }
  if (wanted.empty()) return;
  const std::set<NodeId> nodes = missing_for({wanted.begin(), wanted.end()});
  CalledGraph program(executor_);
  ValueMap map(graph_.value_count());
  const auto give = [&](ValueId v) {
    if (map[v].id >= 0) return;
    if (has_data(v))
      map[v] = program.input(arrays_.at(v));
    else
      clone_node(graph_, graph_.info(v).node, program.graph(), map);  // a generator
  };
  for (NodeId n : nodes) {
    for (ValueId v : graph_.node(n).operands) give(v);
    clone_node(graph_, n, program.graph(), map);
  }
  std::vector<Value> values;
  for (ValueId v : wanted) {
    give(v);
    values.push_back(map[v]);
  }
  const int64_t compiles = executor_.counters().compiles;
  const std::vector<Array> results = program.call(values);
  Flush flush{why, static_cast<int64_t>(nodes.size()), static_cast<int64_t>(results.size()), 0,
              executor_.counters().compiles != compiles};
  size_t i = 0;
  for (ValueId v : wanted) {
    flush.bytes += results[i].type().bytes();
    arrays_[v] = results[i++];
  }
  if (options_.flushed) options_.flushed(flush);
}

}  // namespace tethys
