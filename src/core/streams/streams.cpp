#include "core/streams/streams.hpp"

#include <algorithm>
#include <am/error.hpp>
#include <am/global.hpp>
#include <bit>
#include <cstring>
#include <new>
#include <string>

#include "core/messages/own_send.hpp"
#include "core/node/engine.hpp"
#include "core/streams/messages.hpp"
#include "core/streams/stream_relay.hpp"
#include "host/heavy_fence.hpp"

namespace am::core {

namespace {

constexpr std::size_t default_bytes =
    65536;  // of a ring: the second cache's, and what hides a round trip over TCP by two pieces
const impl::InternalHandlers<stream_values, stream_mark, stream_word> internal_handlers;

}  // namespace

void stream_values(Request& request, std::uint32_t id, Payload values) {
  request.node().engine().streams().take_values(request.from(), id, values);
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
      unsaid_(engine.memory_for_events()) {}

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

void Streams::open(impl::StreamReader& reader, const impl::StreamType& type, std::size_t capacity) {
  for (const auto& [key, other] : readers_) {
    if (other->from_ == reader.from_ && other->tag_ == reader.tag_)
      throw Error("open a stream",
                  "stream " + std::to_string(reader.tag_) + " from node " + std::to_string(reader.from_) +
                      " is open: it has one reader",
                  "give each stream between two nodes a number of its own");
  }
  give_back_rings();
  const std::size_t wanted = capacity != 0 ? capacity : default_bytes / type.bytes;
  if (wanted > impl::too_many_bytes / type.bytes / 4)
    throw Error("open a stream", "it has no room for " + std::to_string(wanted) + " values", "ask for fewer");
  const std::uint64_t values = std::bit_ceil(std::max<std::uint64_t>(wanted, 2));
  const GlobalPtr<std::byte> block = allocate<std::byte>(node(), impl::StreamRing::bytes(values, type.bytes));
  auto* const ring = new (block.local(node())) impl::StreamRing;
  ring->reader = node().id();
  ring->writer = reader.from_;
  ring->id = ++last_id_;
  ring->value_bytes = type.bytes;
  ring->capacity = values;
  rings_[ring->id] = {.offset = block.offset()};
  reader.use_ring(*ring, 0);
  readers_[{reader.home_, ring->id}] = &reader;
  say(reader.from_, {.kind = Word::Kind::offer,
                     .id = ring->id,
                     .at = block.offset(),
                     .tag = reader.tag_,
                     .capacity = values,
                     .type = type});
}

void Streams::close(impl::StreamReader& reader) noexcept {
  if (reader.ring_ == nullptr) return;  // handed over
  const std::uint32_t id = reader.ring_->id;
  readers_.erase({reader.home_, id});
  reader.ring_->closed.store(1, std::memory_order_release);
  say(reader.from_, {.kind = Word::Kind::closed, .id = id, .at = reader.home_});
  if (reader.home_ != node().id()) {
    say(reader.home_, {.kind = Word::Kind::over, .id = id});
  } else {
    rings_[id].closed = true;
  }
}

void Streams::move(impl::StreamReader& reader, NodeId home, std::uint32_t id) {
  const std::uint32_t before = reader.ring_->id;
  readers_.erase({reader.home_, before});
  if (reader.home_ == node().id()) {
    rings_[before].closed = true;
  } else {
    say(reader.home_, {.kind = Word::Kind::over, .id = before});
  }
  reader.home_ = home;
  readers_[{home, id}] = &reader;
}

void Streams::hand_over(const impl::StreamReader& reader) noexcept {
  readers_.erase({reader.home_, reader.ring_->id});
}

/// Those that nobody touches any more. In the computation: handlers may not use the segment's heap.
void Streams::give_back_rings() {
  std::erase_if(rings_, [this](const auto& entry) {
    const Ring& ring = entry.second;
    if (!ring.closed || !ring.let_go) return false;
    deallocate(node(), GlobalPtr<std::byte>(node().id(), ring.offset));
    return true;
  });
}

impl::StreamReader* Streams::reader_of(NodeId home, std::uint32_t id) const noexcept {
  const auto found = readers_.find({home, id});
  return found == readers_.end() ? nullptr : found->second;
}

// -- words --------------------------------------------------------------------------------------------------------------

bool Streams::try_say(NodeId to, const Word& word) noexcept {
  const Engine::OwnSend own(engine_);
  return node().try_reply_to<stream_word>(to, word) != Status::again;
}

void Streams::say(NodeId to, const Word& word) noexcept {
  if (unsaid_.empty() && try_say(to, word)) return;
  unsaid_.emplace_back(to, word);
  if (!std::exchange(rest_is_posted_, true))
    node().post([](Node& node) { node.engine().streams().say_rest(); });
}

void Streams::say_rest() {
  const impl::Hold hold(node());
  rest_is_posted_ = false;
  while (!unsaid_.empty() && try_say(unsaid_.front().first, unsaid_.front().second)) unsaid_.pop_front();
  if (!unsaid_.empty() && !std::exchange(rest_is_posted_, true))
    node().post([](Node& node) { node.engine().streams().say_rest(); });
}

void Streams::hear(NodeId from, const Word& word) {
  using Writer = impl::StreamReader::Writer;
  const NodeId self = node().id();
  switch (word.kind) {
    case Word::Kind::offer:
      if (!std::has_single_bit(word.capacity) || word.type.bytes == 0)
        return engine_.distrust(from, "it offers a stream that cannot be");
      offers_.push_back({from, word});
      return;
    case Word::Kind::taken:
      if (impl::StreamReader* const reader = reader_of(self, word.id))
        reader->writer_ = word.at != 0 ? Writer::by_messages : Writer::by_stores;
      return;
    case Word::Kind::cut:
      return hear_cut(static_cast<NodeId>(word.at), word);
    case Word::Kind::wake:
      post_values(static_cast<NodeId>(word.at), word.id);
      return run_relays_later();
    case Word::Kind::credit:
      if (const auto found = writers_.find({from, word.id}); found != writers_.end()) {
        found->second->read_.store(word.at, std::memory_order_release);
        found->second->marks_read_.store(word.tag, std::memory_order_relaxed);
      }
      return run_relays_later();
    case Word::Kind::closed:
      if (const auto found = writers_.find({static_cast<NodeId>(word.at), word.id});
          found != writers_.end()) {
        found->second->closed_ = true;
      } else if (const auto offer = std::ranges::find_if(
                     offers_, [&](const Offer& one) { return one.from == from && one.word.id == word.id; });
                 offer != offers_.end()) {
        offers_.erase(offer);
        say(from, {.kind = Word::Kind::let_go, .id = word.id});
      }
      return run_relays_later();
    case Word::Kind::let_go:
    case Word::Kind::over:
      if (const auto ring = rings_.find(word.id); ring != rings_.end())
        (word.kind == Word::Kind::over ? ring->second.closed : ring->second.let_go) = true;
      return;
  }
  engine_.distrust(from, "it says of a stream what no node says");
}

/// Who has handed a ring over passes it on.
void Streams::hear_cut(NodeId home, const Word& word) {
  if (impl::StreamReader* const reader = reader_of(home, word.id)) {
    reader->writer_ = impl::StreamReader::Writer::none;
    return post_values(home, word.id);
  }
  if (const auto ring = rings_.find(word.id);
      home == node().id() && ring != rings_.end() && !ring->second.closed) {
    const GlobalPtr<impl::StreamRing> place(home, ring->second.offset);
    say(place.local(node())->reader.load(std::memory_order_acquire), word);
  }
}

// -- what comes by messages ---------------------------------------------------------------------------------------------

void Streams::take_values(NodeId from, std::uint32_t id, Payload values) {
  impl::StreamReader* const reader = reader_of(node().id(), id);
  if (reader == nullptr) return;  // closed meanwhile
  impl::StreamRing& ring = *reader->ring_;
  const std::uint64_t written = ring.written.load(std::memory_order_relaxed);
  const std::uint64_t count = values.size() / ring.value_bytes;
  if (from != ring.writer || values.size() % ring.value_bytes != 0 ||
      count > ring.capacity - (written - ring.read.load(std::memory_order_relaxed)))
    return engine_.distrust(from, "it sends a stream more than there is room for");
  const std::uint64_t place = written & (ring.capacity - 1);
  const std::size_t first = std::min(count, ring.capacity - place) * ring.value_bytes;
  std::memcpy(ring.values() + place * ring.value_bytes, values.data(), first);
  std::memcpy(ring.values(), values.data() + first, values.size() - first);
  ring.written.store(written + count, std::memory_order_release);
  if (ring.reader_sleeps.exchange(0, std::memory_order_relaxed) != 0) post_values(node().id(), id);
}

void Streams::take_mark(NodeId from, std::uint32_t id, impl::StreamMark mark) {
  impl::StreamReader* const reader = reader_of(node().id(), id);
  if (reader == nullptr) return;
  impl::StreamRing& ring = *reader->ring_;
  const std::uint64_t marks = ring.marks_written.load(std::memory_order_relaxed);
  if (from != ring.writer ||
      marks - ring.marks_read.load(std::memory_order_relaxed) >= impl::StreamRing::most_marks ||
      mark.kind > impl::StreamMark::Kind::end)
    return engine_.distrust(from, "it sends a stream a mark for which there is no room");
  mark.at = ring.written.load(std::memory_order_relaxed);
  ring.marks[marks % impl::StreamRing::most_marks] = mark;
  ring.marks_written.store(marks + 1, std::memory_order_release);
  if (ring.reader_sleeps.exchange(0, std::memory_order_relaxed) != 0) post_values(node().id(), id);
}

void Streams::flush_later(const impl::StreamWriter& writer) {
  node().post([to = writer.to_, id = writer.id_](Node& node) {
    const impl::Hold hold(node);
    Streams& streams = node.engine().streams();
    const auto found = streams.writers_.find({to, id});
    if (found == streams.writers_.end()) return;
    impl::StreamWriter& staged = *found->second;
    staged.flush_is_posted_ = staged.flush(false) == StreamStatus::again;
    if (staged.flush_is_posted_) streams.flush_later(staged);
  });
}

// -- on_values ----------------------------------------------------------------------------------------------------------

/// Whoever brings something finds the flag, or it is found here.
void Streams::watch(impl::StreamReader& reader) {
  bool something = reader.look() != StreamStatus::again;
  if (!something) {
    reader.ring_->reader_sleeps.store(1, std::memory_order_release);
    host::heavy_fence();
    something = reader.look() != StreamStatus::again;
  }
  if (something) post_values(reader.home_, reader.ring_->id);
}

void Streams::post_values(NodeId home, std::uint32_t id) {
  const impl::StreamReader* const reader = reader_of(home, id);
  if (reader == nullptr || !reader->on_values_) return;
  node().post([home, id](Node& node) { node.engine().streams().run_on_values(home, id); });
}

void Streams::run_on_values(NodeId home, std::uint32_t id) {
  const auto find = [&]() -> impl::StreamReader* {
    impl::StreamReader* const reader = reader_of(home, id);
    return reader != nullptr && reader->on_values_ ? reader : nullptr;
  };
  std::function<void()> f;  // a copy: it may replace itself, or close the stream
  {
    const impl::Hold hold(node());
    if (const impl::StreamReader* const reader = find()) f = reader->on_values_;
  }
  if (!f) return;
  f();
  const impl::Hold hold(node());
  impl::StreamReader* const reader = find();
  if (reader == nullptr) return;
  const StreamStatus status = reader->look();
  if (status != StreamStatus::ended && status != StreamStatus::unreachable) watch(*reader);
}

// -- relays -------------------------------------------------------------------------------------------------------------

void Streams::relay(std::unique_ptr<impl::StreamReader> in, std::unique_ptr<impl::StreamWriter> out) {
  const std::size_t value_bytes = in->ring_->value_bytes;
  relays_.push_back(std::make_unique<StreamRelay>(std::move(in), std::move(out), value_bytes));
  relays_.back()->in().on_values([this] { run_relays(); });
  run_relays_later();
}

void Streams::run_relays_later() {
  if (relays_.empty() || std::exchange(relays_are_posted_, true)) return;
  node().post([](Node& node) { node.engine().streams().run_relays(); });
}

void Streams::run_relays() {
  const impl::Hold hold(node());
  relays_are_posted_ = false;
  for (auto relay = relays_.begin(); relay != relays_.end();) {
    auto outcome = (*relay)->run();
    if (outcome == StreamRelay::Outcome::waits_for_room && (*relay)->is_told_of_room())
      outcome = (*relay)->run();
    if (outcome == StreamRelay::Outcome::waits_for_room && !(*relay)->is_told_of_room()) run_relays_later();
    relay = outcome == StreamRelay::Outcome::over ? relays_.erase(relay) : std::next(relay);
  }
}

}  // namespace am::core
