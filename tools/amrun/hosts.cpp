#include "amrun/hosts.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>

#include "amrun/fault.hpp"
#include "core/settings/setting_value.hpp"
#include "host/counted.hpp"
#include "host/layout.hpp"

namespace amrun {
namespace {

using am::core::in_quotes;

std::optional<am::NodeId> parse_count(std::string_view text) {
  am::NodeId count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || count < 1 ||
      count > am::host::max_nodes)
    return std::nullopt;
  return count;
}

// A name is handed to ssh as a word of its own: one that begins with a dash would be an option there.
bool may_be_name(std::string_view name) {
  return !name.empty() && name.front() != '-' && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-@:%").find(c) != std::string_view::npos;
  });
}

void add(std::vector<HostShare>& hosts, HostShare host) {
  const auto known = std::ranges::find_if(hosts, [&](const HostShare& other) {
    return other.name == host.name || (other.is_here && host.is_here);
  });
  if (known == hosts.end()) {
    hosts.push_back(std::move(host));
  } else {
    known->nodes = known->nodes.value_or(1) + host.nodes.value_or(1);
  }
}

// "b", "b:4", "[fd00::2]:4". Throws `refuse(why)`.
template <class Refuse>
HostShare parse_host(std::string_view text, const Refuse& refuse) {
  std::string_view name = text;
  std::string_view count;
  bool counted = false;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) throw refuse(": the bracket is not closed");
    name = text.substr(1, end - 1);
    counted = end + 1 < text.size();
    if (counted && text[end + 1] != ':') throw refuse("");
    if (counted) count = text.substr(end + 2);
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    if (text.find(':', colon + 1) != std::string_view::npos)
      throw refuse(": an IPv6 address stands in brackets");
    name = text.substr(0, colon);
    count = text.substr(colon + 1);
    counted = true;
  }
  if (!may_be_name(name)) throw refuse("");
  const auto nodes = parse_count(count);
  if (counted && !nodes) throw refuse("");
  return {.name = std::string(name), .nodes = nodes};
}

// The words of a line of a hostfile, where "slots = 4" is one word as well.
std::vector<std::string> words_of(std::string line) {
  line.resize(std::min(line.find('#'), line.size()));
  std::istringstream spaced(line);
  std::vector<std::string> joined;
  for (std::string word; spaced >> word;) {
    const bool goes_on = !joined.empty() && (word.starts_with('=') || joined.back().ends_with('='));
    if (goes_on) {
      joined.back() += word;
    } else {
      joined.push_back(word);
    }
  }
  return joined;
}

}  // namespace

std::vector<HostShare> parse_hosts(std::string_view text) {
  std::vector<HostShare> hosts;
  for (bool more = true; more;) {
    const std::size_t end = text.find(',');
    more = end != std::string_view::npos;
    const std::string_view word = text.substr(0, end);
    add(hosts, parse_host(word, [&](const char* why) {
          return Fault(wrong_usage, "--hosts takes names and numbers of nodes, for example a,b:4, not " +
                                        in_quotes(word) + why);
        }));
    if (more) text.remove_prefix(end + 1);
  }
  return hosts;
}

std::vector<HostShare> parse_hostfile(std::string_view text, const std::string& path) {
  std::vector<HostShare> hosts;
  std::istringstream stream{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    const auto refuse = [&](const std::string& why) {
      return Fault(wrong_usage, path + ", line " + std::to_string(number) + ": " + why);
    };
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) continue;
    const bool is_bare_ipv6 = may_be_name(words[0]) && std::ranges::count(words[0], ':') > 1;
    HostShare host =
        is_bare_ipv6
            ? HostShare{.name = words[0], .nodes = std::nullopt}
            : parse_host(words[0], [&](const std::string& why) {
                return refuse(in_quotes(words[0]) + " is no name of a host, with or without :N" + why);
              });
    const bool counted = host.nodes.has_value();
    std::optional<am::NodeId> most;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string_view word = words[i];
      const std::string_view name = word.substr(0, word.find('='));
      const std::string_view value = name.size() < word.size() ? word.substr(name.size() + 1) : "";
      if (name != "slots" && name != "max_slots" && name != "max-slots")
        throw refuse(in_quotes(word) + " is not slots=N, and not max_slots=N");
      if (name == "slots" && counted) throw refuse("says twice how many slots the host has");
      const auto count = parse_count(value);
      if (!count)
        throw refuse(in_quotes(word) + " wants a number of nodes from 1 to " +
                     std::to_string(am::host::max_nodes));
      (name == "slots" ? host.nodes : most) = count;
    }
    if (most && host.nodes && *most < *host.nodes) throw refuse("slots are more than max_slots");
    if (!host.nodes) host.nodes = most;
    add(hosts, std::move(host));
  }
  if (hosts.empty()) throw Fault(wrong_usage, path + " names no host");
  return hosts;
}

std::vector<HostShare> read_hostfile(const std::string& path) {
  std::ifstream file(path);
  if (file && file.peek() == std::ifstream::traits_type::eof() && file.bad()) errno = EISDIR;
  if (!file || file.bad())
    throw Fault(wrong_usage, "cannot read the hostfile " + in_quotes(path) + ": " + std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  return parse_hostfile(text.str(), path);
}

std::vector<HostShare> find_this_host(const std::vector<HostShare>& hosts,
                                      const std::function<bool(const std::string& name)>& is_this_host) {
  std::vector<HostShare> found;
  for (HostShare host : hosts) {
    host.is_here = is_this_host(host.name);
    add(found, std::move(host));
  }
  return found;
}

std::vector<am::NodeId> share_out(const std::vector<HostShare>& hosts, std::optional<am::NodeId> nodes) {
  std::vector<am::NodeId> shares;
  std::size_t places = 0;
  std::size_t open = 0;  // without a number
  for (const HostShare& host : hosts) {
    const bool is_open = !host.nodes && nodes;
    shares.push_back(is_open ? 0 : host.nodes.value_or(1));
    places += shares.back();
    open += is_open;
  }
  if (nodes && *nodes > places && open == 0)
    throw Fault(wrong_usage, "the hosts have places for " + am::host::counted(places, "node") +
                                 ", -n asks for " + std::to_string(*nodes));
  std::size_t left =
      nodes.value_or(static_cast<am::NodeId>(std::min<std::size_t>(places, am::host::max_nodes + 1)));
  if (left > am::host::max_nodes)
    throw Fault(wrong_usage, "a job has at most " + std::to_string(am::host::max_nodes) + " nodes");
  const std::size_t for_open = left > places ? left - places : 0;
  std::size_t turn = 0;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (!hosts[i].nodes && nodes) {
      shares[i] = static_cast<am::NodeId>(for_open / open + (turn < for_open % open ? 1 : 0));
      ++turn;
    }
    shares[i] = static_cast<am::NodeId>(std::min<std::size_t>(shares[i], left));
    left -= shares[i];
  }
  return shares;
}

}  // namespace amrun
