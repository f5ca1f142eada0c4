// A router of a network, for tests and reports: what is in it, whichever width it has.
#pragma once

#include <variant>

#include "emulated_hw/kit/textbook_router.hpp"

namespace am::kit {

class RouterView {
  using One = std::variant<const TextbookRouter<1>*, const TextbookRouter<4>*>;
  template <class F>
  auto ask(F f) const {
    return std::visit([&](const auto* router) { return f(*router); }, router_);
  }

 public:
  explicit RouterView(const One& router) noexcept : router_(router) {}

  [[nodiscard]] bool is_empty() const {
    return ask([](const auto& router) { return router.is_empty(); });
  }
  [[nodiscard]] unsigned count(unsigned input) const {
    return ask([=](const auto& router) { return router.count(input); });
  }
  [[nodiscard]] unsigned credits(unsigned output) const {
    return ask([=](const auto& router) { return router.credits(output); });
  }
  [[nodiscard]] bool is_waiting(unsigned input) const {
    return ask([=](const auto& router) { return router.is_waiting(input); });
  }
  [[nodiscard]] bool is_active(unsigned input) const {
    return ask([=](const auto& router) { return router.is_active(input); });
  }
  [[nodiscard]] Route route_of(unsigned input) const {
    return ask([=](const auto& router) { return router.route_of(input); });
  }
  [[nodiscard]] unsigned output_of(unsigned input) const {
    return ask([=](const auto& router) { return router.output_of(input); });
  }
  [[nodiscard]] Flit front(const RouterShape& shape, unsigned input) const {
    return ask([&](const auto& router) { return router.front(shape, input); });
  }

 private:
  One router_;
};

}  // namespace am::kit
