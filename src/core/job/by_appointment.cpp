// The job of AM_JOB (appointment.hpp): nobody brings its nodes together but an address, at which they meet, and a key file.
//
// All come to node 0 (transports/tcp/meeting.hpp) and say what host they are on: processes that can share memory. Node 0 says to
// each who is the first node of its host; from there on it is as under any launcher (several_hosts.hpp): the first nodes make
// their hosts' memory, in which the others join them, and meet in rounds, which go by node 0.
//
// The key of the file proves who may come; it is not the job's key, which both ends of a connection make of the file's and of
// the job's name, which is random. So neither travels, and what was overheard of one job is of no use in the next one.
#include <sys/stat.h>
#include <unistd.h>
#include <am/error.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/job/appointment.hpp"
#include "core/job/rendezvous.hpp"
#include "core/job/several_hosts.hpp"
#include "core/job/ways.hpp"
#include "host/kernel_id.hpp"
#include "host/random_bytes.hpp"
#include "transports/number.hpp"
#include "transports/tcp/meeting.hpp"

namespace am::core {

namespace {

using tcp::MeetingClient;
using tcp::MeetingServer;

/// Keys and names that follow from a key: each purpose has its own.
trust::Digest derive(const trust::Crypto& crypto, std::span<const std::byte> key,
                     const std::string& purpose) {
  const auto made = crypto.hmac_sha256(key, std::as_bytes(std::span(purpose)));
  if (!made)
    throw Error("join the job", "libcrypto makes no HMAC-SHA-256",
                "look into openssl.cnf: does it forbid it?");
  return *made;
}

/// The same on processes that can share memory: of one kernel, one network namespace (in which they meet) and one user. Where the
/// system does not tell, a process is a host of its own.
std::string host_identity() {
  const std::string kernel = host::kernel_id();
  struct stat network {};
  if (kernel.empty() || stat("/proc/self/ns/net", &network) != 0) {
    std::array<std::byte, 16> random{};
    host::fill_random(random);
    return {reinterpret_cast<const char*>(random.data()), random.size()};
  }
  return kernel + " " + std::to_string(network.st_ino) + " " + std::to_string(geteuid());
}

/// What node 0 tells each node: the job's name and the first node of its host; and first nodes, for each node, on which host it is.
struct Told {
  trust::JobName job{};
  NodeId first = 0;
  std::vector<std::uint32_t> hosts{};

  [[nodiscard]] std::string text() const {
    std::string text(reinterpret_cast<const char*>(job.data()), job.size());
    append_number(text, first);
    for (const std::uint32_t host : hosts) append_number(text, host);
    return text;
  }
  static std::optional<Told> parse(const std::string& text, NodeId nodes, NodeId self) {
    Told told;
    const std::size_t head = told.job.size() + sizeof(NodeId);
    if (text.size() < head) return std::nullopt;
    const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
    std::memcpy(told.job.data(), bytes, told.job.size());
    told.first = number_at<std::uint32_t>(bytes + told.job.size());
    const bool is_first = told.first == self;
    if (told.first > self || text.size() != head + (is_first ? nodes * sizeof(std::uint32_t) : 0))
      return std::nullopt;
    for (NodeId node = 0; is_first && node < nodes; ++node)
      told.hosts.push_back(number_at<std::uint32_t>(bytes + head + node * sizeof(std::uint32_t)));
    return told;
  }
  /// None where the hosts are not numbered in the order of their first nodes.
  [[nodiscard]] std::optional<Placement> placement(NodeId self) const {
    Placement placement;
    for (NodeId node = 0; node < hosts.size(); ++node) {
      if (hosts[node] > placement.hosts.size()) return std::nullopt;
      if (hosts[node] == placement.hosts.size()) placement.hosts.emplace_back();
      placement.hosts[hosts[node]].push_back(node);
    }
    placement.own = hosts[self];
    return placement;
  }
};

/// `identities`: by node.
std::vector<std::uint32_t> number_hosts(const std::vector<std::string>& identities) {
  std::map<std::string_view, std::uint32_t> known;
  std::vector<std::uint32_t> hosts;
  hosts.reserve(identities.size());
  for (const std::string& identity : identities)
    hosts.push_back(known.emplace(identity, static_cast<std::uint32_t>(known.size())).first->second);
  return hosts;
}

/// The rounds of the first nodes. Ends the meeting with the last of them.
class MeetingExchange final : public Exchange {
 public:
  MeetingExchange(std::unique_ptr<MeetingServer> server, std::unique_ptr<MeetingClient> client,
                  const Placement& placement, Patience patience)
      : server_(std::move(server)), client_(std::move(client)), patience_(std::move(patience)) {
    for (const std::vector<NodeId>& host : placement.hosts) firsts_.push_back(host.front());
  }

  std::vector<std::string> round(const std::string& own) override {
    if (!server_) return split(client_->ask(own, patience_));
    const std::span<const NodeId> others = std::span(firsts_).subspan(1);
    std::vector<std::string> all = server_->gather(others, patience_);
    all.insert(all.begin(), own);
    std::string together;
    for (const std::string& text : all) {
      append_number(together, static_cast<std::uint32_t>(text.size()));
      together += text;
    }
    for (const NodeId node : others) server_->answer(node, together, patience_);
    return all;
  }

  void end() noexcept {
    server_.reset();
    client_.reset();
  }

 private:
  [[nodiscard]] std::vector<std::string> split(std::string_view together) const {
    std::vector<std::string> all;
    while (together.size() >= sizeof(std::uint32_t)) {
      const auto length = number_at<std::uint32_t>(reinterpret_cast<const std::byte*>(together.data()));
      together.remove_prefix(sizeof length);
      if (length > together.size()) break;
      all.emplace_back(together.substr(0, length));
      together.remove_prefix(length);
    }
    if (all.size() != firsts_.size() || !together.empty()) throw other_version("node 0");
    return all;
  }

  std::unique_ptr<MeetingServer> server_;  // node 0's
  std::unique_ptr<MeetingClient> client_;  // the others'
  const Patience patience_;
  std::vector<NodeId> firsts_;  // nodes of the hosts
};

/// Node 0: all come, and are told where they are.
Told receive_all(MeetingServer& server, NodeId size, const std::string& own_identity,
                 const Patience& patience) {
  const auto check = [&](NodeId node, const std::string& text) {
    const std::string theirs = text.substr(0, text.find(' '));
    if (theirs == std::to_string(size)) return;
    throw Error("join the job",
                "node " + std::to_string(node) + " was told that the job has " + theirs +
                    " nodes, node 0 that it has " + std::to_string(size),
                "give all nodes the same size (AM_JOB)");
  };
  std::vector<std::string> identities = server.welcome(check, patience);
  identities[0] = own_identity;
  Told told;
  host::fill_random(told.job);
  const std::vector<std::uint32_t> hosts = number_hosts(identities);
  for (NodeId node = size; node-- > 0;) {
    told.first = static_cast<NodeId>(std::ranges::find(hosts, hosts[node]) - hosts.begin());
    const bool is_first = told.first == node;
    told.hosts = is_first ? hosts : std::vector<std::uint32_t>{};
    if (node == 0) break;
    server.answer(node, told.text(), patience);
  }
  return told;
}

/// Which the first node of a host opens for the others there.
Invitation invitation_of(const trust::Crypto& crypto, const trust::Key& job_key, NodeId first) {
  Invitation invitation;
  const std::string of = " of node " + std::to_string(first);
  const trust::Digest name = derive(crypto, job_key, "name" + of);
  std::copy_n(name.begin(), invitation.name.size(), invitation.name.begin());
  invitation.key = derive(crypto, job_key, "memory" + of);
  return invitation;
}

}  // namespace

Job join_by_appointment(const Settings& settings) {
  const Appointment told_by_user = parse_appointment(settings.job);
  const auto crypto = std::make_shared<const trust::Crypto>();
  const trust::Key file_key =
      derive(*crypto, read_key(told_by_user.key_file, told_by_user.key_readers), "libam key file");
  const tcp::MeetingPlace place{told_by_user.host, told_by_user.port};
  const tcp::MeetingProof proof{crypto, derive(*crypto, file_key, "meeting"), told_by_user.size,
                                settings.tcp_tls};
  Job job;
  job.id = told_by_user.rank;
  job.size = told_by_user.size;
  job.found = "AM_JOB (meeting at " + place.text() + ")";
  const Patience limits = patience_of(settings, job.id);

  const std::string introduction = std::to_string(job.size) + " " + host_identity();
  std::unique_ptr<MeetingServer> server;
  std::unique_ptr<MeetingClient> client;
  std::optional<Told> told;
  if (job.id == 0) {
    server = std::make_unique<MeetingServer>(proof, place);
    told = receive_all(*server, job.size, introduction, limits);
  } else {
    client = std::make_unique<MeetingClient>(proof, place, job.id, limits);
    told = Told::parse(client->ask(introduction, limits), job.size, job.id);
  }
  if (!told) throw other_version("node 0");
  const trust::Key key =
      derive(*crypto, file_key,
             "job " + std::string(reinterpret_cast<const char*>(told->job.data()), told->job.size()));
  const Invitation invitation = invitation_of(*crypto, key, told->first);
  if (told->first != job.id) {
    const auto when_all_is_well = [&] {
      client->require_meeting();  // which lasts until all have joined
      return std::optional(invitation);
    };
    job.memory =
        host::Memory::open(fetch_when_there(when_all_is_well, told->first, job.id, limits).release());
    if (job.memory->nodes() != job.size) throw other_version("node 0");
    return job;
  }
  const auto where = told->placement(job.id);
  if (!where) throw other_version("node 0");
  job.memory = make_memory(*where);
  const host::Board& board = job.memory->board();
  std::ranges::copy(told->job, board.job().name);
  std::ranges::copy(key, board.job().key);
  const std::span<const NodeId> others = where->here().subspan(1);
  std::optional<RendezvousServer> rendezvous;
  if (!others.empty()) rendezvous.emplace(invitation);
  if (where->hosts.size() > 1) {
    const auto exchange =
        std::make_shared<MeetingExchange>(std::move(server), std::move(client), *where, limits);
    agree(board, *exchange, Secrets::are_known);
    job.exchange_cards = [exchange, where = *where, memory = job.memory] {
      exchange_facts(memory->board(), where, *exchange);
      exchange->end();
    };
  }
  if (rendezvous) rendezvous->serve(job.memory->fd(), others, limits);
  return job;
}

}  // namespace am::core
