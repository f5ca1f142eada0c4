#include "support/hosts.hpp"

#include <unistd.h>
#include <am/error.hpp>

#include <chrono>
#include <cstdio>
#include <exception>

#include "core/job/several_hosts.hpp"
#include "core/node/threads.hpp"
#include "host/processors.hpp"

namespace test {

std::function<void(am::Node&)> guarded(am::NodeId nodes, const std::function<void(am::Node&)>& body) {
  return [nodes, &body](am::Node& node) {
    try {
      body(node);
    } catch (const std::exception& error) {
      if (nodes == 1) throw;
      std::fprintf(stderr, "[  FAILED  ] node %u: %s\n", node.id(), error.what());
      std::fflush(nullptr);
      std::_Exit(1);
    }
  };
}

PretendedHosts::PretendedHosts(am::NodeId nodes, std::uint32_t hosts, Within within, std::string_view between)
    : nodes_(nodes), post_(nodes) {
  const auto real = [](std::string_view name) {
    return *std::ranges::find(am::kinds(), name, &am::Kind::name);
  };
  if (within == Within::memory) kinds_.push_back(real("shm"));
  if (between == "post") {
    kinds_.push_back(post_kind(post_));
  } else {
    const std::string_view name = between.substr(0, between.find(':'));
    const std::string_view options = between.substr(std::min(between.size(), name.size() + 1));
    kinds_.push_back(real(name));
    kinds_.back().make = [make = kinds_.back().make, options = std::string(options)](am::Site site) {
      site.interfaces = "lo";
      site.options = options;
      return make(site);
    };
  }
  for (std::uint32_t host = 0; host < hosts; ++host) memories_.push_back(am::host::Memory::create(nodes));
  for (std::uint32_t host = 0; host < hosts; ++host) {
    am::host::JobHeader& job = board(host).job();
    job.this_host = host;
    std::ranges::copy(board(0).job().name, job.name);
    std::ranges::copy(board(0).job().key, job.key);
    am::host::publish_cpus(board(host).job());
    for (am::NodeId node = 0; node < nodes; ++node) board(host).card(node).on_host = host_of(node);
  }
}

void PretendedHosts::run(const std::function<void(am::Node&)>& body) {
  run(am::core::read_settings(environ), body);
}

void PretendedHosts::run(const am::core::Settings& settings, const std::function<void(am::Node&)>& body) {
  std::vector<am::core::Job> jobs;
  for (am::NodeId node = 0; node < nodes_; ++node) {
    const std::uint32_t host = host_of(node);
    jobs.push_back({.id = node,
                    .size = nodes_,
                    .memory = memories_[host],
                    .found = "test",
                    .processes = false,
                    .leave = [this] { ++gone_; },
                    .kinds = kinds_,
                    .exchange_cards = [this, host] { exchange_cards(host); }});
  }
  am::core::run_jobs(std::move(jobs), settings, guarded(nodes_, body));
}

void PretendedHosts::exchange_cards(std::uint32_t host) {
  am::core::Placement placement{.hosts = std::vector<std::vector<am::NodeId>>(memories_.size()), .own = host};
  for (am::NodeId node = 0; node < nodes_; ++node) placement.hosts[host_of(node)].push_back(node);
  std::unique_lock lock(mutex_);
  texts_.resize(memories_.size());
  texts_[host] = am::core::facts_of_host(board(host), placement);
  ++met_;
  all_have_met_.notify_all();
  if (!all_have_met_.wait_for(lock, std::chrono::minutes(2), [this] { return met_ == memories_.size(); }))
    throw am::Error("join the job", "the other pretended hosts do not come", "look at what they do");
  am::core::take_facts(board(host), placement, texts_);
}

}  // namespace test
