#include <algorithm>
#include <am/registers.hpp>
#include <utility>

#include "core/node/engine.hpp"

namespace am {

namespace {

constexpr std::uint32_t bit_if(bool set, std::uint32_t bit) noexcept { return set ? bit : 0; }

constexpr Event events[] = {Event::timelet, Event::outlet, Event::low_message, Event::high_message};
constexpr unsigned ep_shift = 24;
constexpr unsigned em_shift = 20;
static_assert(nistat::tp == 1u << (ep_shift + static_cast<unsigned>(Event::timelet)));
static_assert(nistat::hpmm == 1u << (em_shift + static_cast<unsigned>(Event::high_message)));

/// Bits 15 to 0.
std::uint32_t about_message(const core::Engine::Handling& message) noexcept {
  if (message.packet == nullptr) return 0;
  const impl::Header head = message.packet->head();
  const std::size_t vector_words = std::min<std::size_t>((message.payload_bytes + 7) / 8, 63);
  return bit_if(head.has(impl::flag::multicast), nistat::mcst) |
         static_cast<std::uint32_t>(head.words() << 8) | static_cast<std::uint32_t>(vector_words);
}

/// A function that may be replaced while it runs. The list of its owners belongs to whoever is in the node, and a low
/// handler is not, in the interrupt mode.
class Kept {
 public:
  Kept(Node& node, const core::Shared<LowEvent>& function) : node_(node) {
    const impl::Hold hold(node_);
    function_ = function;
  }
  ~Kept() {
    const impl::Hold hold(node_);
    function_.reset();
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  [[nodiscard]] explicit operator bool() const noexcept { return function_ != nullptr; }
  void operator()(LowEvent& event) const { (*function_)(event); }

 private:
  Node& node_;
  core::Shared<LowEvent> function_;
};

}  // namespace

std::uint32_t Registers::nistat() const noexcept {
  const impl::Hold hold(*node_);
  core::Engine& engine = node_->engine();
  const impl::EventState& state = node_->events_;
  engine.look_into_networks();
  std::uint32_t pending = 0;
  for (const Event event : events)
    pending |= bit_if(engine.pending(event), 1u << static_cast<unsigned>(event));
  std::uint32_t wanted = state.masks;
  if (!engine.agenda().outlet) wanted &= ~(1u << static_cast<unsigned>(Event::outlet));

  return bit_if((pending & wanted) != 0, nistat::pend) | bit_if(state.nicond, nistat::nicond) |
         bit_if(state.onicond, nistat::onicond) | pending << ep_shift |
         std::uint32_t{state.masks} << em_shift | bit_if(state.lpee, nistat::lpee) |
         bit_if(engine.sender().available(Priority::high), nistat::hpa) |
         bit_if(engine.sender().available(Priority::low), nistat::lpa) | bit_if(state.ame, nistat::ame) |
         bit_if(state.level == impl::Level::high, nistat::pri) | about_message(engine.handled());
}

void Registers::set_nistat(std::uint32_t value) noexcept {
  node_->change_events_([=](impl::EventState& state) {
    state.nicond = (value & nistat::nicond) != 0;
    state.onicond = (value & nistat::onicond) != 0;
    state.masks = static_cast<std::uint8_t>((value & nistat::em) >> em_shift);
    state.lpee = (value & nistat::lpee) != 0;
    state.ame = (value & nistat::ame) != 0;
  });
}

Count Registers::timec() const noexcept {
  const impl::Hold hold(*node_);
  return node_->engine().compare_register().when;
}

void Registers::set_timec(Count when) {
  const impl::Hold hold(*node_);
  core::Engine& engine = node_->engine();
  core::CompareRegister& compare = engine.compare_register();
  engine.cancel_timelet(compare.timelet);
  compare.when = when;
  compare.timelet = engine.add_timelet(when, [&compare](LowEvent& event) {
    const Kept handler(event.node(), compare.handler);  // it may replace itself
    if (handler) handler(event);
  });
}

void Registers::set_timeh(std::function<void(LowEvent&)> handler) {
  const impl::Hold hold(*node_);
  core::Engine& engine = node_->engine();
  engine.replace(engine.compare_register().handler, std::move(handler));
}

std::uint16_t Registers::inh() const noexcept {
  const impl::Hold hold(*node_);
  const impl::Packet* packet = node_->engine().handled().packet;
  return packet != nullptr ? packet->head().handler() : no_handler;
}

}  // namespace am
