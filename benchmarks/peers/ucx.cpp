#include "peers/ucx.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "clock.hpp"
#include "job.hpp"
#include "results/subprocess.hpp"

namespace ambench {

namespace {

constexpr double patience_ns = 20e9;
constexpr long rate_iterations = 1'000'000;

// A port that was free a moment ago: the kernel chooses it.
std::uint16_t free_port() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const bool found =
      listener >= 0 && bind(listener, generic, length) == 0 && getsockname(listener, generic, &length) == 0;
  if (listener >= 0) close(listener);
  if (!found) throw std::runtime_error("no free TCP port for ucx_perftest");
  return ntohs(address.sin_port);
}

// Whether somebody listens on `port`. A trial connection would use up the one that ucx_perftest accepts.
bool listening(std::uint16_t port) {
  constexpr const char* tcp_listen = "0A";
  std::ifstream table("/proc/net/tcp");
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string entry;
    std::string local;
    std::string remote;
    std::string state;
    words >> entry >> local >> remote >> state;
    const std::size_t colon = local.find(':');
    if (colon == std::string::npos || state != tcp_listen) continue;
    if (std::stoul(local.substr(colon + 1), nullptr, 16) == port) return true;
  }
  return false;
}

void wait_until_listening(Subprocess& server, std::uint16_t port) {
  const double end = now_ns() + patience_ns;
  while (!listening(port)) {
    if (!server.running() || now_ns() > end)
      throw std::runtime_error("ucx_perftest did not start as a server");
    const timespec moment{0, 1'000'000};
    nanosleep(&moment, nullptr);
  }
}

std::vector<double> last_csv_line(const std::string& output) {
  std::vector<double> numbers;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.find_first_not_of("0123456789., ") != std::string::npos) continue;
    numbers.clear();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) numbers.push_back(std::stod(cell));
  }
  return numbers;
}

}  // namespace

Ucx::Ucx(const Wire& wire) {
  if (wire.is_network()) {
    environment_ = {"UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"};
    uct_device_ = {"-d", "lo", "-x", "tcp"};
  }
  if (find_program("ucx_perftest").empty()) {
    unavailable_ = "not installed";
    return;
  }
  std::string version = "of unknown version";
  if (!find_program("ucx_info").empty()) {
    const std::string output = run({"ucx_info", "-v"}, {}, Errors::collected).output;
    const std::string word = "ersion ";
    const std::size_t at = output.find(word);
    if (at != std::string::npos) {
      const std::size_t start = at + word.size();
      version = output.substr(start, output.find_first_of(" \n", start) - start);
    }
  }
  name_ = "UCX " + version + ", ucx_perftest -c and for payloads ucx_peer, " + environment_.front() +
          " (UCT: " + uct_device_.back() +
          "); as a distribution builds it, which is not UCX's tuned release build";
}

std::vector<std::string> Ucx::uct(const std::string& test) const {
  std::vector<std::string> options{"-t", test};
  options.insert(options.end(), uct_device_.begin(), uct_device_.end());
  return options;
}

Ucx::Answer Ucx::ask(CorePair cores, const std::vector<std::string>& test, std::size_t bytes,
                     long iterations) const {
  const std::uint16_t port = free_port();
  const std::string port_text = std::to_string(port);
  std::vector<std::string> serve{"ucx_perftest", "-p", port_text, "-c", std::to_string(cores.second)};
  serve.insert(serve.end(), test.begin(), test.end());  // newer ones want the device of a UCT test here, too
  Subprocess server(serve, environment_, Errors::collected);
  wait_until_listening(server, port);
  std::vector<std::string> command{"ucx_perftest", "127.0.0.1",
                                   "-p",           port_text,
                                   "-c",           std::to_string(cores.first),
                                   "-f",           "-v",
                                   "-s",           std::to_string(bytes),
                                   "-n",           std::to_string(iterations)};
  command.insert(command.end(), test.begin(), test.end());
  const Finished client = run(command, environment_, Errors::collected);
  if (!client.ok()) throw std::runtime_error("ucx_perftest " + test[1] + ": " + client.how_it_ended());
  (void)server.wait(patience_ns);
  // iterations, 50th percentile, average and overall latency (us), two bandwidths, two message rates
  const std::vector<double> numbers = last_csv_line(client.output);
  if (numbers.size() != 8) throw std::runtime_error("ucx_perftest " + test[1] + " printed no figures");
  return {numbers[1], numbers[7]};
}

double Ucx::half_rtt_ns(CorePair cores, const std::vector<std::string>& test, std::size_t bytes) const {
  return ask(cores, test, bytes, bytes <= 1024 ? 100'000 : 20'000).median_us * 1e3;
}

double Ucx::million_per_s(CorePair cores, const std::vector<std::string>& test) const {
  const Answer answer = ask(cores, test, 8, rate_iterations);
  return std::max(answer.messages_per_s / 1e6, 1 / answer.median_us);
}

double Ucx::uct_am_half_rtt_ns(CorePair cores, std::size_t bytes) const {
  return half_rtt_ns(cores, uct("am_lat"), bytes);
}

double Ucx::ucp_am_half_rtt_ns(CorePair cores, std::size_t bytes) const {
  return half_rtt_ns(cores, {"-t", "ucp_am_lat"}, bytes);
}

double Ucx::ucp_tag_half_rtt_ns(CorePair cores, std::size_t bytes) const {
  return half_rtt_ns(cores, {"-t", "tag_lat"}, bytes);
}

Figures Ucx::payload_half_rtts(CorePair cores, std::span<const std::size_t> sizes) const {
  const std::string program = own_program("ucx_peer");
  if (access(program.c_str(), X_OK) != 0) throw std::runtime_error("ambench was built without UCX's headers");
  std::vector<std::string> command{program, std::to_string(cores.first), std::to_string(cores.second)};
  for (const std::size_t bytes : sizes) command.push_back(std::to_string(bytes));
  const Finished finished = run(command, environment_, Errors::collected);
  if (!finished.ok()) throw std::runtime_error("ucx_peer: " + finished.how_it_ended());
  return finished.figures();
}

double Ucx::uct_am_million_per_s(CorePair cores) const { return million_per_s(cores, uct("am_bw")); }

double Ucx::ucp_tag_million_per_s(CorePair cores) const { return million_per_s(cores, {"-t", "tag_bw"}); }

}  // namespace ambench
