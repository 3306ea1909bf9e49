// Parameter: one named array that a model learns, apart from where its numbers are. In a graph a value stands for it,
// bound by Graph::bind; the model asks for it with `in`.
//
// How it is stored and used is its parametrization, which whoever builds the step fills in: the use is one redistribute
// node, whose gradient widens and then reduce-scatters. So fully sharded data parallelism is a placement here and no
// code anywhere else (Zhang et al., SimpleFSDP, 2024).
//
//   Parameter w("layers.0.attention.wq.weight", {256, 256}, truncated_normal(0.02, 2));
//   graph.bind(&w, graph.input(w.stored_type(), w.name()));
//   Tensor used = w.in(graph);
//
// A parameter that is not trained is a buffer, such as the bias that balances experts: it is replicated, at least
// float32, and changed after each batch by a rule of its own, from a statistic of the batch that the forward leaves:
//
//   Parameter bias("layers.0.moe.expert_bias", {64}, InitialValue{}, Training::Off);
//   bias.leave(graph, counts_E);    // in the forward
//
// A parameter is known by its address: it does not move.
#pragma once

#include <optional>
#include <string>

#include "ops/tensor.h"

namespace tethys {

struct InitialValue {
  enum class Kind : uint8_t { Zeros, Ones, Normal, TruncatedNormal };
  Kind kind = Kind::Zeros;
  double std = 0;
  double cut = 0;  // of TruncatedNormal: no value is farther from 0

  bool operator==(const InitialValue&) const = default;
};
inline InitialValue ones() { return {InitialValue::Kind::Ones, 0, 0}; }
inline InitialValue normal(double std) { return {InitialValue::Kind::Normal, std, 0}; }
inline InitialValue truncated_normal(double std, double cut) { return {InitialValue::Kind::TruncatedNormal, std, cut}; }
std::string to_string(const InitialValue& initial);

struct Parametrization {
  DType storage_dtype = DType::F32;
  Dims storage_dims;  // at least the parameter's own; longer where a dimension is padded to divide
  Placement storage;
  Dims compute_dims;  // likewise, of what a use gets
  DType compute_dtype = DType::F32;
  DType gradient_dtype = DType::F32;
  Placement compute;
  // Whether the backward may keep what the forward gathered.
  bool keep = false;
  // Whether gradients come back unreduced, to be summed over devices once all microbatches are added up.
  bool unreduced = false;
};

enum class Training : uint8_t { On, Off };

class Parameter {
 public:
  Parameter(std::string name, Dims dims, InitialValue initial, Training training = Training::On);
  Parameter(const Parameter&) = delete;
  Parameter& operator=(const Parameter&) = delete;

  const std::string& name() const { return name_; }
  const Dims& dims() const { return dims_; }
  int64_t elements() const { return element_count(dims_); }
  const InitialValue& initial() const { return initial_; }
  bool trained() const { return training_ == Training::On; }

  // At first float32 throughout, unpadded, on one device.
  const Parametrization& parametrization() const { return parametrization_; }
  void set_parametrization(Parametrization parametrization);
  TensorType stored_type() const { return {parametrization_.storage_dtype, parametrization_.storage_dims}; }

  // Records a use: the value as computing wants it, in the compute dtype or `dtype`. Only a vocabulary may come longer
  // than dims(), with zeros at its end.
  Tensor in(Graph& graph, std::optional<DType> dtype = std::nullopt) const;

  // Of a parameter that is not trained: what this graph's forward counted in the batch, s32 in the parameter's shape;
  // from layers in a scan, of all of them, [L, …].
  void leave(Graph& graph, const Value& statistic) const { graph.bind(&training_, statistic); }
  std::optional<Value> left_in(Graph& graph) const { return graph.bound(&training_); }

 private:
  std::string name_;
  Dims dims_;
  InitialValue initial_;
  Training training_;
  Parametrization parametrization_;
};

}  // namespace tethys
