#include "support/post_network.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "host/heavy_fence.hpp"
#include "support/random.hpp"
#include "transports/control_lane.hpp"
#include "transports/unordered_lanes.hpp"

namespace test {

using namespace am;
using am::impl::Header;

std::mutex& PostOffice::mutex_of_all() {
  static std::mutex mutex;
  static const int kept =
      pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
  if (kept != 0) throw std::runtime_error("the post cannot be kept from children");
  return mutex;
}

void PostOffice::tell(Box& box) noexcept {
  box.news.fetch_add(1, std::memory_order_release);
  if (box.armed) eventfd_write(box.bell, 1);
  box.armed = false;
}

void PostOffice::cut(NodeId node) {
  const std::lock_guard lock(mutex_);
  boxes_[node].cut = true;
  for (Box& box : boxes_) {
    box.lost.push_back(node);
    tell(box);
  }
}

class PostTransport final : public am::Transport,
                            public am::UnorderedLanes,
                            public am::ControlLane,
                            public am::MemoryReach {
 public:
  PostTransport(PostOffice& office, const am::Site& site)
      : office_(office),
        self_(site.self),
        listener_(*site.listener),
        destinations_(site.destinations),
        own_(office.boxes_[site.self]),
        dice_(seed() + site.self) {
    const std::lock_guard lock(office_.mutex_);
    own_.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (own_.bell < 0) throw std::runtime_error("no descriptor for the post");
    own_.segment = site.segment;
  }
  ~PostTransport() override {
    const std::lock_guard lock(office_.mutex_);
    own_.armed = false;
    own_.segment = {};
    ::close(own_.bell);
    own_.bell = -1;
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "post"; }

  // -- sending -------------------------------------------------------------------------------------------------------

  [[nodiscard]] Slot claim(NodeId to, Priority priority, std::size_t words,
                           std::size_t payload_bytes) noexcept override {
    return claim_in({to, priority, PostOffice::in_order}, words, payload_bytes);
  }
  [[nodiscard]] Slot claim_unordered(NodeId to, Priority priority, std::size_t words,
                                     std::size_t payload_bytes) noexcept override {
    return claim_in({to, priority, PostOffice::unordered}, words, payload_bytes);
  }

  void commit(const Slot& slot, Header header) noexcept override {
    const Key key{slot.to, slot.priority, slot.lane};
    auto& letter = claimed_[key];
    letter->packet.header.store(header.bits | slot.mark, std::memory_order_relaxed);
    const std::lock_guard lock(office_.mutex_);
    ++own_.under_way[key];
    outbox_.emplace_back(key, std::move(letter));
    send_off_or_wait();
  }

  [[nodiscard]] bool has_room(NodeId to, Priority priority, std::size_t /*payload_bytes*/) noexcept override {
    return has_room_in({to, priority, PostOffice::in_order});
  }
  [[nodiscard]] bool has_room_unordered(NodeId to, Priority priority,
                                        std::size_t /*payload_bytes*/) noexcept override {
    return has_room_in({to, priority, PostOffice::unordered});
  }

  void publish(NodeId to, std::uint32_t word, std::uint64_t value) noexcept override {
    const std::lock_guard lock(office_.mutex_);
    words_[{to, word}] = value;
    send_off_or_wait();
  }

  void ask_clock(NodeId /*peer*/) noexcept override {}
  [[nodiscard]] bool published() const noexcept override { return words_.empty(); }
  [[nodiscard]] bool drained() const noexcept override {
    return outbox_.empty() && words_.empty() && moves_.empty();
  }

  [[nodiscard]] Way way() const noexcept override { return Way::moved; }
  [[nodiscard]] UnorderedLanes* unordered_lanes(NodeId /*peer*/) noexcept override { return this; }
  [[nodiscard]] ControlLane* control_lane(NodeId /*peer*/) noexcept override { return this; }
  [[nodiscard]] MemoryReach* memory_reach(NodeId /*peer*/) noexcept override { return this; }
  [[nodiscard]] std::size_t shortest_move(Access /*access*/, NodeId /*peer*/) const noexcept override {
    return destinations_ == nullptr ? SIZE_MAX : 65;
  }
  [[nodiscard]] Status begin_move(const Move& move, const std::byte* from) noexcept override {
    if (closed_.contains(move.peer)) return Status::unreachable;
    const auto peer_of = [](const Moving& one) { return one.move.peer; };
    if (std::ranges::count(moves_, move.peer, peer_of) == most_moves) {
      move_refused_ = true;
      return Status::again;
    }
    moves_.push_back({move, std::vector<std::byte>(move.bytes)});
    if (from != nullptr) std::copy_n(from, move.bytes, moves_.back().bytes.begin());
    const std::lock_guard lock(office_.mutex_);
    PostOffice::tell(own_);  // it is to make progress
    return Status::ok;
  }

  // -- receiving -----------------------------------------------------------------------------------------------------

  [[nodiscard]] View receive(Priority priority) noexcept override {
    const std::lock_guard lock(office_.mutex_);
    const auto view_of = [&](auto begin, auto end) -> View {
      for (auto link = begin; link != end; ++link) {
        const auto& [key, letters] = *link;
        const auto& [from, of, lane] = key;
        if (of != priority || letters.empty() || deferred_.contains(key)) continue;
        const am::impl::Packet& packet = letters.front()->packet;
        return {&packet, packet.head(), from, priority, lane};
      }
      return {nullptr, {}, 0, priority};
    };
    const auto first = own_.letters.lower_bound({first_, Priority::low, PostOffice::in_order});
    const View view = view_of(first, own_.letters.end());
    return view ? view : view_of(own_.letters.begin(), first);
  }

  void release(const View& view) noexcept override {
    const std::lock_guard lock(office_.mutex_);
    own_.letters[{view.source, view.priority, view.lane}].pop_front();
    PostOffice::Box& sender = office_.boxes_[view.source];
    const Key to_here{self_, view.priority, view.lane};
    if (std::size_t& under_way = sender.under_way[to_here]; under_way != 0) --under_way;
    if (sender.waits_for_credit.contains(to_here)) PostOffice::tell(sender);
  }

  void defer(const View& view) noexcept override {
    deferred_.insert({view.source, view.priority, view.lane});
  }

  [[nodiscard]] bool waits(Priority priority, const am::impl::Packet* lent) noexcept override {
    const std::lock_guard lock(office_.mutex_);
    return std::ranges::any_of(own_.letters, [&](const auto& link) {
      return std::get<Priority>(link.first) == priority &&
             std::ranges::any_of(link.second, [&](const auto& letter) { return &letter->packet != lent; });
    });
  }

  bool progress() noexcept override {
    deferred_.clear();
    first_ = first_ + 1 < office_.boxes_.size() ? first_ + 1 : 0;
    PostOffice::Published heard;
    std::vector<NodeId> lost;
    bool moved = false;
    {
      const std::lock_guard lock(office_.mutex_);
      moved = send_off();
      heard.swap(own_.words);
      lost.swap(own_.lost);
    }
    for (const auto& [word, value] : heard) listener_.heard(word.first, word.second, value);
    for (const NodeId node : lost) listener_.lost(node);
    moved = carry_out_moves() || moved;
    return moved || !heard.empty() || !lost.empty();
  }

  // -- being told ----------------------------------------------------------------------------------------------------

  [[nodiscard]] bool arm(Wanted wanted) noexcept override {
    am::host::heavy_fence();
    const std::lock_guard lock(office_.mutex_);
    send_off();
    const bool credit = std::ranges::any_of(
        refused_, [&](const auto& link) { return own_.under_way[link] < PostOffice::credits; });
    if (credit || move_refused_ || !moves_.empty()) return false;
    if (!own_.words.empty() || !own_.lost.empty() || has_come(wanted)) return false;
    own_.waits_for_credit = refused_;
    own_.armed = true;
    return true;
  }
  void disarm() noexcept override {
    const std::lock_guard lock(office_.mutex_);
    own_.armed = false;
    own_.waits_for_credit.clear();
    refused_.clear();
    move_refused_ = false;
    eventfd_t rung = 0;
    eventfd_read(own_.bell, &rung);
  }
  [[nodiscard]] bool still_armed(Wanted wanted) noexcept override {
    const std::lock_guard lock(office_.mutex_);
    return own_.armed && !has_come(wanted);
  }
  [[nodiscard]] bool describe(am::Lookout& lookout, Wanted wanted) const override {
    const std::lock_guard lock(office_.mutex_);
    lookout.watch(own_.news);
    return has_come(wanted);
  }
  [[nodiscard]] int wake_fd() const noexcept override { return own_.bell; }

  void close(NodeId peer) noexcept override {
    closed_.insert(peer);
    std::erase_if(moves_, [peer](const Moving& one) { return one.move.peer == peer; });
    const std::lock_guard lock(office_.mutex_);
    std::erase_if(outbox_, [peer](const Sent& sent) { return std::get<0>(sent.first) == peer; });
    std::erase_if(words_, [peer](const auto& word) { return word.first.first == peer; });
    for (auto& [key, letters] : own_.under_way) {
      if (std::get<0>(key) == peer) letters = 0;
    }
  }
  [[nodiscard]] std::size_t queued(NodeId to, Priority priority) const noexcept override {
    const std::lock_guard lock(office_.mutex_);
    std::size_t all = 0;
    for (const std::uint32_t lane : {PostOffice::in_order, PostOffice::unordered}) {
      const auto found = own_.under_way.find({to, priority, lane});
      if (found != own_.under_way.end()) all += found->second;
    }
    return all;
  }

 private:
  using Letter = PostOffice::Letter;
  using Key = PostOffice::Key;
  using Sent = std::pair<Key, std::unique_ptr<Letter>>;  // to whom
  struct Moving {
    Move move;
    std::vector<std::byte> bytes;
  };
  static constexpr std::ptrdiff_t most_moves = 4;  // to a peer

  [[nodiscard]] Slot claim_in(const Key& key, std::size_t words, std::size_t payload_bytes) {
    const auto& [to, priority, lane] = key;
    Slot slot{nullptr, Status::again, to, priority};
    if (closed_.contains(to)) {
      slot.status = Status::unreachable;
    } else if (has_room_in(key)) {
      auto& letter = claimed_[key];
      if (letter == nullptr) letter = std::make_unique<Letter>();
      slot.status = Status::ok;
      slot.packet = &letter->packet;
      slot.room = std::min(payload_bytes, am::impl::packet_payload_bytes);
      const std::size_t lines = am::impl::payload_lines(words, slot.room);
      slot.payload = letter->packet.payload(words, lines);
      slot.mark = Header::make(0, 0, lines, 0).bits;
      slot.lane = lane;
    }
    return slot;
  }
  [[nodiscard]] bool has_room_in(const Key& key) {
    if (closed_.contains(std::get<0>(key))) return true;
    const std::lock_guard lock(office_.mutex_);
    const bool room = own_.under_way[key] < PostOffice::credits;
    if (!room) refused_.insert(key);
    return room;
  }

  /// About a half of them. Those of who is gone stay, until core hears of that.
  bool carry_out_moves() noexcept {
    std::vector<Moving> done;
    {
      const std::lock_guard lock(office_.mutex_);
      std::erase_if(moves_, [&](Moving& one) {
        const std::span<std::byte> there = office_.boxes_[one.move.peer].segment;
        const bool is_cut = own_.cut || office_.boxes_[one.move.peer].cut;
        if (is_cut || there.empty() || dice_.one_in(2)) return false;
        const auto place = there.subspan(one.move.offset, one.move.bytes);
        if (one.move.access == Access::store) {
          std::ranges::copy(one.bytes, place.begin());
          one.bytes.clear();
        } else {
          std::ranges::copy(place, one.bytes.begin());
        }
        done.push_back(std::move(one));
        return true;
      });
    }
    while (!done.empty()) {
      std::swap(done[dice_.below(done.size())], done.back());
      const Moving one = std::move(done.back());
      done.pop_back();
      destinations_->moved(one.move, am::Payload(one.bytes.data(), one.bytes.size()));
    }
    return !moves_.empty();
  }

  // With the mutex held.

  /// One in eight waits until this node next makes progress; one that is armed is told that it should.
  void send_off_or_wait() noexcept {
    if (!dice_.one_in(8)) {
      send_off();
    } else {
      PostOffice::tell(own_);
    }
  }
  bool send_off() noexcept {
    const bool any = !outbox_.empty() || !words_.empty();
    for (auto& [key, letter] : outbox_) {
      const auto& [to, priority, lane] = key;
      PostOffice::Box& box = office_.boxes_[to];
      auto& letters = box.letters[{self_, priority, lane}];
      // Anywhere behind the first one, which may be lent.
      const bool passes = lane == PostOffice::unordered && !letters.empty();
      const std::size_t place = passes ? 1 + dice_.below(letters.size()) : letters.size();
      if (!box.cut && !own_.cut)
        letters.insert(letters.begin() + static_cast<std::ptrdiff_t>(place), std::move(letter));
      PostOffice::tell(box);
    }
    for (const auto& [word, value] : words_) {
      PostOffice::Box& box = office_.boxes_[word.first];
      if (!box.cut && !own_.cut) box.words[{self_, word.second}] = value;
      PostOffice::tell(box);
    }
    outbox_.clear();
    words_.clear();
    return any;
  }
  [[nodiscard]] bool has_come(Wanted wanted) const noexcept {
    return std::ranges::any_of(own_.letters, [&](const auto& link) {
      const auto& [key, letters] = link;
      const bool asked_for = std::get<Priority>(key) == Priority::high ? wanted.high : wanted.low;
      return asked_for && !letters.empty() && !deferred_.contains(key);
    });
  }

  PostOffice& office_;
  const NodeId self_;
  am::Listener& listener_;
  am::Destinations* const destinations_;
  PostOffice::Box& own_;
  Random dice_;
  std::map<Key, std::unique_ptr<Letter>> claimed_;
  std::vector<Sent> outbox_;
  std::map<std::pair<NodeId, std::uint32_t>, std::uint64_t> words_;  // not sent off yet
  std::set<Key> deferred_;
  std::set<Key> refused_;
  std::set<NodeId> closed_;
  std::vector<Moving> moves_;
  bool move_refused_ = false;
  NodeId first_ = 0;  // whose letters this round begins with
};

am::Kind post_kind(PostOffice& office) {
  return {.name = "post",
          .meaning = "post",
          .options = {},
          .within_a_host = true,
          .between_hosts = true,
          .in_interrupts = false,
          .make = [&office](const am::Site& site) { return std::make_unique<PostTransport>(office, site); },
          .moves = true};
}

}  // namespace test
