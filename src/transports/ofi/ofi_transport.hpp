// The network over libfabric: messages between nodes by whatever a cluster has (providers.hpp), in letters (letters.hpp), and
// long payloads by reading the sender's memory.
//
// The way of a message: commit writes its frame into the open letter for that peer; one operation for each letter sends it off when a
// poll has run what it found, when the node makes progress, or when the letter is full: short ones by inject, which takes the bytes
// at once. What comes stays in the letter box until it is received and released (LetterBox, Arrivals). Both priorities travel over
// one endpoint: since a receiver has room for all that its credits allow (window.hpp), it takes every letter, whatever stands
// still, and high is never held up by low. A second endpoint would cost a second set of buffers and of connections, and would
// find the same wire.
//
// A long payload: commit copies it into registered memory, unless it was written there (lend); its frame says where. The receiver
// reads it from there as soon as it sees the frame, into memory that the link's credits have reserved; the message keeps its place
// in the order meanwhile (Held), and what has been read is told back (`fetched`), so that its memory is free again. Without FI_RMA it
// goes in pieces that fit letters.
//
// Long puts and gets: read and written in the peer's segment (transfers.cpp), of which it has said where it is when they had come to
// know each other. Its node sees nothing of that.
//
// Who greets. Either; when both do at once, what the smaller node began stands. Handshake (transports/trust) in three letters; who was
// greeted then says the first word, and until that has come the other sends nothing: so greetings need no order, and nothing of a
// handshake that was given up is lost. Everything else carries a seal that only these two can know.
//
// What ends a peer: an operation that the provider gives up, in its own words; what cannot be true; a letter that does not come (losses.cpp);
// a host that does not answer (lifelines.hpp); or core, who hears of deaths by the control lane from the nodes of that host. Before a node leaves it asks who has what it sent (probe, seen): a provider's own
// completions say less.
//
// Used by whoever is in the node. Not in signal handlers: it uses the heap.
#pragma once

#include <array>
#include <atomic>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/descriptor.hpp"
#include "transports/control_lane.hpp"
#include "transports/frames/arrivals.hpp"
#include "transports/frames/frames.hpp"
#include "transports/frames/lent.hpp"
#include "transports/frames/looks.hpp"
#include "transports/frames/refusals.hpp"
#include "transports/memory_reach.hpp"
#include "transports/ofi/endpoint.hpp"
#include "transports/ofi/letter_box.hpp"
#include "transports/ofi/letters.hpp"
#include "transports/ofi/lifelines.hpp"
#include "transports/ofi/long_memory.hpp"
#include "transports/payload_room.hpp"
#include "transports/site.hpp"
#include "transports/transport.hpp"
#include "transports/trust/crypto.hpp"
#include "transports/trust/handshake.hpp"

namespace am::ofi {

using namespace frames;  // what travels here

class OfiTransport final : public Transport, public PayloadRoom, public MemoryReach, public ControlLane {
 public:
  /// Writes on the node's card where it can be reached. Throws am::Error.
  explicit OfiTransport(const Site& site, const Library& library = system_library());
  ~OfiTransport() override;

  [[nodiscard]] std::string_view name() const noexcept override { return "ofi"; }

  [[nodiscard]] Slot claim(NodeId to, Priority priority, std::size_t words,
                           std::size_t payload_bytes) noexcept override;
  void fill(const Slot& slot, Payload payload) noexcept override;
  void commit(const Slot& slot, impl::Header header) noexcept override;
  [[nodiscard]] bool has_room(NodeId to, Priority priority, std::size_t payload_bytes) noexcept override;
  [[nodiscard]] Slot lend(NodeId to, Priority priority, std::size_t payload_bytes) noexcept override;
  void give_back(const Slot& lent) noexcept override { written_by_hand_.erase(lent.mark); }
  [[nodiscard]] Slot claim_lent(const Slot& lent) noexcept override;

  [[nodiscard]] View receive(Priority priority) noexcept override;
  [[nodiscard]] std::optional<Payload> payload_of(const View& view) const noexcept override {
    return lent_[index(view.priority)].payload;
  }
  void release(const View& view) noexcept override;
  void defer(const View& view) noexcept override { arrivals_.defer(view.priority); }
  [[nodiscard]] bool waits(Priority priority, const impl::Packet* lent) noexcept override {
    return arrivals_.waits(priority, lent != nullptr && lent == &lent_[index(priority)].packet);
  }

  bool progress() noexcept override;
  void flush() noexcept override {
    if (!to_write_.empty()) write_all();
  }
  [[nodiscard]] bool drained() const noexcept override;
  [[nodiscard]] bool arm(Wanted wanted) noexcept override;
  void disarm() noexcept override;
  [[nodiscard]] bool still_armed(Wanted wanted) noexcept override { return armed_ && !stirs(wanted); }
  [[nodiscard]] bool describe(Lookout& lookout, Wanted wanted) const override;
  [[nodiscard]] int wake_fd() const noexcept override { return events_.get(); }

  [[nodiscard]] std::size_t shortest_move(Access access, NodeId to) const noexcept override;
  [[nodiscard]] Status begin_move(const Move& move, const std::byte* from) noexcept override;
  void publish(NodeId to, std::uint32_t word, std::uint64_t value) noexcept override;
  [[nodiscard]] bool published() const noexcept override;
  void ask_clock(NodeId peer) noexcept override;
  [[nodiscard]] Way way() const noexcept override { return Way::moved; }
  [[nodiscard]] PayloadRoom* payload_room(NodeId /*peer*/) noexcept override { return this; }
  [[nodiscard]] MemoryReach* memory_reach(NodeId /*peer*/) noexcept override { return this; }
  [[nodiscard]] ControlLane* control_lane(NodeId /*peer*/) noexcept override { return this; }
  void close(NodeId peer) noexcept override;
  [[nodiscard]] std::size_t queued(NodeId to, Priority priority) const noexcept override;
  [[nodiscard]] std::string way_to(NodeId peer) const override;

  /// Whether it could, though messages may be better (shortest_move).
  [[nodiscard]] bool can_move(Access access, NodeId to) const noexcept;

  /// Letters that proved nothing, so far.
  [[nodiscard]] std::uint64_t turned_away() const noexcept { return turned_away_; }

 private:
  struct Claim;
  struct Transfer;
  struct Held;
  struct Peer;

  void write_card() const;
  static std::size_t index(Priority priority) noexcept { return static_cast<std::size_t>(priority); }
  [[nodiscard]] Peer& peer(NodeId node);
  [[nodiscard]] Peer& new_peer(NodeId node);
  [[nodiscard]] const Peer* known(NodeId node) const noexcept { return peers_[node].get(); }
  [[nodiscard]] bool is_over(NodeId node) const noexcept;
  [[nodiscard]] bool has_left(NodeId node) const noexcept;
  /// The longest payload, or piece of one, that a message to that node takes.
  [[nodiscard]] std::size_t longest_piece(NodeId to) const noexcept;
  /// Whether the payload of a message so long does not travel with it.
  [[nodiscard]] bool is_read_there(std::size_t message_bytes) const noexcept {
    return message_bytes > paper_.letter_room() - letter_head_bytes;
  }
  [[nodiscard]] static Claim& claim_of(Peer& to, Priority priority);
  [[nodiscard]] bool credit_came() const noexcept;
  [[nodiscard]] bool stirs(Wanted wanted) const noexcept;
  [[nodiscard]] bool has_come(Wanted wanted) const noexcept {
    return (wanted.high && arrivals_.any(Priority::high)) || (wanted.low && arrivals_.any(Priority::low));
  }

  // greetings.cpp: how peers come to know each other, and how they part
  void reach(Peer& peer);
  void greet(Peer& peer);
  void came_greeting(Peer& peer, std::uint32_t step, std::span<const std::byte> bytes);
  void came_first_greeting(Peer& peer, std::span<const std::byte> bytes);
  void came_answer(Peer& peer, std::span<const std::byte> bytes);
  void came_proof(Peer& peer, std::span<const std::byte> greeting, std::span<const std::byte> proof);
  [[nodiscard]] std::optional<trust::Handshake> answering(const Peer& peer,
                                                          std::span<const std::byte> greeting) const;
  void send_greeting(Peer& peer, std::uint32_t step, std::span<const std::byte> first,
                     std::span<const std::byte> second = {});
  [[nodiscard]] static bool has_seals(Peer& peer, const trust::Handshake& handshake, bool ours);
  void join(Peer& peer);
  void failed(Peer& peer, bool greeting, std::string why);
  void try_later(Peer& peer, std::string why);
  void greet_later(Peer& peer);
  void greet_once_more(Peer& peer);
  void greet_no_more(Peer& peer);
  void end(Peer& peer, std::string_view why);
  /// Of whom this node knows.
  void end_all(const std::string& why);
  void forget(Peer& peer) noexcept;
  void look_at_clock();
  void lose_host_of(NodeId lost, std::string_view why);
  void set_timer() noexcept;
  [[nodiscard]] bool news_at_descriptors() noexcept;
  void ring_self() noexcept;

  // losses.cpp: letters that do not come
  void see_gap(Peer& from, bool next_has_come);
  void may_have_lost_a_letter(std::string why);
  [[nodiscard]] bool looks_for_losses() const noexcept {
    return patience_with_gaps_ns_ != 0 && (asks_for_losses_ || !gaps_.empty());
  }
  void look_for_losses(std::uint64_t now);
  [[nodiscard]] bool may_be_asked(const Peer& peer) const noexcept;
  void ask_for_losses(Peer& peer);
  static constexpr std::uint32_t looks_at_a_gap = 8;  // within the patience

  // letters out
  void say(Peer& peer, const Frame& frame);
  void add(Peer& peer, const Frame& frame);  // the same, where the peer is written to anyway
  [[nodiscard]] std::byte* room_for_frame(Peer& peer, std::size_t bytes);
  void seal_open_letter(Peer& peer);
  void commit_long(Peer& to, const Slot& slot, impl::Header header, const Claim& claim);
  void is_to_write(Peer& peer);
  void add_newest(Peer& peer);
  void add_what_is_due(Peer& peer);
  void tell_all_credit();
  void write_all() noexcept;
  void write(Peer& peer);
  void drop(Peer& peer, Letter& letter);
  [[nodiscard]] bool post_first(Peer& peer, LetterQueue& letters);
  [[nodiscard]] bool is_refused(const Peer& peer) const;
  void ask_what_came();
  [[nodiscard]] bool is_owed_farewell(const Peer& peer) const noexcept;
  [[nodiscard]] bool is_heard_out(const Peer& peer) const noexcept;
  [[nodiscard]] bool is_owed_answer(const Peer& peer) const noexcept;
  [[nodiscard]] bool is_past_answers(const Peer& peer) const noexcept;

  // letters in
  bool look();
  [[nodiscard]] bool has_sent_to_self() const noexcept;
  void deliver_to_self();
  void done(const Endpoint::Done& done);
  void came(std::span<const std::byte> text, const Block& block);
  void read_letter(Peer& from, std::span<const std::byte> text, const Block& block);
  [[nodiscard]] std::string_view take(Peer& from, const Frame& frame, std::span<const std::byte> bytes,
                                      const Block& block);
  void take_message(Peer& from, const Frame& frame, std::span<const std::byte> bytes, const Block& block);
  void advance(Peer& from, Priority priority);
  void take_stock() noexcept;

  // transfers.cpp: what is read and written in the memory of peers
  [[nodiscard]] Transfer& new_transfer(const Peer& with, std::size_t bytes, const Endpoint::Remote& place);
  void begin_transfers();
  [[nodiscard]] bool transfers_wait() const noexcept;
  void transferred(Transfer& transfer, const Endpoint::Done& done);
  void drop_transfer(const Transfer& over) noexcept;
  void drop_transfers(const Peer& with) noexcept;
  void drop_moves(Peer& with) noexcept;
  [[nodiscard]] bool stores_are_under_way() const noexcept;
  [[nodiscard]] bool transfers_end_soon() noexcept;

  const NodeId self_;
  const std::shared_ptr<const host::Memory> memory_;
  Listener* const listener_;
  Destinations* const destinations_;
  const trust::Crypto crypto_;
  const trust::Key key_;
  const trust::Party party_;
  const trust::Key secret_;  // of this node alone: its random bytes in the handshakes that others begin
  Endpoint endpoint_;
  bool believes_descriptor_;       // the completion queue's; else a sleeping node looks each millisecond
  const host::Descriptor events_;  // of epoll: the completion queue's and the timer
  const host::Descriptor timer_;   // runs while something has to happen by itself
  Paper paper_;
  LetterBox letter_box_;
  LongMemory long_memory_;
  std::unordered_map<std::uint64_t, LongMemory::Part> written_by_hand_;  // by mark: payloads that were lent
  std::uint64_t last_mark_ = 0;
  Registration segment_;  // this node's; without a key where it has none, or peers cannot reach it
  std::vector<std::unique_ptr<Peer>> peers_;  // by node; null: never spoken to
  std::size_t met_ = 0;                       // of these: not null
  std::vector<NodeId> to_write_;              // peers that write() is to be called for
  std::vector<NodeId> spare_list_;            // empty: memory for the next such list
  std::vector<NodeId> greeting_;              // peers that are to be greeted again, perhaps
  std::vector<NodeId> gaps_;                  // peers of whom later letters have come than the next one
  const std::uint64_t patience_with_gaps_ns_;
  std::uint64_t next_look_for_losses_ns_ = 0;
  bool asks_for_losses_ = false;   // an operation has failed that named nobody
  std::string loss_;               // why; empty: none has
  std::list<Transfer> transfers_;  // not done; of peers that have ended those that are begun
  std::uint64_t tries_to_transfer_ = 0;
  Arrivals arrivals_;
  Lifelines lifelines_;
  std::array<frames::Lent, 2> lent_;
  Refusals refused_;
  std::vector<NodeId> moves_refused_;  // to whom, since the last disarm
  bool armed_ = false;
  std::uint32_t vain_arms_ = 0;          // since a message was released
  std::uint32_t false_alarms_ = 0;       // in a row
  mutable bool asks_what_came_ = false;  // drained() wants to know
  std::uint64_t timer_every_ns_ = 0;     // 0: it does not run
  std::uint64_t nap_ns_ =
      0;  // the last, where no descriptor tells of what comes; 0: something has come since
  Looks looks_;
  std::uint64_t turned_away_ = 0;
  std::atomic<std::uint64_t> news_{0};
};

}  // namespace am::ofi
