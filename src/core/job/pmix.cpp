// The job of mpirun, prterun or srun: PMIx tells rank and size, and which nodes share a host, and carries short texts. On each
// host the first node makes the memory; its invitation is what the others fetch that with.
//
// No fence within a host: the first node knows who has come and can name who has not, which a fence that times out cannot. Each of
// the others waits for it alone. Between hosts the first nodes meet in two rounds (pmix_exchange.hpp). The launcher
// ends the job when a node dies, so does libam's own watch (clause 11).
#include <algorithm>
#include <am/error.hpp>
#include <cstdio>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/job/place.hpp"
#include "core/job/pmix_client.hpp"
#include "core/job/pmix_exchange.hpp"
#include "core/job/rendezvous.hpp"
#include "core/job/several_hosts.hpp"
#include "core/job/ways.hpp"

namespace am::core {

namespace {

constexpr const char* invitation_key = "libam.invitation";
/// For all nodes of a job to start.
constexpr std::uint64_t longest_wait_ns = 30'000'000'000;

NodeId job_size(const PmixClient& client) {
  const auto size = client.job_number(pmix_key::job_size);
  if (!size || client.rank() >= *size) {
    throw Error(through_pmix, "the launcher does not tell how many nodes the job has",
                "start the program with amrun -n N");
  }
  return *size;
}

Placement placement(const PmixClient& client, NodeId size) {
  Placement placement;
  if (client.job_number(pmix_key::local_size).value_or(0) == size) {
    std::vector<NodeId>& all = placement.hosts.emplace_back(size);
    std::iota(all.begin(), all.end(), NodeId{0});
    return placement;
  }
  placement.hosts = client.hosts();
  std::size_t found = 0;
  bool own_found = false;
  for (std::uint32_t host = 0; host < placement.hosts.size(); ++host) {
    found += placement.hosts[host].size();
    if (std::ranges::find(placement.hosts[host], client.rank()) == placement.hosts[host].end()) continue;
    placement.own = host;
    own_found = true;
  }
  if (found != size || !own_found) {
    throw Error(through_pmix,
                "the launcher tells of hosts for " + std::to_string(found) + " of the job's " +
                    std::to_string(size) + " nodes",
                "start the program with the mpirun of Open MPI, or srun --mpi=pmix");
  }
  return placement;
}

/// Two processes that are the same node would each find half of a job. A server that does not give its own
/// address leaves nothing to tell jobs apart by; then the check is left to the rendezvous.
Descriptor claim_place_in(const PmixClient& client) {
  const auto server = client.own_text(pmix_key::server_uri);
  if (!server) return {};
  return claim_place(*server + " " + client.name_space(), client.rank());
}

/// By the first node of a host. `exchange`: with the others; null: there are none.
std::shared_ptr<host::Memory> give_memory(PmixClient& client, const Placement& placement, Exchange* exchange,
                                          const Patience& patience) {
  std::shared_ptr<host::Memory> memory = make_memory(placement);
  const std::span<const NodeId> others = placement.here().subspan(1);
  std::optional<RendezvousServer> server;
  if (!others.empty()) {
    const Invitation invitation = Invitation::make();
    server.emplace(invitation);  // listens before anybody hears of it
    client.publish(invitation_key, invitation.text());
  }
  if (exchange != nullptr) agree(memory->board(), *exchange);
  if (server) server->serve(memory->fd(), others, patience);
  return memory;
}

/// An invitation that nobody stands by is left from an earlier program in the same place (`mpirun -n 4 sh -c './a; ./b'`); or that
/// node is dead, and so are we soon.
Descriptor wait_for_memory(const PmixClient& client, NodeId first, const Patience& patience) {
  constexpr int slice_s = 1;  // an answer that gets lost costs no more
  const auto invitation = [&]() -> std::optional<Invitation> {
    const auto text = client.text_of(first, invitation_key, slice_s);
    if (!text) return std::nullopt;
    const auto parsed = Invitation::parse(*text);
    if (!parsed) throw other_version("node " + std::to_string(first), through_pmix);
    return parsed;
  };
  return fetch_when_there(invitation, first, client.rank(), patience);
}

std::shared_ptr<host::Memory> fetch_memory(const PmixClient& client, NodeId size, NodeId first,
                                           const Patience& patience) {
  std::shared_ptr<host::Memory> memory =
      host::Memory::open(wait_for_memory(client, first, patience).release());
  if (memory->nodes() != size) throw other_version("node " + std::to_string(first), through_pmix);
  return memory;
}

}  // namespace

Job join_pmix(const Settings& settings) {
  const auto client = std::make_shared<PmixClient>();
  Job job;
  job.id = client->rank();
  const auto claim = std::make_shared<Descriptor>(claim_place_in(*client));
  job.size = job_size(*client);
  job.found = "PMIx (namespace " + client->name_space() + ")";
  const Placement where = placement(*client, job.size);
  const Patience between_hosts = patience_of(settings, job.id);
  Patience limits = between_hosts;  // their nodes may come late, each host waits for its own first
  limits.timeout_ns =
      std::min(settings.timeout_ns, longest_wait_ns);  // 0 waits for ever, a shorter one than ours is obeyed
  const NodeId first = where.here().front();
  if (job.id != first) {
    job.memory = fetch_memory(*client, job.size, first, limits);
  } else {
    const auto exchange =
        where.hosts.size() == 1 ? nullptr : std::make_shared<PmixExchange>(client, where, between_hosts);
    job.memory = give_memory(*client, where, exchange.get(), limits);
    if (exchange)
      job.exchange_cards = [exchange, where, memory = job.memory] {
        exchange_facts(memory->board(), where, *exchange);
        exchange->end();
      };
  }
  job.leave = [client, claim] { client->finalize(); };
  return job;
}

}  // namespace am::core
