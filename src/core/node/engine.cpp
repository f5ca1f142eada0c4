// What an Engine is made of, and how it begins.
#include "core/node/engine.hpp"

#include <am/error.hpp>
#include <string>
#include <utility>

#include "core/streams/streams.hpp"
#include "core/together/collectives.hpp"
#include "host/processors.hpp"

namespace am::core {

namespace {

NetworkOfPeers networks_for(const Job& job, const Settings& settings) {
  const auto wanted = parse_networks(settings.transport, job.kinds);
  if (!wanted)
    throw Error("choose the networks", "there is no network AM_TRANSPORT=" + settings.transport,
                "aminfo lists them");
  return choose_networks(*wanted, job.memory->board(), settings.dispatch == Dispatch::interrupt);
}

}  // namespace

Engine::Engine(Job job, const Settings& settings)
    : job_(std::move(job)),
      settings_(settings),
      memory_for_events_(settings.dispatch == Dispatch::interrupt),
      table_(HandlerTable::of_this_program()),
      handlers_(table_.rows()),
      clock_(job_.memory->board().job()),
      handler_counts_(job_.memory->board().handler_counts(job_.id)),
      recorder_(card(), Watchdog::is_wanted(settings)),
      onlooker_(job_.memory),
      membership_(job_, settings_, onlooker_),
      relay_(board(), job_.id),
      bell_(board(), job_.id),
      chosen_(networks_for(job_, settings_)),
      joining_(job_, settings_, table_, relay_.hosts()),
      networks_(job_, settings_, chosen_, relay_, *this),
      plain_(networks_.only_shm() && networks_.rings_filled_inline()),
      mixed_(networks_.shm_among_others() && networks_.rings_filled_inline()),
      unobserved_(
          Watchdog::is_wanted(settings) || settings.dispatch == Dispatch::interrupt ? 0 : timing_sample - 1),
      sender_({.board = board(),
               .self = job_.id,
               .network = networks_.all(),
               .rings = networks_.rings_filled_inline() ? networks_.rings() : nullptr,
               .counts_unlinked = !networks_.only_shm(),
               .memory = memory_for_events()},
              *this),
      multicasts_(job_.id, networks_.all(),
                  networks_.only_shm() ? MulticastSender::parts_by_memory : MulticastSender::parts_by_network,
                  sender_, memory_for_events()),
      forwarding_(job_.id, job_.size, multicasts_, memory_for_events()),
      assembler_(memory_for_events()),
      cut_off_(relay_.hosts().count() == 1 ? 0 : job_.size),
      agenda_(memory_for_events()),
      kept_(memory_for_events()),
      memory_(*this),
      collectives_(std::make_unique<CollectiveState>(memory_for_events())),
      streams_(std::make_unique<Streams>(*this)),
      handled_(card()),
      attendant_(
          {.board = board(), .self = job_.id, .dispatch = settings_.dispatch, .memory = memory_for_events()},
          *this) {
  attendant_.take_signal(settings_.signal);
  joining_.fill_in_card(shm().rings().mapped_at());
  if (Watchdog::is_wanted(settings_)) watchdog_.emplace(onlooker_, job_.id, settings_);
  joining_.meet_others();
  relay_.count().agree(networks_.all());
  if (board().job().launcher != 0 && !job_.child_of_launcher) watch_launcher();
  oversubscribed_ = host::is_oversubscribed(board(), job_.id);
}

Engine::~Engine() = default;

void Engine::attach(Node& node) {
  node_ = &node;
  node.id_ = job_.id;
  node.size_ = job_.size;
  node.dispatch_ = settings_.dispatch;
  node.shared_ = settings_.dispatch != Dispatch::poll;
  node.rings_ = networks_.rings();
  node.traffic_ = board().traffic(job_.id);
  node.segments_ = memory_.peers();
  sender_.attach(node.traffic_, node.events_);
  attendant_.attach({.node = &node, .shared = node.shared_, .depth = node.depth_, .lock = node.lock_});
  kept_from_children_.emplace(*this);
}

void Engine::poll_only() {
  must_compute("poll_only");
  attendant_.stop();
  node_->dispatch_ = Dispatch::poll;
  attendant_.throw_kept();
}

std::byte* Engine::destination(const Coming& message) noexcept {
  if (left_ || is_cut_off(network(), message.from)) return nullptr;
  std::byte* const place = memory_.remote().destination(message);
  return place != nullptr ? place : streams_->destination(message);
}

/// Without the thread a node sees amrun's end in its waits and in one of 1024 polls (look_after_peers): better than not to start.
void Engine::watch_launcher() {
  try {
    launcher_watch_.emplace(board(), job_.id);
  } catch (const Error&) {
  }
}

}  // namespace am::core
