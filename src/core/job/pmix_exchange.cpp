#include "core/job/pmix_exchange.hpp"

#include <am/error.hpp>

#include <ctime>
#include <optional>
#include <span>
#include <utility>

#include "core/job/pmix_client.hpp"
#include "host/random_bytes.hpp"

namespace am::core {

namespace {

/// Patience has ended.
struct TooLate {};

template <class T>
T required(std::optional<T> value) {
  if (!value) throw TooLate{};
  return *std::move(value);
}

}  // namespace

PmixExchange::PmixExchange(std::shared_ptr<PmixClient> client, const Placement& placement,
                           host::Patience patience)
    : client_(std::move(client)),
      patience_(std::move(patience)),
      own_(placement.own),
      numbers_(placement.hosts.size()) {
  for (const std::vector<NodeId>& host : placement.hosts) firsts_.push_back(host.front());
  host::fill_random(std::as_writable_bytes(std::span(numbers_[own_])));
}

std::vector<std::string> PmixExchange::round(const std::string& own) {
  const host::Wait waiting(patience_);
  key_ = "libam.round." + std::to_string(++rounds_);
  try {
    return client_->fences_take_parts() ? round_by_fence(own, waiting) : round_by_asking(own, waiting);
  } catch (const TooLate&) {
    std::vector<NodeId> others = firsts_;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(own_));
    throw Error(through_pmix,
                "the other hosts, whose first nodes are " + host::name_nodes(others) +
                    ", did not all come within " + host::in_seconds(waiting.so_far_ns()),
                host::every_process_remedy);
  }
}

/// One that ends just before we ask is not waited for for long: it was the last one then.
void PmixExchange::end() {
  if (client_->fences_take_parts()) return;
  constexpr std::uint64_t moment_ns = 2'000'000'000;
  const host::Patience short_one{.timeout_ns = moment_ns, .report_after_ns = 0, .report = {}};
  const host::Wait waiting(short_one);
  key_ = "libam.end";
  try {
    static_cast<void>(round_by_asking({}, waiting));
  } catch (const TooLate&) {
    return;
  }
}

std::vector<std::string> PmixExchange::round_by_fence(const std::string& own, const host::Wait& waiting) {
  client_->put(key_, own);
  if (!client_->meet(firsts_, waiting)) throw TooLate{};
  std::vector<std::string> all;
  for (std::size_t host = 0; host < firsts_.size(); ++host)
    all.push_back(host == own_ ? own : required(client_->ask(firsts_[host], key_, waiting)));
  return all;
}

std::vector<std::string> PmixExchange::round_by_asking(const std::string& own, const host::Wait& waiting) {
  constexpr timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
  const std::string me(numbers_[own_].data(), numbers_[own_].size());
  for (std::string put;; nanosleep(&pause, nullptr)) {
    if (const std::string seen = echoes(); seen != put) {
      client_->put(key_, me + seen + own);
      put = seen;
    }
    std::vector<std::string> all;
    for (std::size_t host = 0; host < firsts_.size(); ++host) {
      if (host == own_) {
        all.push_back(own);
        continue;
      }
      Asked theirs = asked(host, waiting);
      if (rounds_ == 1) numbers_[host] = theirs.from;  // of this program or an earlier one: to be seen
      if (theirs.from == numbers_[host] && theirs.echoes.substr(own_ * me.size(), me.size()) == me)
        all.push_back(std::move(theirs.text));
    }
    if (all.size() == firsts_.size() && put == echoes()) return all;
    if (waiting.is_over()) throw TooLate{};
  }
}

PmixExchange::Asked PmixExchange::asked(std::size_t host, const host::Wait& waiting) const {
  const std::string bytes = required(client_->ask(firsts_[host], key_, waiting));
  Asked asked{};
  const std::size_t head = asked.from.size() * (1 + firsts_.size());
  if (bytes.size() < head) throw other_version("node " + std::to_string(firsts_[host]), through_pmix);
  bytes.copy(asked.from.data(), asked.from.size());
  asked.echoes = bytes.substr(asked.from.size(), head - asked.from.size());
  asked.text = bytes.substr(head);
  return asked;
}

std::string PmixExchange::echoes() const {
  std::string all;
  for (const Number& number : numbers_) all.append(number.data(), number.size());
  return all;
}

}  // namespace am::core
