#include "core/membership/count_keeper.hpp"

#include <sched.h>

#include "core/membership/control_words.hpp"
#include "core/membership/standing.hpp"
#include "core/reports/text_out.hpp"
#include "host/job_clock.hpp"
#include "transports/control_lane.hpp"

namespace am::core {

namespace {

constexpr std::uint64_t patience_ns = 2'000'000'000;
constexpr std::uint64_t between_questions_ns = 250'000'000;
constexpr std::uint32_t questions_at_start = 16;  // the fastest of them counts
constexpr std::uint64_t unknown_error_ns = std::uint64_t{1} << 62;
// A new line begins so long after it was made: longer than a node that makes one is held up, unless the machine is very crowded.
constexpr std::uint64_t lead_ns = 50'000'000;
static_assert(lead_ns < between_questions_ns);

}  // namespace

bool CountKeeper::follows(std::uint32_t host) const noexcept {
  const std::uint64_t clock = board_.card(hosts_.first_of(host)).clock;
  return host != 0 && (clock == 0 || clock != board_.card(hosts_.first_of(0)).clock);
}

bool CountKeeper::all_agree() const noexcept {
  for (std::uint32_t host = 0; host < hosts_.count(); ++host) {
    if (follows(host) && first_in_job(board_, hosts_.nodes_of(host)) && !agreed_[host]) return false;
  }
  return true;
}

void CountKeeper::agree(Transport& network) {
  if (hosts_.count() == 1) return;
  follows_ = follows(hosts_.own());
  const std::uint64_t began = host::monotonic_ns();
  const auto wait_until = [&](auto done, std::uint64_t patience = patience_ns) {
    while (!done() && host::monotonic_ns() - began < patience) {
      network.progress();
      sched_yield();
    }
  };
  if (hosts_.own() == 0 && self_ == hosts_.first_of(0)) {
    wait_until([this] { return all_agree(); });
  } else if (follows_ && self_ == hosts_.here().front()) {
    // One question after the other.
    wait_until([&] {
      if (!asked_) ask(network, hosts_.first_of(0));
      return answers_ >= questions_at_start;
    });
    begin_line();
    const NodeId first = hosts_.first_of(0);
    network.control_lane(first)->publish(first, word_about(About::count, 0), 1);
    wait_until([&] { return network.published(); });
  } else if (follows_) {
    const host::JobClock clock(board_.job());
    wait_until([&] { return clock.follows(); }, 2 * patience_ns);
  }
  agreed_here_ = true;
}

void CountKeeper::begin_line() const noexcept {
  const std::uint64_t now = host::monotonic_ns();
  if (follower_.has_heard())
    return set_line(board_.job(), follower_.line(epoch_of_first(), std::nullopt, now));
  TextOut(&write_to_stderr)
      << "am: node " << self_ << ": node " << hosts_.first_of(0)
      << ", on another host, does not say what its clock is: Count may differ by any time\n";
  set_line(board_.job(),
           {.from_ns = now, .count = host::JobClock(board_.job()).at(now), .error_ns = unknown_error_ns});
}

void CountKeeper::ask_when_due(Transport& network) noexcept {
  const std::uint64_t now = host::monotonic_ns();
  if (now < next_ns_ || first_in_job(board_, hosts_.here()) != self_) return;
  next_ns_ = now + between_questions_ns;
  const std::optional<NodeId> whom = first_in_job(board_, hosts_.nodes_of(0));
  if (whom && asked_ != whom) ask(network, *whom);  // one that has been asked answers when it makes progress
}

void CountKeeper::ask(Transport& network, NodeId whom) noexcept {
  asked_ = whom;
  network.control_lane(whom)->ask_clock(whom);
}

void CountKeeper::heard(NodeId from, std::uint64_t asked, std::uint64_t told) noexcept {
  const std::uint64_t now = host::monotonic_ns();
  if (!follows_ || from != asked_ || asked > now) return;
  asked_.reset();
  ++answers_;
  follower_.heard(asked, told, now);
  if (!agreed_here_) return;
  const host::JobClock clock(board_.job());
  set_line(board_.job(), follower_.line(epoch_of_first(), clock.last_line(), now + lead_ns));
}

std::uint64_t CountKeeper::epoch_of_first() const noexcept {
  return board_.card(hosts_.first_of(0)).epoch_ns;
}

}  // namespace am::core
