#include "support/post_network.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "host/heavy_fence.hpp"
#include "support/random.hpp"

namespace test {

using am::NodeId;
using am::Priority;
using am::Status;
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

class PostTransport final : public am::Transport {
 public:
  PostTransport(PostOffice& office, const am::Site& site)
      : office_(office),
        self_(site.self),
        listener_(*site.listener),
        own_(office.boxes_[site.self]),
        dice_(seed() + site.self) {
    const std::lock_guard lock(office_.mutex_);
    own_.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (own_.bell < 0) throw std::runtime_error("no descriptor for the post");
  }
  ~PostTransport() override {
    const std::lock_guard lock(office_.mutex_);
    own_.armed = false;
    ::close(own_.bell);
    own_.bell = -1;
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "post"; }

  // -- sending -------------------------------------------------------------------------------------------------------

  [[nodiscard]] Slot claim(NodeId to, Priority priority, std::size_t words,
                           std::size_t payload_bytes) noexcept override {
    Slot slot{nullptr, Status::again, to, priority};
    if (closed_.contains(to)) {
      slot.status = Status::unreachable;
    } else if (has_room(to, priority, payload_bytes)) {
      auto& letter = claimed_[{to, priority}];
      if (letter == nullptr) letter = std::make_unique<Letter>();
      slot.status = Status::ok;
      slot.packet = &letter->packet;
      slot.room = std::min(payload_bytes, am::impl::packet_payload_bytes);
      const std::size_t lines = am::impl::payload_lines(words, slot.room);
      slot.payload = letter->packet.payload(words, lines);
      slot.mark = Header::make(0, 0, lines, 0).bits;
    }
    return slot;
  }

  void commit(const Slot& slot, Header header) noexcept override {
    auto& letter = claimed_[{slot.to, slot.priority}];
    letter->packet.header.store(header.bits | slot.mark, std::memory_order_relaxed);
    const std::lock_guard lock(office_.mutex_);
    ++own_.under_way[{slot.to, slot.priority}];
    outbox_.emplace_back(slot.to, slot.priority, std::move(letter));
    send_off_or_wait();
  }

  [[nodiscard]] bool has_room(NodeId to, Priority priority, std::size_t /*payload_bytes*/) noexcept override {
    if (closed_.contains(to)) return true;
    const std::lock_guard lock(office_.mutex_);
    const bool room = own_.under_way[{to, priority}] < PostOffice::credits;
    if (!room) refused_.insert({to, priority});
    return room;
  }

  void publish(NodeId to, std::uint32_t word, std::uint64_t value) noexcept override {
    const std::lock_guard lock(office_.mutex_);
    words_[{to, word}] = value;
    send_off_or_wait();
  }

  [[nodiscard]] bool published() const noexcept override { return words_.empty(); }
  [[nodiscard]] bool drained() const noexcept override { return outbox_.empty() && words_.empty(); }

  // -- receiving -----------------------------------------------------------------------------------------------------

  [[nodiscard]] View receive(Priority priority) noexcept override {
    const std::lock_guard lock(office_.mutex_);
    const auto view_of = [&](auto begin, auto end) -> View {
      for (auto link = begin; link != end; ++link) {
        const auto& [key, letters] = *link;
        if (key.second != priority || letters.empty() || deferred_.contains(key)) continue;
        const am::impl::Packet& packet = letters.front()->packet;
        return {&packet, packet.head(), key.first, priority};
      }
      return {nullptr, {}, 0, priority};
    };
    const auto first = own_.letters.lower_bound({first_, Priority::low});
    const View view = view_of(first, own_.letters.end());
    return view ? view : view_of(own_.letters.begin(), first);
  }

  void release(const View& view) noexcept override {
    const std::lock_guard lock(office_.mutex_);
    own_.letters[{view.source, view.priority}].pop_front();
    PostOffice::Box& sender = office_.boxes_[view.source];
    if (std::size_t& under_way = sender.under_way[{self_, view.priority}]; under_way != 0) --under_way;
    if (sender.waits_for_credit.contains({self_, view.priority})) PostOffice::tell(sender);
  }

  void defer(const View& view) noexcept override { deferred_.insert({view.source, view.priority}); }

  [[nodiscard]] bool waits(Priority priority, const am::impl::Packet* lent) noexcept override {
    const std::lock_guard lock(office_.mutex_);
    return std::ranges::any_of(own_.letters, [&](const auto& link) {
      return link.first.second == priority &&
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
    return moved || !heard.empty() || !lost.empty();
  }

  // -- being told ----------------------------------------------------------------------------------------------------

  [[nodiscard]] bool arm(Wanted wanted) noexcept override {
    am::host::heavy_fence();
    const std::lock_guard lock(office_.mutex_);
    send_off();
    const bool credit = std::ranges::any_of(
        refused_, [&](const auto& link) { return own_.under_way[link] < PostOffice::credits; });
    if (credit || !own_.words.empty() || !own_.lost.empty() || has_come(wanted)) return false;
    own_.waits_for_credit = refused_;
    own_.armed = true;
    return true;
  }
  void disarm() noexcept override {
    const std::lock_guard lock(office_.mutex_);
    own_.armed = false;
    own_.waits_for_credit.clear();
    refused_.clear();
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
    const std::lock_guard lock(office_.mutex_);
    std::erase_if(outbox_, [peer](const Sent& sent) { return std::get<0>(sent) == peer; });
    std::erase_if(words_, [peer](const auto& word) { return word.first.first == peer; });
    for (const Priority priority : {Priority::low, Priority::high}) own_.under_way[{peer, priority}] = 0;
  }
  [[nodiscard]] std::size_t queued(NodeId to, Priority priority) const noexcept override {
    const std::lock_guard lock(office_.mutex_);
    const auto found = own_.under_way.find({to, priority});
    return found == own_.under_way.end() ? 0 : found->second;
  }

 private:
  using Letter = PostOffice::Letter;
  using Key = PostOffice::Key;
  using Sent = std::tuple<NodeId, Priority, std::unique_ptr<Letter>>;

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
    for (auto& [to, priority, letter] : outbox_) {
      PostOffice::Box& box = office_.boxes_[to];
      if (!box.cut && !own_.cut) box.letters[{self_, priority}].push_back(std::move(letter));
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
      const bool asked_for = key.second == Priority::high ? wanted.high : wanted.low;
      return asked_for && !letters.empty() && !deferred_.contains(key);
    });
  }

  PostOffice& office_;
  const NodeId self_;
  am::Listener& listener_;
  PostOffice::Box& own_;
  Random dice_;
  std::map<Key, std::unique_ptr<Letter>> claimed_;
  std::vector<Sent> outbox_;
  std::map<std::pair<NodeId, std::uint32_t>, std::uint64_t> words_;  // not sent off yet
  std::set<Key> deferred_;
  std::set<Key> refused_;
  std::set<NodeId> closed_;
  NodeId first_ = 0;  // whose letters this round begins with
};

am::Kind post_kind(PostOffice& office) {
  return {.name = "post",
          .meaning = "post",
          .options = {},
          .within_a_host = true,
          .between_hosts = true,
          .in_interrupts = false,
          .make = [&office](const am::Site& site) { return std::make_unique<PostTransport>(office, site); }};
}

}  // namespace test
