#include "emulated_hw/kit/trace.hpp"

#include <algorithm>
#include <iterator>

namespace am::kit {

Trace::Trace(const Topology& topology, std::size_t most)
    : topology_(topology),
      nodes_(nodes_of(topology)),
      ports_(ports_of(topology)),
      most_(most),
      last_on_(nodes_ + std::size_t{routers_of(topology)} * ports_, nothing),
      doing_(nodes_) {}

template <class Record>
bool Trace::has_room(const std::vector<Record>& records, Cycle now) noexcept {
  if (is_full_) return false;
  is_full_ = records.size() >= most_;
  full_at_ = now;
  return !is_full_;
}

std::uint32_t Trace::begins(NodeNumber from, NodeNumber to, unsigned kind) {
  if (!has_room(messages_, cycles_)) return nothing;
  messages_.push_back({from, to, kind});
  return static_cast<std::uint32_t>(messages_.size() - 1);
}

void Trace::passes(std::uint32_t message, RouterNumber router, unsigned port, Cycle now, unsigned flits) {
  if (message == nothing || is_full_) return;
  cycles_ = std::max(cycles_, now);
  std::uint32_t& last = last_on_[link(router, port)];
  if (last != nothing) {
    Passage& before = passages_[last];
    if (before.message == message && before.begin + before.flits == now) {
      before.flits += flits;
      return;
    }
  }
  if (!has_room(passages_, now)) return;
  last = static_cast<std::uint32_t>(passages_.size());
  passages_.push_back({now, message, router, port, flits});
}

void Trace::comes(std::uint32_t message, NodeNumber node, Cycle now) {
  if (message != nothing && has_room(arrivals_, now)) arrivals_.push_back({now, message, node});
}

void Trace::does(NodeNumber node, unsigned what, Cycle now, bool anew) {
  Activity& doing = doing_[node];
  if (doing.what == what && doing.end == now && !anew) {
    doing.end = now + 1;
    return;
  }
  if (doing.what != nothing && has_room(activities_, now)) activities_.push_back(doing);
  doing = {now, now + 1, node, what};
}

void Trace::ends(Cycle now) {
  for (Activity& doing : doing_) {
    if (doing.what != nothing && has_room(activities_, now)) activities_.push_back(doing);
    doing = {};
  }
  cycles_ = is_full_ ? full_at_ : now;
}

std::string Trace::what_is_missing() const {
  if (!is_full_) return {};
  return "the trace is full at cycle " + std::to_string(full_at_) + ", with " + std::to_string(most_) +
         " records of a sort: what came later is not in it";
}

std::vector<std::vector<Trace::Passage>> Trace::first_passages() const {
  std::vector<std::vector<Passage>> all(messages_.size());
  for (const Passage& passage : passages_) {
    std::vector<Passage>& of_message = all[passage.message];
    const auto is_before = [&](const Passage& one) {
      return one.router == passage.router && one.port == passage.port;
    };
    if (std::ranges::none_of(of_message, is_before)) of_message.push_back(passage);
  }
  return all;
}

std::vector<Trace::Way> Trace::ways() const {
  const std::vector<std::vector<Passage>> by_message = first_passages();
  std::vector<Way> ways;
  for (const Arrival& end : arrivals_) {
    // From the end back: the last that came to this router before, and does not end at its node.
    const std::vector<Passage>& passages = by_message[end.message];
    Way& way = ways.emplace_back(Way{end, {}});
    auto at = std::ranges::find_if(passages, [&](const Passage& one) {
      return one.port != injection && any_place_of(topology_, end.node, [&](const Place& last) {
               return last == Place{one.router, one.port};
             });
    });
    while (at != passages.end()) {
      way.passages.push_back(*at);
      if (at->port == injection) break;
      const RouterNumber router = at->router;
      const auto before =
          std::find_if(std::make_reverse_iterator(at), passages.rend(), [&](const Passage& one) {
            return one.port == injection
                       ? any_place_of(topology_, one.router,
                                      [&](const Place& first) { return first.router == router; })
                       : neighbour(topology_, one.router, one.port) == router;
          });
      at = before == passages.rend() ? passages.end() : std::prev(before.base());
    }
    if (at == passages.end()) way.passages.clear();
    std::ranges::reverse(way.passages);
  }
  return ways;
}

}  // namespace am::kit
