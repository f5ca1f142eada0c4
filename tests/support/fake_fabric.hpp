// A provider of libfabric of the tests' own, wholly in memory: it says of itself what the test wants, and is as unkind as libfabric's
// documents let a provider be: it refuses (-FI_EAGAIN), puts messages and completions out of order where it has not promised one, keeps
// what was posted until it looks at it again, fails, and loses what is under way when an endpoint closes. What its user does against
// the documents it notes (complaints): buffers that are not registered or were changed too early, memory that is not there when it is
// registered (FI_MR_ALLOCATED), contexts that are used twice or overwritten, keys that lead nowhere, objects that are closed too early
// or never.
//
// The objects are those of <rdma/...>, whose inline functions call them; a network is given library() in the place of libfabric. Any
// thread (one lock); one fabric at a time in a process.
//
// Source: fi_getinfo(3), fi_domain(3), fi_endpoint(3), fi_msg(3), fi_rma(3), fi_cq(3), fi_mr(3), fi_poll(3) of libfabric 1.17.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <string>
#include <vector>

#include "support/pinned.hpp"
#include "support/random.hpp"
#include "transports/ofi/library.hpp"

namespace test {

/// What a provider says of itself, and what it does.
struct FakeProvider {
  std::string name = "fake";
  std::string domain = "fake0";
  std::uint64_t caps = FI_MSG | FI_RMA | FI_MULTI_RECV;
  std::uint64_t order = FI_ORDER_SAS;  ///< without it messages overtake each other
  std::uint64_t mode = 0;              ///< FI_CONTEXT, FI_CONTEXT2: it writes there
  int mr_mode = 0;                     ///< what its user has to be able to
  std::size_t mr_key_size = 8;
  std::size_t inject_size = 64;
  std::size_t max_msg_size = std::size_t{1} << 30;
  std::size_t tx_size = 64;
  std::size_t rx_size = 64;
  bool delivers = true;  ///< FI_DELIVERY_COMPLETE
  std::size_t address_bytes = 8;
  std::uint32_t addr_format = FI_FORMAT_UNSPEC;
  std::vector<std::byte> src_addr{};
  bool wait_fd = true;
  bool manual_progress = false;  ///< memory is read from afar only when its owner looks at its completions

  fi_ep_type type = FI_EP_RDM;
  bool loses_nothing = true;  ///< FI_RM_ENABLED

  std::uint64_t again_one_in =
      0;                       ///< operations that are refused, from the seed; 0: only when queues are full
  bool forgets_sends = false;  ///< for which it has no room, and says that they have begun
  bool shuffles = false;       ///< completions come late, and in any order
  bool keeps_bound_memory = false;  ///< memory that was bound to an open endpoint cannot be closed
};

namespace fake {
struct World;  // fake_world.hpp
}

class FakeFabric : test::Pinned {
 public:
  explicit FakeFabric(std::vector<FakeProvider> providers, std::uint64_t seed = test::seed());
  ~FakeFabric();

  [[nodiscard]] const am::ofi::Library& library() const noexcept;

  /// What its user did wrong.
  [[nodiscard]] std::vector<std::string> complaints() const;
  /// Objects and lists that were not closed or freed.
  [[nodiscard]] std::size_t open_objects() const;
  /// Operations under way that were begun with a context.
  [[nodiscard]] std::size_t in_flight() const;

  /// What is under way, for people.
  [[nodiscard]] std::string describe() const;

  /// From now on messages stay on the wire until deliver() takes one by its place; those of one pair of endpoints in order,
  /// unless the provider has promised none.
  void hold(bool on);
  /// The places of those that may be delivered.
  [[nodiscard]] std::vector<std::size_t> deliverable() const;
  void deliver(std::size_t place);

  /// Of the only endpoint: the buffers that it has to receive in, and the first of them, which it has no more: the test says in its
  /// place what came of it.
  struct Receive {
    void* context;
    std::byte* at;
    std::size_t bytes;
  };
  [[nodiscard]] std::vector<Receive> receives() const;
  [[nodiscard]] Receive take_receive();

  /// After so many more registrations all fail with ENOMEM.
  void fail_registrations_after(std::size_t good);
  /// An operation by inject has no context; a message that comes to nothing when it has arrived is lost.
  enum class Step : std::uint8_t { send, inject, arrival, access };
  /// After so many more of these one comes to nothing, with that error.
  void fail_after(Step step, std::size_t good, int error);
  /// From now on no receive buffer is taken.
  void fail_receives(int error);
  /// From now on no completion queue can be read any more.
  void fail_queues(int error);
  /// Refuses all sends while it is on.
  void refuse_sends(bool on);

 private:
  std::unique_ptr<fake::World> world_;
};

/// The functions of the library for lists of offers (fake_info.cpp).
namespace fake {
/// Those of `providers` that fit the hints, as fi_getinfo gives them; null: none.
fi_info* matching(const std::vector<FakeProvider>& providers, const fi_info* hints);
fi_info* copy_info(const fi_info* info);
void free_info(fi_info* info);
/// Lists and hints that were not freed.
std::size_t open_infos() noexcept;
/// Which of the providers an offer is of.
std::size_t provider_of(const fi_info& info) noexcept;
}  // namespace fake

}  // namespace test
