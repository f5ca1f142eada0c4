// The network between hosts over TCP: one connection for each pair of nodes that talk, made when the first of them has something
// to say.
//
// The way of a message: commit writes its frame behind the others for that peer (OutQueue); one call of the system for each peer
// sends them all off when a poll has run what it found, when the node makes progress, or when there are many. What comes is read
// as it comes (FrameReader) and stays there until it is received and released (Arrivals); a long payload that core knows the place
// of (Destinations: puts and gets) goes straight to that. Both priorities travel on one connection: since a receiver has room for
// all that its credits allow (window.hpp), it reads on whatever stands still, and high is never held up by low.
//
// Who connects. Either; when both do at once, what the smaller node opened stays. Who was connected to decides that, and says
// the first word (a credit); until then the other sends nothing, so nothing is lost with a connection that is given up.
//
// How often sockets are looked at. In every round while there was traffic lately; else, and while messages that came wait to be
// run, now and then: in a quiet node a message may wait 2 us for that, in a busy one 20. (Where shared memory leads to other nodes,
// core asks less often: core/events/glances.hpp.)
//
// Used by whoever is in the node. Not in signal handlers: it uses the heap.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "host/descriptor.hpp"
#include "host/memory.hpp"
#include "host/standstill.hpp"
#include "transports/control_lane.hpp"
#include "transports/frames/arrivals.hpp"
#include "transports/frames/frames.hpp"
#include "transports/frames/lent.hpp"
#include "transports/frames/looks.hpp"
#include "transports/frames/refusals.hpp"
#include "transports/site.hpp"
#include "transports/tcp/entrance.hpp"
#include "transports/transport.hpp"

namespace am::tcp {

using namespace frames;  // what travels here

class TcpTransport final : public Transport, public ControlLane, private Entrance::Events {
 public:
  /// Writes on the node's card where it can be reached. Throws am::Error.
  explicit TcpTransport(const Site& site);
  ~TcpTransport() override;

  [[nodiscard]] std::string_view name() const noexcept override { return "tcp"; }

  [[nodiscard]] Slot claim(NodeId to, Priority priority, std::size_t words,
                           std::size_t payload_bytes) noexcept override;
  void fill(const Slot& slot, Payload payload) noexcept override;
  void commit(const Slot& slot, impl::Header header) noexcept override;
  [[nodiscard]] bool has_room(NodeId to, Priority priority, std::size_t payload_bytes) noexcept override;

  [[nodiscard]] View receive(Priority priority) noexcept override;
  [[nodiscard]] std::optional<Payload> payload_of(const View& view) const noexcept override {
    return lent_[index(view.priority)].payload;
  }
  void release(const View& view) noexcept override;
  void defer(const View& view) noexcept override;
  [[nodiscard]] bool waits(Priority priority, const impl::Packet* lent) noexcept override {
    return arrivals_.waits(priority, lent != nullptr && lent == &lent_[index(priority)].packet);
  }

  bool progress() noexcept override;
  void flush() noexcept override;
  [[nodiscard]] bool drained() const noexcept override;
  [[nodiscard]] bool arm(Wanted wanted) noexcept override;
  void disarm() noexcept override;
  [[nodiscard]] bool still_armed(Wanted wanted) noexcept override { return armed_ && !stirs(wanted); }
  [[nodiscard]] bool describe(Lookout& lookout, Wanted wanted) const override;
  [[nodiscard]] int wake_fd() const noexcept override { return events_.get(); }

  void publish(NodeId to, std::uint32_t word, std::uint64_t value) noexcept override;
  [[nodiscard]] bool published() const noexcept override;
  void ask_clock(NodeId peer) noexcept override;
  [[nodiscard]] ControlLane* control_lane(NodeId /*peer*/) noexcept override { return this; }
  void close(NodeId peer) noexcept override;
  [[nodiscard]] std::size_t queued(NodeId to, Priority priority) const noexcept override;
  [[nodiscard]] std::string way_to(NodeId peer) const override;

  /// Connections that others opened and that proved nothing, so far.
  [[nodiscard]] std::uint64_t turned_away() const noexcept { return entrance_.turned_away(); }

 private:
  struct Claim;
  struct Peer;
  struct Lent : frames::Lent {  // what receive gave last, by priority
    bool placed = false;        // where it belongs
  };

  /// What a number in the system's list of events means: the lowest bits.
  enum class Tag : std::uint64_t { listening, timer, entrance, peer };
  static constexpr std::uint64_t tagged(Tag tag, std::uint64_t number = 0) noexcept {
    return number << 2 | static_cast<std::uint64_t>(tag);
  }
  [[nodiscard]] std::uint64_t running_ns() const noexcept { return host::running_ns(memory_->board().job()); }
  static std::size_t index(Priority priority) noexcept { return static_cast<std::size_t>(priority); }
  bool add(const Socket& socket, std::uint64_t number) noexcept override;
  [[nodiscard]] Peer& peer(NodeId node);
  [[nodiscard]] Peer& new_peer(NodeId node);
  [[nodiscard]] const Peer* known(NodeId node) const noexcept { return peers_[node].get(); }
  [[nodiscard]] bool is_over(NodeId node) const noexcept;
  [[nodiscard]] bool has_left(NodeId node) const noexcept;
  [[nodiscard]] bool credit_came() const noexcept;
  [[nodiscard]] bool stirs(Wanted wanted) const noexcept;
  [[nodiscard]] bool has_come(Wanted wanted) const noexcept {
    return (wanted.high && arrivals_.any(Priority::high)) || (wanted.low && arrivals_.any(Priority::low));
  }

  // connections
  void reach(Peer& peer);
  void call(Peer& peer);
  void accept() noexcept;
  [[nodiscard]] bool give_up_a_call() noexcept;
  [[nodiscard]] bool host_lives(Peer& peer) const noexcept;
  void ask_for_sign_of_life(Peer& peer) noexcept;
  void take_results();
  [[nodiscard]] bool gives_up(Peer& peer, const Entrance::Failure& failure) const noexcept;
  static void tell_nothing_is_wanted(Stream& stream) noexcept;
  void came_about(Entrance::Result result);
  void failed(Peer& peer, Entrance::Failure failure);
  void begin(Peer& peer, Stream stream, bool ours);
  void end(Peer& peer, std::string_view why);
  void bid_farewell(Peer& peer);
  void listen(bool yes) noexcept;
  void look_at_clock();
  [[nodiscard]] bool is_watched(const Peer& peer) const noexcept;
  void look_for_silent_hosts(std::uint64_t now);
  void lose_host_of(NodeId lost, std::string_view why);
  void set_timer() noexcept;

  // bytes out
  void is_to_write(Peer& peer);
  void write(Peer& peer);
  void add_what_is_due(Peer& peer);
  void tell_all_credit();
  void add_long(Peer& peer, Payload payload);
  void add_copy(Peer& to, Payload payload);
  [[nodiscard]] std::size_t write_long(Peer& peer, std::span<const iovec> payload);
  void cannot_write(Peer& peer, const Socket::Moved& ended);
  /// What was written is with the others' hosts.
  [[nodiscard]] bool all_have_come() const noexcept;
  void ring_self() noexcept;

  // bytes in
  void watch(Peer& peer) noexcept;
  void unwatch(Peer& peer) noexcept;
  bool look();
  bool look_at_busy();
  bool look_at_events();
  [[nodiscard]] bool has_sent_to_self() const noexcept;
  bool read(Peer& peer);
  [[nodiscard]] std::byte* destination(const Peer& from, const BegunMessage& message) const noexcept;
  [[nodiscard]] std::string_view take(Peer& peer, const Frame& frame, std::span<const std::byte> bytes,
                                      const Block& block);
  void became_busy(NodeId node);
  void take_stock() noexcept;

  const NodeId self_;
  const std::shared_ptr<const host::Memory> memory_;
  Listener* const listener_;
  Destinations* const destinations_;
  const std::uint64_t host_timeout_ns_;
  const bool tls_;
  const trust::Crypto crypto_;
  const trust::Key key_;
  const host::Descriptor events_;  // of epoll: all sockets and the timer
  const host::Descriptor timer_;   // runs while something has to happen by itself
  Entrance entrance_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by node; null: never spoken to
  std::vector<NodeId> to_write_;              // peers that write() is to be called for
  std::vector<NodeId> calling_;               // peers that are being connected to
  struct Busy {
    NodeId node;
    std::uint32_t quiet = 0;  // looks in vain
    std::uint32_t looks = 0;  // since it may sleep
  };
  std::vector<Busy> busy_;  // whose sockets are read without asking the system which are ready
  Arrivals arrivals_;
  LongBlocks long_blocks_;  // for what sockets did not take at once
  std::array<Lent, 2> lent_;
  Refusals refused_;
  bool armed_ = false;
  std::uint32_t vain_arms_ = 0;       // since a message was released
  std::uint64_t timer_every_ns_ = 0;  // 0: it does not run
  std::uint64_t next_look_for_silent_ = 0;
  std::size_t watched_ = 0;          // connections to other hosts
  std::uint64_t last_begun_ns_ = 0;  // a connection
  bool listens_ = true;
  Looks looks_;
  std::uint32_t looks_at_busy_ = 0;  // since the last at all
  std::atomic<std::uint64_t> news_{0};
};

}  // namespace am::tcp
