#include <am/splitc/world.hpp>

#include <am/collectives.hpp>
#include <am/error.hpp>
#include <am/events.hpp>
#include <am/splitc/atomic.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <span>
#include <string>

#include "models/broken.hpp"

namespace am::splitc {

namespace impl {

#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]  // here, too, or it is forgotten
#endif
thread_local constinit Here here;

namespace {

std::string node_name(NodeId node) { return "node " + std::to_string(node); }

Here place_of(World& world) {
  am::Node& node = world.node();
  const am::GlobalPtr<std::byte> first(node.id(), 0);
  Here place;
  place.bytes = am::segment_bytes(node, node.id());
  place.first = first.address().bits;
  if (place.bytes != 0) place.base = first.local(node);
  place.world = &world;
  place.node = node.id();
  place.nodes = node.size();
  return place;
}

/// What a node says of the call that it is about to make.
struct Said {
  std::array<char, 40> call{};
  std::uint64_t size = 0;
  std::uint64_t root = 0;  // as wide as size: no padding, which would travel

  [[nodiscard]] std::string text() const {
    const std::string text = std::string(call.data()) + " of " + std::to_string(size);
    return root == 0 ? text : text + " with root " + std::to_string(root);
  }
  friend bool operator==(const Said&, const Said&) = default;
};

}  // namespace

void no_world() {
  throw Error("use Split-C", "this thread has no World",
              "make one on the node's thread: am::splitc::World world(node)");
}

void must_agree(World& world, const char* call, std::uint64_t size, NodeId root) {
  Said mine;
  std::strncpy(mine.call.data(), call, mine.call.size() - 1);
  mine.size = size;
  mine.root = root;
  std::vector<Said> all(world.node().size());
  all[world.node().id()] = mine;
  std::exception_ptr thrown;
  try {
    am::all_reduce(world.node(), std::span(all),
                   [](const Said& a, const Said& b) { return a.call[0] != 0 ? a : b; });
  } catch (...) {
    if (std::ranges::any_of(all, [](const Said& one) { return one.call[0] == 0; })) throw;  // not complete
    thrown = std::current_exception();
  }
  for (NodeId node = 1; node < world.node().size(); ++node) {
    if (all[node] == all[0]) continue;
    throw Error(
        "call Split-C together", node_name(world.node().id()),
        "node 0 calls " + all[0].text() + ", node " + std::to_string(node) + " calls " + all[node].text(),
        "all nodes make the same all_ calls and barriers in the same order");
  }
  if (!thrown) return;
  // Out of a handler: the call goes on, as the others' do, and this comes out of it, or of a later one that makes progress.
  world.node().post([thrown](am::Node&) { std::rethrow_exception(thrown); });
}

InHandler::InHandler(World& world) noexcept : before_(here) {
  if (here.world != &world) here = place_of(world);
}

void wait_for(World& world, NodeId owner, Call& call) {
  world.node().wait_until([&] { return call.state != Call::State::open; }, owner);
  if (call.state == Call::State::threw) {
    throw Error("atomic", node_name(world.node().id()),
                "the function threw at its owner, " + node_name(owner), "see what that node says");
  }
}

}  // namespace impl

World::World(am::Node& node) : sent_to(node.size()), node_(node), exceptions_(std::uncaught_exceptions()) {
  if (node.own<impl::Seat>().world != nullptr)
    throw Error("make a World", impl::node_name(node.id()), "this node has one",
                "one at a time: let it end before");
  sit(this);
  try {
    impl::agree(*this, "World()");
    node.barrier();  // before it nobody sends to this one
  } catch (...) {
    sit(nullptr);
    throw;
  }
}

World::~World() {
  if (std::uncaught_exceptions() == exceptions_) {
    try {
      impl::agree(*this, "~World()");
      node_.barrier();
    } catch (...) {
      node_.post([thrown = std::current_exception()](am::Node&) { std::rethrow_exception(thrown); });
    }
  }
  sit(nullptr);
}

void World::sit(World* world) {
  const impl::Here here = world != nullptr ? impl::place_of(*world) : impl::Here{};
  const CriticalSection alone(node_);
  node_.own<impl::Seat>().world = world;
  impl::here = here;
}

World& World::of(am::Node& node) noexcept {
  World* const world = node.own<impl::Seat>().world;
  if (world == nullptr)
    models::broken(node.id(),
                   "a message of Split-C has come, and the node's World has ended by an exception");
  return *world;
}

void World::must_be_sent(am::Status status, NodeId to, const char* what) const {
  if (status == am::Status::ok) return;
  throw Error(what, impl::node_name(node_.id()),
              impl::node_name(to) + " cannot be sent to: " + std::string(to_string(status)),
              "it died or has left the job");
}

void World::begin(impl::Call& call) {
  const CriticalSection alone(node_);
  call.ticket = ++last_ticket_;
  call.next = calls_;
  calls_ = &call;
}

void World::end(const impl::Call& call) noexcept {
  const CriticalSection alone(node_);
  impl::Call** at = &calls_;
  while (*at != &call) at = &(*at)->next;
  *at = call.next;
}

/// An answer that nobody waits for any more is dropped.
void World::answered(std::uint64_t ticket, const void* result, std::size_t bytes,
                     impl::Call::State state) noexcept {
  for (impl::Call* call = calls_; call != nullptr; call = call->next) {
    if (call->ticket != ticket || call->state != impl::Call::State::open) continue;
    if (state == impl::Call::State::answered && bytes != call->bytes) return;
    if (bytes != 0) std::memcpy(call->into, result, bytes);
    call->state = state;
    return;
  }
}

void World::atomic_threw(am::Reply& reply, std::uint64_t ticket) {
  of(reply.node()).answered(ticket, nullptr, 0, impl::Call::State::threw);
}

}  // namespace am::splitc
