// How a message goes from a program into the network, one class for each interface of Table 6.1: what is issued to compose it there,
// when its words leave, and when the next one may be begun.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.2.1, 4.2, 6.1, 6.5.1, 6.5.2.
#pragma once

#include <memory>

#include "emulated_hw/mmachine/costs/cluster.hpp"
#include "emulated_hw/mmachine/costs/interface_model.hpp"
#include "emulated_hw/mmachine/costs/letter.hpp"
#include "emulated_hw/mmachine/costs/translation.hpp"

namespace am::mmachine::costs {

class Injection {
 public:
  explicit Injection(AddressTranslation translation) noexcept : translation_(translation) {}
  Injection(const Injection&) = delete;
  Injection& operator=(const Injection&) = delete;
  virtual ~Injection() = default;

  /// Issues all that it takes from the words' operands to the message's last word on its way.
  virtual Arrival send(Cluster& cluster, const Letter& letter) = 0;

 protected:
  [[nodiscard]] Register translate(Cluster& cluster, const Letter& letter) const noexcept {
    return translation_.translate(cluster, letter.destination, letter.live_registers());
  }
  [[nodiscard]] const AddressTranslation& translation() const noexcept { return translation_; }

 private:
  AddressTranslation translation_;
};

[[nodiscard]] std::unique_ptr<Injection> make_injection(Port port, AddressTranslation translation);

}  // namespace am::mmachine::costs
