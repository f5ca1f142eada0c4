// How the program's messages are kept while it says so (am::MessagesKept), and run afterwards: before any that come later.
#include "core/events/kept_messages.hpp"

#include "core/events/levels.hpp"
#include "core/node/engine.hpp"
#include "core/reports/fatal.hpp"
#include "host/counted.hpp"

namespace am {

namespace core {

void Engine::keep_messages(bool keep) noexcept {
  keeping_ += keep ? 1 : -1;
  choose_way();
  attendant_.look_again();  // who is armed is to run them
}

/// Messages that were kept run on the way that asks for them.
void Engine::choose_way() noexcept {
  const bool usual = !kept_wait() && !disowned_ && networks_.rings_filled_inline();
  plain_ = usual && networks_.only_shm();
  mixed_ = usual && networks_.shm_among_others();
}

void Engine::keep(const impl::Arrival& message) noexcept {
  if (!kept_.add(message))
    broken(job_.id, "no memory to keep a message of ", host::Counted{message.bytes(), "byte"}, " from node ",
           message.from, ", which came while the program runs no handlers");
}

void Engine::run_kept(Priority priority) {
  const KeptMessages::Message message = kept_.take(priority);
  const impl::Arrival came = message.arrival();
  handled_payload_[static_cast<std::size_t>(priority)] = came.payload.size();
  run_handler_or_default(came);
}

std::size_t Engine::run_kept_replies() {
  std::size_t ran = 0;
  for (; kept_wait() && !kept_.empty(Priority::high) && may_run(Event::high_message); ++ran) {
    const HighLevel level(*this);
    run_kept(Priority::high);
  }
  return ran;
}

/// As many requests as one poll runs, and before each the replies that wait.
std::size_t Engine::run_kept() {
  std::size_t ran = serve_high();
  while (ran < requests_per_poll && kept_wait() && !kept_.empty(Priority::low) &&
         may_run(Event::low_message)) {
    {
      const LowLevel level(*this);
      run_kept(Priority::low);
    }
    ran += 1 + serve_high();
  }
  choose_way();
  return ran;
}

/// Of a node that leaves.
void Engine::drop_kept() noexcept {
  for (const Priority priority : {Priority::high, Priority::low}) {
    while (!kept_.empty(priority)) {
      const KeptMessages::Message message = kept_.take(priority);
      const impl::Arrival came = message.arrival();
      undelivered_.count(priority, came.head.handler(), came.from);
    }
  }
}

}  // namespace core

MessagesKept::MessagesKept(Node& node) noexcept : hold_(node), node_(node), before_(node.events_.ame) {
  node.events_.ame = false;
  node.engine().keep_messages(true);
}

MessagesKept::~MessagesKept() {
  node_.events_.ame = before_;
  node_.engine().keep_messages(false);
}

}  // namespace am
