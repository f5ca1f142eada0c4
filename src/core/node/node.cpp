// The public face of the engine behind a node.
#include <am/impl/waiter.hpp>
#include <am/node.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/node/engine.hpp"
#include "core/reports/fatal.hpp"

namespace am {

#ifdef AM_CHECKED
const char program_with_AM_CHECKED_needs_libam_with_AM_CHECKED = 0;
#else
const char program_without_AM_CHECKED_needs_libam_without_AM_CHECKED = 0;
#endif
const char AM_STANDARD_LIBRARY = 0;

namespace {
[[gnu::tls_model("initial-exec")]] thread_local constinit Node* node_of_this_thread = nullptr;
}

namespace impl {
thread_local constinit Node* events_of_this_thread = nullptr;
Node* current_node() noexcept { return node_of_this_thread; }
}  // namespace impl

Node* this_node() noexcept {
  Node* const node = impl::events_of_this_thread;
  return node != nullptr ? node : node_of_this_thread;
}

Node::Node(std::unique_ptr<core::Engine> engine) : engine_(std::move(engine)) {
  engine_->attach(*this);
  node_of_this_thread = this;
}

Node::~Node() {
  engine_->leave();
  node_of_this_thread = nullptr;
}

std::size_t Node::poll() { return engine_->poll(); }
std::size_t Node::poll_replies() { return engine_->poll_replies(); }

void Node::poll_only() { engine_->poll_only(); }

void Node::check_use_(Priority priority, bool wait) {
  engine_->must_be_owner();
  const impl::Hold hold(*this);
  if (wait) engine_->must_not_wait(priority);
}

Status Node::send_slowly_(const impl::OutMessage& message, bool wait) {
  if (message.to < size_ && message.payload.empty()) {
    if (impl::Packet* const packet =
            rings_[impl::link_index(message.to, message.priority)].claim_unless_reserved(1)) {
      std::copy_n(message.word, message.words, packet->words);
      publish_(message.to, message.priority, *packet,
               impl::Header::make(message.handler, message.words, 0, 0), 0);
      return Status::ok;
    }
  }
  const impl::Hold hold(*this);
  return engine_->send(message, wait);
}

void Node::attend_() noexcept { engine_->attendant().attend(); }

void Node::ring_doorbell_(NodeId to, Priority priority) noexcept { engine_->ring_doorbell(to, priority); }

impl::Waiter Node::begin_wait_(const char* what) {
  engine_->must_compute(what);
  return impl::Waiter(*engine_, what);
}

void Node::wrong_state_() const noexcept {
  core::broken(
      id_,
      state_ == nullptr
          ? "a handler needs the object of its node (it is a member function, or asks for state()), but "
            "nothing was attached (Node::attach): attach the object, then enter a barrier, then send"
          : "a handler needs an object of another type than was attached (a node has one attached object; "
            "Node::own is for more)");
}

void Node::keep_owned_(const impl::TypeTag& type, std::shared_ptr<void> object) {
  owned_.push_back({type, std::move(object)});
}

void Node::post(std::function<void(Node&)> f) {
  const impl::Hold hold(*this);
  engine_->post(std::move(f));
}

bool Node::is_gone(NodeId peer) const noexcept { return peer < size_ && engine_->membership().is_gone(peer); }
bool Node::oversubscribed() const noexcept { return engine_->oversubscribed(); }

Count Node::count() const noexcept { return engine_->now(); }
Count Node::count_error() const noexcept { return engine_->clock().error_ns(); }

TimeletId Node::on_timelet(Count when, std::function<void(LowEvent&)> f) {
  const impl::Hold hold(*this);
  return engine_->add_timelet(when, std::move(f));
}

bool Node::cancel_timelet(TimeletId id) noexcept {
  const impl::Hold hold(*this);
  return engine_->cancel_timelet(id);
}

void Node::on_outlet(std::function<void(LowEvent&)> f) {
  const impl::Hold hold(*this);
  engine_->set_outlet(std::move(f));
}

void Node::on_default(std::function<void(Incoming&)> f) {
  const impl::Hold hold(*this);
  engine_->set_default_handler(std::move(f));
}

void Node::on_peer_death(std::function<void(Node&, NodeId)> f) {
  const impl::Hold hold(*this);
  engine_->set_on_peer_death(std::move(f));
}

std::string_view Incoming::handler_name() const noexcept {
  return node_->engine().table().name(message_.head.handler());
}

void Incoming::run() const {
  const impl::Hold hold(*node_);  // the default handler is out of the node, in the interrupt mode
  struct Again {                  // and goes on there, to be interrupted
    core::Engine& engine;
    ~Again() { engine.attendant().look_again(); }
  } const again{node_->engine()};
  node_->engine().run_handler(message_);
}

}  // namespace am
