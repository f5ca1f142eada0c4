// Injection through registers: the M-Machine's own, and the two whose registers are the network device's.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.2.1, 4.2, 6.1, 6.5.1, 6.5.2.
#pragma once

#include <array>
#include <cstddef>

#include "emulated_hw/mmachine/costs/injection.hpp"

namespace am::mmachine::costs {

/// SEND, which reads a message out of registers in a burst: the head leaves after send_cycles, then a word a cycle (4.2: it streams
/// through the queue). The unit takes one message at a time, and says by Ack when the registers may be written again.
class SendUnit {
 public:
  struct Sent {
    Arrival arrival;
    Register acknowledged;
  };
  /// `ready`: the last of the message's registers and of the operands.
  Sent send(Cluster& cluster, Unit unit, Register ready, std::size_t words);

 private:
  Register free_{};
};

/// MM: words are made where SEND reads them; message registers may not be written before Ack, which the program waits for as in 3.2.3.
/// Messages from memory go alternately through integer and floating-point registers (6.5.1).
class ProcessorRegisterInjection final : public Injection {
 public:
  using Injection::Injection;
  Arrival send(Cluster& cluster, const Letter& letter) override;

 private:
  [[nodiscard]] Register compose_in_file(Cluster& cluster, const Letter& letter) const;

  static constexpr std::size_t files = 2;
  struct File {
    bool used = false;
    Register acknowledged{};
  };

  SendUnit unit_;
  std::array<File, files> register_files_{};
  std::size_t next_ = 0;
};

/// IRB: words are made in general registers and moved to a buffer in the device, which keeps them: of a message like the one before
/// only what changed is moved.
class NetworkBufferInjection final : public Injection {
 public:
  using Injection::Injection;
  Arrival send(Cluster& cluster, const Letter& letter) override;

 private:
  SendUnit unit_;
  Register buffer_free_{};
};

/// IRS: operations write into the network, a word a cycle: msim's register i15 (6.1). DestAddr and HandlerIP come first and open the
/// channel; while it is open nobody else's message moves, so what takes several operations is made before; kept words are written again.
class NetworkStreamInjection final : public Injection {
 public:
  using Injection::Injection;
  Arrival send(Cluster& cluster, const Letter& letter) override;

 private:
  Register write(Cluster& cluster, const Operation& operation) noexcept;
  Register write_word(Cluster& cluster, Source source, Register made) noexcept;

  Register port_free_{};  // since when another word can be in the port
};

}  // namespace am::mmachine::costs
