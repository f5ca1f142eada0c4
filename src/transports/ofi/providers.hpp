// Which of libfabric's providers a node uses, and what that offers. The same question is asked by the network, which opens the
// answer, and by aminfo, which shows it.
//
// What is asked for, and what is done without it:
//
//   bit                    asked for          without it
//   FI_EP_RDM              always             the provider is not used, unless ofi_rxm or ofi_rxd is beside it, which has that
//   FI_MSG                 always             the provider is not used
//   FI_RMA                 first              long payloads go in pieces, puts and gets as messages; see forgets_sends
//   FI_MULTI_RECV          first              many small receive buffers instead of a few large ones; see forgets_sends
//   FI_ORDER_SAS           first              letters are put in order by their numbers (letters.hpp), which they have anyway
//   FI_RM_ENABLED          always             the provider is not used: nothing may be lost when queues are full
//   FI_THREAD_DOMAIN       always             (all providers can: one thread at a time is in a node)
//   FI_WAIT_FD             when opened        a sleeping node looks each millisecond (Endpoint::wait_fd)
//   FI_PROGRESS_MANUAL     always             (all providers can: automatic progress is a thread and locks besides; each look at the completion
//                                             queue makes progress, and a sleeping node is told when that is due; see sends_again)
//   FI_DELIVERY_COMPLETE   with FI_RMA        puts go as messages; gets are reads all the same (transfers.cpp)
//   FI_ATOMIC              never              atomics are done by the owner's processor, by messages: a provider's are atomic among
//                                             themselves only (fi_atomic(3)), and here processors of the owner's host reach the same words
//   FI_SOURCE              never              a letter says from whom it is, and proves it
//   FI_HMEM                never              memory of devices is not reached
//
//   mode FI_CONTEXT, FI_CONTEXT2              every operation has room for the provider (Operation)
//   mr_mode LOCAL                             all buffers are registered; user memory is never given to the provider then
//   mr_mode VIRT_ADDR, PROV_KEY               addresses and keys travel as the provider wants them (Registration)
//   mr_mode ALLOCATED                         memory is touched before it is registered
//   mr_mode ENDPOINT                          registrations are bound to the endpoint, and enabled
//   mr_mode RAW, RMA_EVENT                    it is used for messages alone
//   mr_mode, others                           the provider is not used
//
//   inject_size                               longer letters go by fi_send, out of registered memory (Paper); see forgets_sends
//   max_msg_size                              letters are no longer; below least_message_bytes the provider is not used
//   iov limits                                every operation is of one piece
//   sizes of queues                           the completion queue has room for all sends and receives; what gets -FI_EAGAIN is tried again
//   address formats                           whatever they are: bytes on a node's card, as many as it has room for
//   FI_TAGGED                                 never: letters go to a node, whose frames say all
//   event queues                              none: endpoints of reliable datagrams have no events but those of operations
//
// Source: fi_getinfo(3), fi_domain(3), fi_endpoint(3), fi_mr(3) of libfabric 1.17.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "transports/frames/frames.hpp"
#include "transports/ofi/library.hpp"

namespace am::ofi {

struct Wish {
  std::string_view provider;    ///< by name, as libfabric has it ("tcp;ofi_rxm"); empty: the best
  bool to_other_hosts = false;  ///< or to nodes of this one only
  std::string_view interfaces;  ///< AM_TCP_INTERFACES, for providers that go by IP addresses
};

/// One provider on one interface.
struct Offer {
  std::string provider;
  std::string domain;   ///< "eth0", "mlx5_0"
  std::string why_not;  ///< empty: it can be used
};

/// The shortest longest message of a provider that is used.
inline constexpr std::size_t least_message_bytes = 4096;
/// One that takes less at once of the memory of others is used for messages alone.
inline constexpr std::size_t longest_access_bytes = frames::frame_payload_bytes;

/// What libfabric has, the best first, those that cannot be used for that wish at the end. Throws am::Error where there is no libfabric.
[[nodiscard]] std::vector<Offer> offers(const Library& library, const Wish& wish);

/// The first that can be used, with all that is asked for of which it has something. Throws am::Error when there is none: it
/// names all, and what speaks against each.
[[nodiscard]] Info choose(const Library& library, const Wish& wish);

[[nodiscard]] std::string provider_of(const fi_info& info);
[[nodiscard]] std::string domain_of(const fi_info& info);
/// Where its addresses hold, by a number: those of the loopback interface in one network namespace, those of libfabric's shm where nodes
/// see the same /dev/shm. 0: everywhere, or that cannot be seen.
[[nodiscard]] std::uint64_t place_of(const fi_info& info);
/// Whether memory is read from afar, or written there, without its owner's processor. Hardware does both, libfabric's shm the first. With
/// sockets the owner has to look for each piece, though nothing of it concerns its program: where that sleeps meanwhile, puts of 1 MiB
/// took six times as long as by messages (libfabric 1.17), which its program looks out for.
[[nodiscard]] bool reads_alone(const fi_info& info);
[[nodiscard]] bool writes_alone(const fi_info& info);
/// ofi_rxd makes a lossy network a reliable one. What is lost it sends again when it is looked at, and no descriptor tells when: a sleeping
/// node looks each millisecond.
[[nodiscard]] bool sends_again(const fi_info& info);
/// ofi_rxd says of a send for which it has no room that it has begun, and forgets it (libfabric 1.17). So no more are under way than it has
/// room for (Endpoint::send), and as it tells of no end of an inject, nothing goes by that. Nor is it given buffers for many (FI_MULTI_RECV): it
/// says that it is done with one while a long message of another peer is still coming there; nor reads (FI_RMA), of which some never end.
[[nodiscard]] bool forgets_sends(const fi_info& info);
/// Its nodes connect to each other by TCP, and believe whoever connects (libfabric 1.17): used where libam sees who that is
/// (doorkeeper.hpp).
[[nodiscard]] bool goes_by_tcp(const fi_info& info);
/// net, and ofi_rxm where its messages are written straight to their place (over tcp), say that they are done with a buffer for many
/// (FI_MULTI_RECV) while letters are still coming into it (libfabric 1.17; its pull request 9420). Others say so when they are.
[[nodiscard]] bool ends_buffers_early(const fi_info& info);
/// The descriptor of net is readable for ever (libfabric 1.17). A network finds that out by itself, and then looks each millisecond.
[[nodiscard]] bool alarms_falsely(const fi_info& info);
/// ofi_rxm over tcp, or net, follows a null pointer when an endpoint is closed into which a read is coming: tcp gives up that read twice, the
/// second time without a context (libfabric 1.17.0; its pull request 8656).
[[nodiscard]] bool dies_if_closed_reading(const fi_info& info);

}  // namespace am::ofi
