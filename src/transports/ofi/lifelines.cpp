#include "transports/ofi/lifelines.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

namespace am::ofi {

namespace {

bool has_other_hosts(const host::Board& board) noexcept {
  for (NodeId node = 0; node < board.nodes(); ++node) {
    if (!board.is_here(node)) return true;
  }
  return false;
}

constexpr std::uint64_t between_looks_when_leaving_ns = 20'000'000;
/// Whose line ends may have left in order. It has bidden farewell to those that have spoken to it; the others hear of it from the rest of
/// the job, within this time.
constexpr std::uint64_t patience_with_ends_ns = 3'000'000'000;

bool can_be_written(const tcp::Socket& socket) noexcept {
  pollfd events{.fd = socket.descriptor(), .events = POLLOUT, .revents = 0};
  return ::poll(&events, 1, 0) == 1;
}

}  // namespace

Lifelines::Lifelines(const Site& site)
    : timeout_ns_(site.host_timeout_ns), most_taken_(site.memory->nodes()) {
  if (timeout_ns_ != 0 && has_other_hosts(site.memory->board())) doors_ = tcp::open_doors(site.interfaces);
}

std::string Lifelines::address(std::size_t room) const { return tcp::text_of(doors_.told, room); }

void Lifelines::take_in() {
  std::erase_if(taken_, [](tcp::Socket& line) {
    std::array<std::byte, 16> nothing;
    return line.read(nothing).outcome != tcp::Socket::Moved::Outcome::blocked;  // no peer says anything
  });
  for (const tcp::Socket& door : doors_.listening) {
    while (taken_.size() < most_taken_) {
      tcp::Socket line = tcp::accept_from(door);
      if (!line) break;
      taken_.push_back(std::move(line));
    }
  }
}

void Lifelines::tie(NodeId node, std::string_view address) {
  const bool is_there = std::ranges::find(lines_, node, &Line::node) != lines_.end();
  if (timeout_ns_ == 0 || address.empty() || is_there) return;
  std::vector<tcp::Address> all = tcp::parse_addresses(address);
  std::ranges::reverse(all);  // the last one is tried first
  lines_.push_back({node, std::move(all)});
  try_next(lines_.back());
}

void Lifelines::cut(NodeId node) noexcept {
  std::erase_if(lines_, [node](const Line& line) { return line.node == node; });
}

void Lifelines::try_next(Line& line) const {
  line.socket = {};
  while (!line.socket && !line.left.empty()) {
    line.socket = tcp::connect_to(line.left.back());
    line.left.pop_back();
  }
  if (line.socket) line.socket.ask_for_life(timeout_ns_);
}

std::vector<Lifelines::Broken> Lifelines::broken(std::uint64_t now, bool leaving) {
  std::vector<Broken> all;
  if (now < next_look_ns_) return all;
  // Whoever is woken for it is not to come too early.
  next_look_ns_ = now + (leaving ? between_looks_when_leaving_ns : between_looks_ns) / 2;
  take_in();
  std::erase_if(lines_, [&](Line& line) {
    bool host = false;
    std::string why = look(line, now, host, leaving);
    const bool is_told = !why.empty();
    if (is_told) all.push_back({line.node, host, std::move(why)});
    return is_told || (!line.socket && !line.is_refused);
  });
  return all;
}

/// Why the peer is gone, if it is.
std::string Lifelines::look(Line& line, std::uint64_t now, bool& host, bool leaving) const {
  const auto ended = [&] {
    if (line.ended_ns == 0) line.ended_ns = now;
    return leaving || now - line.ended_ns >= patience_with_ends_ns ? "its process has ended" : "";
  };
  if (line.ended_ns != 0) return ended();
  if (!line.is_tied && line.socket) {
    if (!can_be_written(line.socket)) return {};
    const int failure = line.socket.failure();
    if (failure == ECONNRESET || failure == EPIPE) return ended();  // it came about, before this look
    if (failure != 0 || line.socket.is_to_itself()) {
      line.is_refused = failure == 0 || failure == ECONNREFUSED;
      try_next(line);
    } else {
      line.is_tied = true;
    }
  }
  if (!line.socket) return line.is_refused && leaving ? ended() : "";
  if (!line.is_tied) return {};
  if (const std::uint64_t silent = line.socket.silent_ns(); silent >= timeout_ns_) {
    host = true;
    return "its host does not answer since " + std::to_string(silent / 1'000'000) + " ms";
  }
  std::array<std::byte, 16> nothing;
  return line.socket.read(nothing).outcome == tcp::Socket::Moved::Outcome::ended ? ended() : "";
}

}  // namespace am::ofi
