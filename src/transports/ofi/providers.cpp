#include "transports/ofi/providers.hpp"

#include <am/error.hpp>

#include <netinet/in.h>
#include <rdma/fi_errno.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "transports/ofi/signal_handlers.hpp"
#include "transports/tcp/address.hpp"

namespace am::ofi {

namespace {

constexpr int served_mr_modes =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
constexpr std::size_t longest_address = 96;  // on a card, with the provider's name, two digits a byte

/// What is asked for, the most first.
struct Request {
  std::uint64_t caps;
  std::uint64_t order;
  std::uint64_t completion = 0;
};
constexpr std::array requests = {
    Request{FI_MSG | FI_RMA | FI_MULTI_RECV, FI_ORDER_SAS, FI_DELIVERY_COMPLETE},
    Request{FI_MSG | FI_RMA | FI_MULTI_RECV, FI_ORDER_SAS},
    Request{FI_MSG | FI_RMA | FI_MULTI_RECV, 0, FI_DELIVERY_COMPLETE},
    Request{FI_MSG | FI_RMA | FI_MULTI_RECV, 0},
    Request{FI_MSG | FI_RMA, FI_ORDER_SAS, FI_DELIVERY_COMPLETE},
    Request{FI_MSG | FI_RMA, FI_ORDER_SAS},
    Request{FI_MSG | FI_RMA, 0, FI_DELIVERY_COMPLETE},
    Request{FI_MSG | FI_RMA, 0},
    Request{FI_MSG | FI_MULTI_RECV, FI_ORDER_SAS},
    Request{FI_MSG | FI_MULTI_RECV, 0},
    Request{FI_MSG, FI_ORDER_SAS},
    Request{FI_MSG, 0},
};

/// To no hints: all that libfabric has.
Info answer(const Library& library, const fi_info* hints) {
  const SignalHandlers kept;
  fi_info* found = nullptr;
  const int result = library.get_info(version, nullptr, nullptr, 0, hints, &found);
  if (result != 0 && result != -FI_ENODATA && result != -FI_ENOSYS) {
    throw Error("ask libfabric for its providers", library.error_text(-result),
                "fi_info shows what libfabric has");
  }
  return {found, {library.free_info}};
}

Info ask(const Library& library, const Request& request, std::string_view provider) {
  const Info hints(library.copy_info(nullptr), {library.free_info});
  if (hints == nullptr) throw Error("ask libfabric for its providers", "no memory", "");
  hints->caps = request.caps;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = served_mr_modes;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->tx_attr->op_flags = request.completion;
  hints->tx_attr->msg_order = request.order;
  hints->rx_attr->msg_order = request.order;
  if (!provider.empty())  // libfabric frees it
    hints->fabric_attr->prov_name = strndup(provider.data(), provider.size());
  return answer(library, hints.get());
}

/// Those that are wholly libfabric's own, by sockets; the one with the least between first.
constexpr std::array<std::string_view, 6> by_sockets = {"net",         "tcp",         "tcp;ofi_rxm",
                                                        "net;ofi_rxm", "udp;ofi_rxd", "sockets"};

/// What comes first. Hardware; shared memory, if that leads everywhere; sockets.
int rank(const fi_info& info, const Wish& wish) {
  const std::string provider = provider_of(info);
  if (provider == "shm") return wish.to_other_hosts ? 100 : 0;
  const auto* const at = std::ranges::find(by_sockets, provider);
  return at == by_sockets.end() ? 1 : 2 + static_cast<int>(at - by_sockets.begin());
}

std::optional<tcp::Address> ip_address(const fi_info& info) {
  if (info.addr_format != FI_SOCKADDR_IN && info.addr_format != FI_SOCKADDR_IN6 &&
      info.addr_format != FI_SOCKADDR)
    return {};
  if (info.src_addr == nullptr) return {};
  return tcp::Address::of(static_cast<const sockaddr*>(info.src_addr),
                          static_cast<socklen_t>(info.src_addrlen));
}

/// Addresses that nodes of other hosts are to be told; for all that go by IP.
struct Places {
  bool to_other_hosts;
  std::vector<tcp::Address> allowed;

  explicit Places(const Wish& wish) : to_other_hosts(wish.to_other_hosts) {
    if (to_other_hosts) allowed = tcp::addresses_for_others(tcp::interfaces(), wish.interfaces);
  }
  /// How good; less is better; none: not to be used.
  [[nodiscard]] std::optional<int> rank(const tcp::Address& address) const {
    if (!to_other_hosts)
      return address.is_loopback() ? (address.family() == AF_INET6 ? 1 : 0) : std::optional<int>{};
    const auto same = std::ranges::find_if(
        allowed, [&](const tcp::Address& one) { return one.bytes() == address.bytes(); });
    if (same == allowed.end()) return {};
    return static_cast<int>(same - allowed.begin());
  }
};

bool loopback_is_up() {
  return std::ranges::any_of(tcp::interfaces(), [](const auto& one) { return one.loopback && one.up; });
}

constexpr const char* wants_other_registration =
    "it wants memory to be registered in a way that libam does not know";

std::string why_not(const Library& library, const fi_info& info, const Wish& wish, const Places& places) {
  if (provider_of(info) == "shm" && wish.to_other_hosts) return "it leads to nodes of this host only";
  if (provider_of(info) == "sockets" && wish.provider.empty())
    return "libfabric keeps it for old programs; by name only";
  if (provider_of(info) == "udp;ofi_rxd" && wish.provider.empty())
    return "strangers who can send to its port may crash a node; by name only";
  if (goes_by_tcp(info) && library.doors == Library::Doors::open)
    return "any user of the job's hosts could take a node's place: libam cannot see who connects to it here";
  if (info.ep_attr->max_msg_size < least_message_bytes)
    return "its longest message has " + std::to_string(info.ep_attr->max_msg_size) + " bytes only";
  if ((info.domain_attr->mr_mode & ~served_mr_modes) != 0 ||
      info.domain_attr->mr_key_size > sizeof(std::uint64_t))
    return wants_other_registration;
  if (info.src_addrlen > longest_address) return "its addresses are too long";
  if (const auto address = ip_address(info); address && !places.rank(*address))
    return wish.to_other_hosts ? "other hosts are not to be told of this address (AM_TCP_INTERFACES)"
                               : "all nodes are on this host: the loopback interface does";
  if (ip_address(info) && !wish.to_other_hosts && !loopback_is_up()) return "the loopback interface is down";
  return {};
}

/// What only memory needs that others read or write: libfabric does not look at these where messages alone are asked for.
constexpr int mr_modes_for_others = FI_MR_RAW | FI_MR_RMA_EVENT;

/// What libfabric does not offer where it is asked for what every job needs (`requests.back()`).
std::string what_it_lacks(const fi_info& info) {
  if (info.ep_attr->type != FI_EP_RDM) return "it has no reliable datagrams (FI_EP_RDM)";
  if ((info.caps & FI_MSG) == 0) return "it has no messages (FI_MSG)";
  if (info.domain_attr->resource_mgmt != FI_RM_ENABLED)
    return "it loses messages where queues are full (FI_RM_ENABLED)";
  if ((info.mode & ~(FI_CONTEXT | FI_CONTEXT2)) != 0)
    return "it wants its users to do what libam does not (fi_getinfo(3), mode)";
  if ((info.domain_attr->mr_mode & ~served_mr_modes & ~mr_modes_for_others) != 0)
    return wants_other_registration;
  return "it does not have all at once that libam needs (fi_info -v -p NAME shows what it has)";
}

struct Ranked {
  fi_info* info;
  std::string why_not;
  std::pair<int, int> rank;
};

std::vector<Ranked> ranked(const Library& library, const Info& found, const Wish& wish,
                           const Places& places) {
  std::vector<Ranked> all;
  for (fi_info* info = found.get(); info != nullptr; info = info->next) {
    const auto address = ip_address(*info);
    all.push_back({info,
                   why_not(library, *info, wish, places),
                   {rank(*info, wish), address ? places.rank(*address).value_or(100) : 0}});
  }
  std::ranges::stable_sort(all, {},
                           [](const Ranked& one) { return std::pair(!one.why_not.empty(), one.rank); });
  return all;
}

/// Other libraries and modules leave this behind in the environment.
std::string what_environment_rules_out() {
  const char* const named = std::getenv("FI_PROVIDER");
  if (named == nullptr || *named == 0) return {};
  return "; FI_PROVIDER=" + std::string(named) +
         " is set, which keeps libfabric from offering others (unset it)";
}

/// To those that libfabric offers. What is there with something of libfabric's beside it ("tcp;ofi_rxm") lacks nothing.
void add_those_that_lack_something(const Library& library, const Wish& wish, std::vector<Offer>& offers) {
  Info everything;
  try {
    everything = answer(library, nullptr);
  } catch (const Error&) {
    return;  // what is known is worth more than why this is not
  }
  for (const bool is_reliable : {true, false}) {  // which lacks less
    for (const fi_info* info = everything.get(); info != nullptr; info = info->next) {
      const std::string provider = provider_of(*info);
      const bool is_there = std::ranges::any_of(offers, [&](const Offer& offer) {
        return offer.provider == provider || offer.provider.starts_with(provider + ';');
      });
      if ((info->ep_attr->type == FI_EP_RDM) == is_reliable && !is_there &&
          (wish.provider.empty() || wish.provider == provider))
        offers.push_back({provider, domain_of(*info), what_it_lacks(*info)});
    }
  }
}

bool is_rxd(const fi_info& info) { return provider_of(info).ends_with("ofi_rxd"); }

/// What it says that it has, and what is better not used.
void leave_out_what_fails(fi_info& info) {
  if (forgets_sends(info)) {
    info.caps &= ~(FI_MULTI_RECV | FI_RMA);
    info.tx_attr->inject_size = 0;
  }
  if (info.ep_attr->max_msg_size < longest_access_bytes) info.caps &= ~FI_RMA;
}

}  // namespace

std::string provider_of(const fi_info& info) { return info.fabric_attr->prov_name; }
std::uint64_t place_of(const fi_info& info) {
  const bool is_memory = provider_of(info) == "shm";
  const auto address = ip_address(info);
  struct stat about {};
  if (!is_memory && !(address && address->is_loopback())) return 0;
  if (stat(is_memory ? "/dev/shm" : "/proc/self/ns/net", &about) != 0) return 0;
  return is_memory ? about.st_dev : about.st_ino;
}
bool reads_alone(const fi_info& info) {
  return std::ranges::find(by_sockets, provider_of(info)) == by_sockets.end();
}
bool writes_alone(const fi_info& info) { return reads_alone(info) && provider_of(info) != "shm"; }
bool sends_again(const fi_info& info) { return is_rxd(info); }
bool forgets_sends(const fi_info& info) { return is_rxd(info); }
bool goes_by_tcp(const fi_info& info) {
  const std::string provider = provider_of(info);
  return provider == "net" || provider == "tcp" || provider == "tcp;ofi_rxm" || provider == "net;ofi_rxm";
}
bool ends_buffers_early(const fi_info& info) {
  const std::string provider = provider_of(info);
  return provider == "net" || provider == "tcp" || provider.ends_with(";ofi_rxm");
}
bool alarms_falsely(const fi_info& info) { return provider_of(info) == "net"; }
bool dies_if_closed_reading(const fi_info& info) {
  const std::string provider = provider_of(info);
  return provider == "tcp;ofi_rxm" || provider == "net;ofi_rxm";
}
std::string domain_of(const fi_info& info) {
  return info.domain_attr->name == nullptr ? "" : info.domain_attr->name;
}

std::vector<Offer> offers(const Library& library, const Wish& wish) {
  const Places places(wish);
  const Info found = ask(library, requests.back(), wish.provider);
  std::vector<Offer> all;
  for (const Ranked& one : ranked(library, found, wish, places)) {
    Offer offer{provider_of(*one.info), domain_of(*one.info), one.why_not};
    const auto is_same = [&](const Offer& other) {
      return other.provider == offer.provider && other.domain == offer.domain;
    };
    if (std::ranges::none_of(all, is_same)) all.push_back(std::move(offer));
  }
  add_those_that_lack_something(library, wish, all);
  return all;
}

Info choose(const Library& library, const Wish& wish) {
  const Places places(wish);
  // The best provider first, then the most of what it has: another one with more bits is not better.
  Info found = ask(library, requests.back(), wish.provider);
  const std::vector<Ranked> all = ranked(library, found, wish, places);
  if (!all.empty() && all.front().why_not.empty()) {
    const std::string provider = provider_of(*all.front().info);
    for (const Request& request : requests) {
      const Info answer = ask(library, request, provider);
      for (const Ranked& one : ranked(library, answer, wish, places)) {
        if (one.why_not.empty() && provider_of(*one.info) == provider) {
          leave_out_what_fails(*one.info);
          return {library.copy_info(one.info), {library.free_info}};
        }
      }
    }
  }
  std::string why;
  for (const Offer& offer : offers(library, wish))
    why += (why.empty() ? "" : "; ") + offer.provider + " (" + offer.domain + "): " + offer.why_not;
  throw Error(
      "choose a provider of libfabric",
      (why.empty() ? wish.provider.empty() ? "it has none that libam can use"
                                           : "it has no " + std::string(wish.provider) + " that libam can use"
                   : why) +
          what_environment_rules_out(),
      "aminfo lists those that there are; AM_TRANSPORT=ofi:NAME asks for one");
}

}  // namespace am::ofi
