// The job of mpirun, prterun or srun: PMIx tells rank and size, and carries one short text, the invitation
// with which the others fetch the job's memory from rank 0.
//
// No fence: rank 0 knows who has come and can name who has not, which a fence that times out cannot. Each of
// the others waits for rank 0 alone. The launcher ends the job when a node dies, so does libam's own watch
// (clause 11).
#include <algorithm>
#include <am/error.hpp>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include "core/job/place.hpp"
#include "core/job/pmix_client.hpp"
#include "core/job/rendezvous.hpp"
#include "core/job/ways.hpp"

namespace am::core {

namespace {

constexpr const char* what = "join the job through PMIx";
constexpr const char* invitation_key = "libam.invitation";
/// For all nodes of a job to start: they are on one machine.
constexpr std::uint64_t longest_wait_ns = 30'000'000'000;

/// AM_TIMEOUT=0 waits for ever, a shorter one than ours is obeyed.
Patience patience(const Settings& settings, NodeId id) {
  Patience patience;
  patience.timeout_ns = std::min(settings.timeout_ns, longest_wait_ns);
  patience.report_after_ns = settings.report_after_ns;
  patience.report = [id](const std::string& text) {
    std::fprintf(stderr, "am: node %u %s\n", id, text.c_str());
  };
  return patience;
}

NodeId job_size(const PmixClient& client) {
  const auto size = client.job_number(pmix_key::job_size);
  if (!size || client.rank() >= *size) {
    throw Error(what, "the launcher does not tell how many nodes the job has",
                "start the program with amrun -n N");
  }
  return *size;
}

/// Nodes of this version reach each other through memory only.
void require_one_host(const PmixClient& client, NodeId size) {
  const NodeId here = client.job_number(pmix_key::local_size).value_or(0);
  if (here == size) return;
  const std::string hosts = client.job_text(pmix_key::node_list).value_or("");
  throw Error(what,
              "only " + std::to_string(here) + " of its " + std::to_string(size) +
                  " nodes are on this host: the job spans several" +
                  (hosts.empty() ? "" : " (" + hosts + ")") +
                  ", and between machines it needs the TCP transport, which this version does not have",
              "run all " + std::to_string(size) + " nodes on one host");
}

/// Two processes that are the same node would each find half of a job. A server that does not give its own
/// address leaves nothing to tell jobs apart by; then the check is left to the rendezvous.
Descriptor claim_place_in(const PmixClient& client) {
  const auto server = client.own_text(pmix_key::server_uri);
  if (!server) return {};
  return claim_place(*server + " " + client.name_space(), client.rank());
}

std::shared_ptr<host::Memory> make_memory(PmixClient& client, NodeId size, const Patience& patience) {
  std::shared_ptr<host::Memory> memory = host::Memory::create(size);
  if (size == 1) return memory;
  const Invitation invitation = Invitation::make();
  RendezvousServer server(invitation);  // listens before anybody hears of it
  client.publish(invitation_key, invitation.text());
  server.serve(memory->fd(), size, patience);
  return memory;
}

Error other_version() {
  return Error(what, "node 0 runs another version of libam", "run programs of one libam in a job");
}

Error first_node_missing(bool invited, std::uint64_t waited_ns) {
  if (!invited) {
    return Error(what, "node 0 did not come within " + in_seconds(waited_ns), every_process_remedy);
  }
  return Error(
      what,
      "node 0 does not wait for this node: it has ended, or is in another network namespace (tried for " +
          in_seconds(waited_ns) + ")",
      "see what node 0 printed; nodes in containers need a common network namespace");
}

/// Asks for node 0's invitation until one is found that it stands by. One that it does not stand by is left
/// from an earlier program in the same place (`mpirun -n 4 sh -c './a; ./b'`); or node 0 is dead, and so are
/// we soon.
Descriptor wait_for_memory(const PmixClient& client, const Patience& patience) {
  using Clock = std::chrono::steady_clock;
  constexpr int slice_s = 1;  // an answer that gets lost costs no more
  constexpr auto pause = std::chrono::milliseconds(5);
  const Clock::time_point begin = Clock::now();
  bool invited = false;
  for (bool reported = false;; std::this_thread::sleep_for(pause)) {
    if (const auto text = client.text_of(0, invitation_key, slice_s)) {
      const auto invitation = Invitation::parse(*text);
      if (!invitation) throw other_version();
      if (Descriptor fd = fetch(*invitation, client.rank(), patience.timeout_ns)) return fd;
      invited = true;
    }
    const auto waited_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - begin).count());
    if (patience.timeout_ns != 0 && waited_ns >= patience.timeout_ns)
      throw first_node_missing(invited, waited_ns);
    if (!reported && patience.report_after_ns != 0 && waited_ns >= patience.report_after_ns) {
      patience.report("waits for node 0 to join since " + in_seconds(waited_ns));
      reported = true;
    }
  }
}

std::shared_ptr<host::Memory> fetch_memory(const PmixClient& client, NodeId size, const Patience& patience) {
  std::shared_ptr<host::Memory> memory = host::Memory::open(wait_for_memory(client, patience).release());
  if (memory->nodes() != size) throw other_version();
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
  require_one_host(*client, job.size);
  const Patience limits = patience(settings, job.id);
  job.memory = job.id == 0 ? make_memory(*client, job.size, limits) : fetch_memory(*client, job.size, limits);
  job.leave = [client, claim] { client->finalize(); };
  return job;
}

}  // namespace am::core
