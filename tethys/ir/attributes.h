// Attributes: what an op is told besides its operands. Each op has its own struct with a defaulted ==; here it is held
// without its type, immutable and shared.
//
//   struct ConcatenateAttributes {
//     int64_t dim;
//     bool operator==(const ConcatenateAttributes&) const = default;
//   };
//   std::string describe(const ConcatenateAttributes&);   // what print shows; found next to the struct
//
//   Attributes a = ConcatenateAttributes{1};
//   a.as<ConcatenateAttributes>().dim;                    // 1
#pragma once

#include <memory>
#include <string>
#include <typeinfo>

#include "base/error.h"

namespace tethys {

class Attributes {
 public:
  Attributes() = default;
  template <typename T>
  Attributes(T value) : held_(std::make_shared<Held<T>>(std::move(value))) {}  // NOLINT: implicit by intent

  template <typename T>
  const T& as() const {
    const auto* held = dynamic_cast<const Held<T>*>(held_.get());
    require(held != nullptr, "attributes read as {}", typeid(T).name());
    return held->value;
  }

  // "" where there are none.
  std::string to_string() const { return held_ ? held_->to_string() : ""; }
  bool operator==(const Attributes& other) const {
    if (!held_ || !other.held_) return held_ == other.held_;
    return held_->equals(*other.held_);
  }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual bool equals(const Base& other) const = 0;
    virtual std::string to_string() const = 0;
  };
  template <typename T>
  struct Held final : Base {
    explicit Held(T v) : value(std::move(v)) {}
    bool equals(const Base& other) const override {
      const auto* same = dynamic_cast<const Held*>(&other);
      return same != nullptr && same->value == value;
    }
    std::string to_string() const override { return describe(value); }
    T value;
  };
  std::shared_ptr<const Base> held_;
};

}  // namespace tethys
