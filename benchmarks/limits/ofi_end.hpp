// One of two processes that talk over libfabric alone: the limits of libam over it. No connections to make, no credits, no order, no
// handlers: what the provider itself takes.

#pragma once

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transports/ofi/providers.hpp"

namespace ambench {

// Whether a process could sleep at its completion queue, as libam's do. It costs a provider with sockets half a microsecond or two for each
// message, though nobody sleeps: libfabric (1.17) then has the sockets watched by epoll.
enum class CompletionQueue { polled_only, to_sleep_at };

// Zeroed memory that both map, by which they find each other: what a launcher would do.
struct OfiMeeting {
  struct Side {
    std::array<std::byte, 256> address;
    std::size_t address_bytes;
    std::uint64_t memory;  // of its registered memory, as the other is to name it
    std::uint64_t key;
    std::atomic<bool> is_there;  // released behind the others
  };

  std::array<Side, 2> sides;
  std::atomic<bool> is_over;
  std::atomic<int> parted;

  static OfiMeeting& in(std::byte* memory) { return *reinterpret_cast<OfiMeeting*>(memory); }
};

struct CloseOfi {
  template <class Fid>
  void operator()(Fid* object) const {
    fi_close(&object->fid);
  }
};
template <class Fid>
using OwnedOfi = std::unique_ptr<Fid, CloseOfi>;

class OfiEnd {
 public:
  // Waits for the other one. `bytes`: of the memory that the other one may read and write. A queue to sleep at is one where the
  // provider has such. Throws am::Error, std::runtime_error.
  OfiEnd(const std::string& provider, OfiMeeting& meeting, std::size_t self, std::size_t bytes,
         CompletionQueue queue);

  // 8 bytes. Looks for what is done while the provider has no room.
  void inject();
  // Takes what is done; then the receives that it used up are to be posted again.
  void look();
  void post_receives();
  [[nodiscard]] std::uint64_t received() const { return received_; }
  void receive_until(std::uint64_t expected) {
    while (received_ < expected) look();
    post_receives();
  }

  // Between the whole memory of the two.
  [[nodiscard]] bool has_rma(std::size_t bytes) const;
  enum class Told { when_sent, when_delivered };
  void write(Told told);
  void read();
  [[nodiscard]] std::size_t under_way() const { return under_way_; }

  // The first says when it is over; both stay until the other has seen that.
  [[nodiscard]] bool is_over() const { return meeting_.is_over.load(std::memory_order_acquire); }
  void part();

 private:
  struct Slot {
    fi_context2 room{};
    alignas(8) std::array<std::byte, 64> bytes{};
  };

  void open(CompletionQueue queue);
  void open_queue(CompletionQueue kind);
  void meet();
  void must(long result, const char* what) const;
  // Calls again while the provider has no room.
  template <typename F>
  void post(F call, const char* what);

  const am::ofi::Library& library_;
  am::ofi::Info info_;
  OfiMeeting& meeting_;
  const std::size_t self_;
  fi_addr_t other_ = FI_ADDR_UNSPEC;
  std::vector<std::byte> memory_;
  std::vector<Slot> slots_;
  std::vector<Slot*> used_up_;
  fi_context2 access_room_[32]{};
  std::size_t next_room_ = 0;
  std::uint64_t received_ = 0;
  std::size_t under_way_ = 0;
  OwnedOfi<fid_fabric> fabric_;
  OwnedOfi<fid_domain> domain_;
  OwnedOfi<fid_av> addresses_;
  OwnedOfi<fid_cq> queue_;
  OwnedOfi<fid_mr> slots_mr_;
  OwnedOfi<fid_mr> memory_mr_;
  OwnedOfi<fid_ep> endpoint_;
};

}  // namespace ambench
