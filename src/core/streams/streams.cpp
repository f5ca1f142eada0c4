#include "core/streams/streams.hpp"

#include <algorithm>
#include <am/error.hpp>
#include <am/global.hpp>
#include <bit>
#include <cstring>
#include <new>
#include <string>

#include "core/messages/brings_data.hpp"
#include "core/messages/own_send.hpp"
#include "core/node/engine.hpp"
#include "core/streams/messages.hpp"
#include "core/streams/stream_relay.hpp"
#include "host/heavy_fence.hpp"
#include "transports/memory_reach.hpp"
#include "transports/pathways.hpp"

namespace am::core {

namespace {

// Of a ring by default: the second cache's.
constexpr std::size_t default_bytes = 65536;
// The same where messages fill it: what hides their round trip, and has room for two of the longest. Over TCP on one machine 64 KiB carry
// 250 M words a second, 256 KiB 530, 1 MiB 660. Fewer, where the segment could not give twice as much to one of each other node, beside
// the rings that it has.
constexpr std::size_t most_bytes_by_messages = std::size_t{1} << 20;

std::size_t default_bytes_by_messages(std::size_t segment, std::size_t rings) {
  return std::clamp(segment / 4 / rings, default_bytes, most_bytes_by_messages);
}

const impl::InternalHandlers<stream_values, stream_mark, stream_word> internal_handlers;

}  // namespace

void stream_values(Request& request, std::uint64_t id, std::uint64_t at, Payload values) {
  request.node().engine().streams().take_values(request.from(), id, at, values);
}
void stream_mark(Request& request, std::uint32_t id, impl::StreamMark mark) {
  request.node().engine().streams().take_mark(request.from(), id, mark);
}
void stream_word(Reply& reply, Streams::Word word) {
  reply.node().engine().streams().hear(reply.from(), word);
}

Streams::Streams(Engine& engine)
    : engine_(engine),
      offers_(engine.memory_for_events()),
      writers_(engine.memory_for_events()),
      readers_(engine.memory_for_events()),
      rings_(engine.memory_for_events()),
      unsaid_(engine.memory_for_events()),
      unflushed_(engine.memory_for_events()),
      watched_(engine.memory_for_events()),
      spooling_(engine.memory_for_events()),
      posted_(engine.memory_for_events()),
      mapped_(engine.memory_for_events()) {}

Streams::~Streams() = default;

Node& Streams::node() noexcept { return engine_.node(); }

// -- opening and closing ------------------------------------------------------------------------------------------------

const Streams::Offer* Streams::find_offer(NodeId from, std::uint64_t tag) const noexcept {
  const auto found = std::ranges::find_if(
      offers_, [&](const Offer& offer) { return offer.from == from && offer.word.tag == tag; });
  return found == offers_.end() ? nullptr : &*found;
}

std::optional<Streams::Offer> Streams::take_offer(NodeId from, std::uint64_t tag) {
  const Offer* const found = find_offer(from, tag);
  if (found == nullptr) return {};
  const Offer offer = *found;
  offers_.erase(offers_.begin() + (found - offers_.data()));
  return offer;
}

bool Streams::reserve(NodeId to) noexcept {
  Pathways* const pathways = to == node().id() ? nullptr : engine_.network().pathways(to);
  return pathways == nullptr || pathways->reserve(to);
}

void Streams::give_back(NodeId to) noexcept {
  if (to == node().id()) return;
  if (Pathways* const pathways = engine_.network().pathways(to)) pathways->give_back(to);
}

bool Streams::is_written_by_stores(NodeId from) noexcept {
  Transport& network = engine_.network();
  return from == node().id() || network.pathways(from) != nullptr ||
         goes_by(MemoryReach::Way::mapped, network.memory_reach(from));
}

std::byte* Streams::reach(NodeId home, std::uint64_t offset, std::size_t bytes) {
  if (home == node().id() || engine_.network().pathways(home) == nullptr)
    return direct(node(), GlobalPtr<std::byte>(home, offset), bytes);
  engine_.must_not_be_a_child();
  std::span<std::byte>& its = mapped_[home];
  if (its.empty()) its = engine_.job().memory->map_user(home);
  return bytes <= its.size() && offset <= its.size() - bytes ? its.data() + offset : nullptr;
}

void Streams::open(impl::StreamReader& reader, const impl::StreamType& type, std::size_t capacity) {
  for (const auto& [key, other] : readers_) {
    if (!other->is_relayed_ && other->opened_from_ == reader.from_ && other->tag_ == reader.tag_)
      throw Error("open a stream",
                  "stream " + std::to_string(reader.tag_) + " from node " + std::to_string(reader.from_) +
                      " is open: it has one reader",
                  "give each stream between two nodes a number of its own");
  }
  give_back_rings();
  const std::size_t by_default =
      is_written_by_stores(reader.from_)
          ? default_bytes
          : default_bytes_by_messages(engine_.settings().segment_bytes, node().size() + rings_.size());
  const std::size_t wanted = capacity != 0 ? capacity : by_default / 2 / type.bytes;
  if (wanted > impl::too_many_bytes / type.bytes / 4)
    throw Error("open a stream", "it has no room for " + std::to_string(wanted) + " values", "ask for fewer");
  // Twice as many: the writer hears of what was read when that is half of the ring.
  const std::uint64_t values = std::bit_ceil(2 * std::max<std::uint64_t>(wanted, 1));
  const GlobalPtr<std::byte> block = allocate<std::byte>(node(), impl::StreamRing::bytes(values, type.bytes));
  auto* const ring = new (block.local(node())) impl::StreamRing;
  ring->reader = node().id();
  ring->writer = reader.from_;
  ring->id = ++last_id_;
  ring->value_bytes = type.bytes;
  ring->capacity = values;
  rings_[ring->id] = {.offset = block.offset()};
  reader.use_ring(*ring, 0);
  reader.number_ = ++last_number_;
  readers_[{reader.home_, ring->id}] = &reader;
  say(reader.from_, {.kind = Word::Kind::offer,
                     .id = ring->id,
                     .at = block.offset(),
                     .tag = reader.tag_,
                     .capacity = values,
                     .type = type});
}

/// And what its writer has handed over behind it, which nobody will come to.
void Streams::close(impl::StreamReader& reader) noexcept {
  watch_no_more(reader);
  spooling_.erase(reader.number_);
  if (reader.ring_ == nullptr) return;  // handed over
  readers_.erase({reader.home_, reader.ring_->id});
  NodeId home = reader.home_;
  for (impl::StreamRing* ring = reader.ring_; ring != nullptr;) {
    ring->closed.store(1, std::memory_order_release);
    const std::uint32_t id = ring->id;
    say(ring->writer, {.kind = Word::Kind::closed, .id = id, .at = home});
    impl::StreamRing* behind = nullptr;
    NodeId its_home = 0;
    if (ring->handing.exchange(impl::StreamRing::gone, std::memory_order_seq_cst) ==
        impl::StreamRing::handed) {
      const impl::StreamMark& splice = ring->last_mark();
      behind = handed_over_by(splice);
      its_home = splice.node;
    }
    is_over(home, id);
    ring = behind;
    home = its_home;
  }
}

/// This node reads that ring no more.
void Streams::is_over(NodeId home, std::uint32_t id) noexcept {
  if (home == node().id()) {
    rings_[id].closed = true;
  } else {
    say(home, {.kind = Word::Kind::over, .id = id});
  }
}

void Streams::move(impl::StreamReader& reader, NodeId home, std::uint32_t id) {
  const std::uint32_t before = reader.ring_->id;
  readers_.erase({reader.home_, before});
  is_over(reader.home_, before);
  reader.home_ = home;
  readers_[{home, id}] = &reader;
}

impl::StreamRing* Streams::handed_over_by(const impl::StreamMark& splice) noexcept {
  using impl::StreamRing;
  const auto at = [&](std::size_t bytes) { return reach(splice.node, splice.value, bytes); };
  auto* const ring = reinterpret_cast<StreamRing*>(at(sizeof(StreamRing)));
  const bool is_whole = ring != nullptr && std::has_single_bit(ring->capacity) && ring->value_bytes != 0 &&
                        at(StreamRing::bytes(ring->capacity, ring->value_bytes)) != nullptr;
  return is_whole ? ring : nullptr;
}

/// From now on `to` is the writer's other end. So do those of the rings behind, where their marks stand here already; one that is put
/// meanwhile finds `to`.
void Streams::hand_over(const impl::StreamReader& reader, NodeId to) noexcept {
  readers_.erase({reader.home_, reader.ring_->id});
  if (reader.home_ == node().id()) rings_[reader.ring_->id].handed = true;
  // Unless the new reader has come already.
  const auto tell = [&](impl::StreamRing& ring) {
    NodeId self = node().id();
    ring.reader.compare_exchange_strong(self, to, std::memory_order_acq_rel);
  };
  tell(*reader.ring_);
  host::own_fence();
  impl::StreamRing* ring = reader.ring_;
  while (ring->handing.load(std::memory_order_acquire) == impl::StreamRing::handed) {
    ring = handed_over_by(ring->last_mark());
    if (ring == nullptr || ring == reader.ring_) return;  // streams that were spliced into a circle
    tell(*ring);
  }
}

impl::StreamRing& Streams::ring_at(std::uint64_t offset) {
  return *GlobalPtr<impl::StreamRing>(node().id(), offset).local(node());
}

/// Those that nobody touches any more; a node that is gone does not. In the computation: handlers may not use the segment's heap.
void Streams::give_back_rings() {
  std::erase_if(rings_, [this](const auto& entry) {
    const Ring& ring = entry.second;
    const impl::StreamRing& it = ring_at(ring.offset);
    const bool closed =
        ring.closed || (ring.handed && node().is_gone(it.reader.load(std::memory_order_relaxed)));
    if (!closed || !(ring.let_go || node().is_gone(it.writer))) return false;
    deallocate(node(), GlobalPtr<std::byte>(node().id(), ring.offset));
    return true;
  });
}

impl::StreamReader* Streams::reader_of(NodeId home, std::uint64_t id) const noexcept {
  const auto found = readers_.find({home, id});
  return found == readers_.end() ? nullptr : found->second;
}

// -- words --------------------------------------------------------------------------------------------------------------

bool Streams::try_say(NodeId to, const Word& word) noexcept {
  const Engine::OwnSend own(engine_);
  return node().try_reply_to<stream_word>(to, word) != Status::again;
}

/// Behind what waits for that node already. One whose network is full holds up no other.
void Streams::say(NodeId to, const Word& word) noexcept {
  say_what_goes();
  const bool waits = std::ranges::find(unsaid_, to, &std::pair<NodeId, Word>::first) != unsaid_.end();
  if (!waits && try_say(to, word)) return;
  unsaid_.emplace_back(to, word);
  engine_.streams_want_looks();
}

void Streams::say_what_goes() noexcept {
  for (std::size_t i = 0; i < unsaid_.size();) {
    const auto [to, word] = unsaid_[i];
    const auto before = unsaid_.begin() + static_cast<std::ptrdiff_t>(i);
    const bool is_first = std::find_if(unsaid_.begin(), before,
                                       [to = to](const auto& one) { return one.first == to; }) == before;
    if (is_first && try_say(to, word)) {
      unsaid_.erase(unsaid_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void Streams::hear(NodeId from, const Word& word) {
  using Writer = impl::StreamReader::Writer;
  const NodeId self = node().id();
  switch (word.kind) {
    case Word::Kind::offer:
      if (!std::has_single_bit(word.capacity) || word.type.bytes == 0 ||
          word.capacity > impl::too_many_bytes / word.type.bytes / 2)
        return engine_.distrust(from, "it offers a stream that cannot be");
      offers_.push_back({from, word});
      return;
    case Word::Kind::taken:
      if (impl::StreamReader* const reader = reader_of(self, word.id)) {
        reader->writer_ = word.at != 0 ? Writer::by_messages : Writer::by_stores;
        // Its values may have come before: on the low network.
        if (word.at != 0)
          reader->tell_writer(reader->ring_->read.load(std::memory_order_relaxed),
                              reader->ring_->marks_read.load(std::memory_order_relaxed));
      }
      return;
    case Word::Kind::cut:
      return hear_cut(from, word.id);
    case Word::Kind::wake:
      return post_values(reader_of(static_cast<NodeId>(word.at), word.id));
    case Word::Kind::credit:
      if (const auto found = writers_.find({from, word.id}); found != writers_.end()) {
        impl::StreamWriter& writer = *found->second;
        const std::uint64_t read = writer.read_.load(std::memory_order_relaxed);
        const std::uint64_t marks_read = writer.marks_read_.load(std::memory_order_relaxed);
        if (word.at < read || word.at > writer.next() || word.tag < marks_read || word.tag > writer.marks_)
          return engine_.distrust(from, "it has read of a stream what was not written");
        writer.read_.store(word.at, std::memory_order_release);
        writer.marks_read_.store(word.tag, std::memory_order_relaxed);
      }
      return;
    case Word::Kind::closed:
      return hear_closed(from, word);
    case Word::Kind::let_go:
      if (const auto ring = rings_.find(word.id); ring != rings_.end()) {
        if (ring_at(ring->second.offset).writer != from)
          return engine_.distrust(from, "it lets go of a stream that it does not write");
        ring->second.let_go = true;
      }
      return;
    case Word::Kind::over:
      if (const auto ring = rings_.find(word.id); ring != rings_.end()) {
        if (!ring->second.handed) return engine_.distrust(from, "it closes a stream that it does not read");
        ring->second.closed = true;
      }
      return;
  }
  engine_.distrust(from, "it says of a stream what no node says");
}

void Streams::hear_closed(NodeId from, const Word& word) {
  const auto home = static_cast<NodeId>(word.at);
  if (const auto found = writers_.find({home, word.id}); found != writers_.end()) {
    found->second->closed_ = true;
    return;
  }
  const auto offer = std::ranges::find_if(
      offers_, [&](const Offer& one) { return one.from == home && one.word.id == word.id; });
  if (home != from || offer == offers_.end())
    return;  // who has taken a ring over closes none that is still offered
  offers_.erase(offer);
  say(from, {.kind = Word::Kind::let_go, .id = word.id});
}

/// Who has handed the ring over wakes the one that reads it.
void Streams::hear_cut(NodeId from, std::uint32_t id) {
  const auto found = rings_.find(id);
  if (found == rings_.end()) return;
  impl::StreamRing& ring = ring_at(found->second.offset);
  if (ring.writer != from) return engine_.distrust(from, "it cuts a stream that it does not write");
  ring.cut.store(1, std::memory_order_release);
  if (impl::StreamReader* const reader = reader_of(node().id(), id)) return post_values(reader);
  say(ring.reader.load(std::memory_order_acquire), {.kind = Word::Kind::wake, .id = id, .at = node().id()});
}

// -- what comes by messages ---------------------------------------------------------------------------------------------

std::byte* Streams::destination(const Coming& message) noexcept {
  if (!brings_data_for<stream_values>(message)) return nullptr;
  impl::StreamReader* const reader = reader_of(node().id(), message.words[0]);
  if (reader == nullptr || reader->ring_->writer != message.from) return nullptr;
  return reader->ring_->place_of(message.words[1], message.payload_bytes);
}

void Streams::take_values(NodeId from, std::uint64_t id, std::uint64_t at, Payload values) {
  impl::StreamReader* const reader = reader_of(node().id(), id);
  if (reader == nullptr) return;  // closed meanwhile
  impl::StreamRing& ring = *reader->ring_;
  std::byte* const place = ring.place_of(at, values.size());
  if (from != ring.writer || at != ring.written.load(std::memory_order_relaxed) || place == nullptr)
    return engine_.distrust(from, "it sends a stream more than there is room for");
  if (place != values.data())
    std::memcpy(place, values.data(), values.size());  // else the network has put them there
  ring.written.store(at + values.size() / ring.value_bytes, std::memory_order_release);
  if (ring.reader_sleeps.exchange(0, std::memory_order_relaxed) != 0) post_values(reader);
}

void Streams::take_mark(NodeId from, std::uint32_t id, impl::StreamMark mark) {
  impl::StreamReader* const reader = reader_of(node().id(), id);
  if (reader == nullptr) return;
  impl::StreamRing& ring = *reader->ring_;
  const std::uint64_t marks = ring.marks_written.load(std::memory_order_relaxed);
  if (from != ring.writer ||
      marks - ring.marks_read.load(std::memory_order_relaxed) >= impl::StreamRing::most_marks ||
      mark.kind == impl::StreamMark::Kind::splice || mark.kind > impl::StreamMark::Kind::cut)
    return engine_.distrust(from, "it sends a stream a mark for which there is no room");
  if (mark.kind == impl::StreamMark::Kind::cut) {
    ring.cut.store(1, std::memory_order_release);
    return post_values(reader);
  }
  mark.at = ring.written.load(std::memory_order_relaxed);
  ring.marks[marks % impl::StreamRing::most_marks] = mark;
  ring.marks_written.store(marks + 1, std::memory_order_release);
  if (ring.reader_sleeps.exchange(0, std::memory_order_relaxed) != 0) post_values(reader);
}

void Streams::flush_in_a_poll(impl::StreamWriter& writer) {
  if (std::exchange(writer.flush_is_due_, true)) return;
  unflushed_.emplace_back(writer.to_, writer.id_);
  engine_.streams_want_looks();
}

std::size_t Streams::flush_what_is_due() {
  std::size_t sent = 0;
  std::erase_if(unflushed_, [&](const Key& key) {
    const auto found = writers_.find(key);
    if (found == writers_.end()) return true;
    const std::uint64_t before = found->second->sent_;
    const bool again = found->second->flush(false) == StreamStatus::again;
    if (found->second->sent_ != before) ++sent;
    found->second->flush_is_due_ = again;
    return !again;
  });
  return sent;
}

std::size_t Streams::look_again() {
  if (!wants_looks()) return 0;
  const impl::Hold hold(node());
  say_what_goes();
  if (is_leaving_) return 0;
  look_at_watched();
  return drain() + flush_what_is_due() + run_relays();
}

void Streams::spools(impl::StreamReader& reader) {
  spooling_[reader.number_] = &reader;
  engine_.streams_want_looks();
}

/// Where many polls in a row have found nothing, this node may be about to sleep: writers are to wake it. One that does not see that is found
/// when the sleep ends.
std::size_t Streams::drain() {
  constexpr unsigned many = 64;
  std::size_t came = 0;
  for (const auto& [number, reader] : spooling_) came += reader->drain() ? 1 : 0;
  vain_drains_ = came != 0 ? 0 : vain_drains_ + 1;
  if (vain_drains_ % many == many - 1) {
    for (const auto& [number, reader] : spooling_)
      reader->ring_->reader_sleeps.store(1, std::memory_order_release);
  }
  return came;
}

// -- on_values ----------------------------------------------------------------------------------------------------------

/// Either a store after this finds the flag, or this finds what was stored. Where the fence does not reach, look_at_watched() does.
void Streams::watch(impl::StreamReader& reader) {
  watched_[reader.number_] = &reader;
  engine_.streams_want_looks();
  bool something = reader.look() != StreamStatus::again;
  for (const impl::StreamRing* flagged = nullptr; !something && flagged != reader.ring_;) {
    flagged = reader.ring_;
    reader.ring_->reader_sleeps.store(1, std::memory_order_release);
    host::heavy_fence();
    something = reader.look() != StreamStatus::again;  // which may lead to another ring
  }
  if (something) post_values(&reader);
}

/// A few in each poll, in turns. So they learn of a death, too.
void Streams::look_at_watched() {
  constexpr std::size_t most = 8;
  const std::size_t count = std::min(most, watched_.size());
  for (std::size_t i = 0; i < count; ++i) {
    auto next = watched_.upper_bound(last_looked_at_);
    if (next == watched_.end()) next = watched_.begin();
    last_looked_at_ = next->first;
    if (next->second->may_go_on()) post_values(next->second);
  }
}

void Streams::post_values(impl::StreamReader* reader) {
  if (reader == nullptr || !watched_.contains(reader->number_)) return;
  if (std::ranges::find(posted_, reader->number_) != posted_.end()) return;
  posted_.push_back(reader->number_);
  node().post([number = reader->number_](Node& node) { node.engine().streams().run_on_values(number); });
}

void Streams::run_on_values(std::uint32_t number) {
  std::function<void()> f;  // a copy: it may replace itself, or close the stream
  {
    const impl::Hold hold(node());
    std::erase(posted_, number);
    const auto found = watched_.find(number);
    if (found == watched_.end()) return;
    f = found->second->on_values_;
  }
  try {
    f();
  } catch (...) {
    watch_again(number);
    throw;
  }
  watch_again(number);
}

/// That nothing follows it is told once.
void Streams::watch_again(std::uint32_t number) {
  const impl::Hold hold(node());
  const auto found = watched_.find(number);
  if (found == watched_.end()) return;
  impl::StreamReader& reader = *found->second;
  const StreamStatus status = reader.look();
  if (status != StreamStatus::ended && status != StreamStatus::unreachable) return watch(reader);
  if (!std::exchange(reader.is_told_of_end_, true)) return post_values(&reader);
  watched_.erase(found);
}

// -- relays -------------------------------------------------------------------------------------------------------------

void Streams::leave() noexcept {
  is_leaving_ = true;
  for (const std::unique_ptr<StreamRelay>& relay : relays_) relay->out().cut();
}

void Streams::relay(std::unique_ptr<impl::StreamReader> in, std::unique_ptr<impl::StreamWriter> out) {
  const std::size_t value_bytes = in->ring_->value_bytes;
  in->is_relayed_ = true;
  relays_.push_back(std::make_unique<StreamRelay>(std::move(in), std::move(out), value_bytes));
  engine_.streams_want_looks();
}

/// In each poll: one that waits for room in a network hears of none.
std::size_t Streams::run_relays() {
  const impl::Hold hold(node());
  std::size_t passed = 0;
  for (auto relay = relays_.begin(); relay != relays_.end();) {
    const std::uint64_t before = (*relay)->passed();
    auto outcome = (*relay)->run();
    const bool asks =
        outcome == StreamRelay::Outcome::waits_for_room
            ? (*relay)->is_told_of_room()
            : outcome == StreamRelay::Outcome::waits_for_values && (*relay)->is_told_of_values();
    if (asks) outcome = (*relay)->run();
    passed += (*relay)->passed() - before;
    relay = outcome == StreamRelay::Outcome::over ? relays_.erase(relay) : std::next(relay);
  }
  return passed;
}

}  // namespace am::core
