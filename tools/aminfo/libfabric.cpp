#include "aminfo/libfabric.hpp"

#include <unistd.h>

#include <algorithm>
#include <am/error.hpp>
#include <optional>

#include "core/messages/networks.hpp"
#include "core/settings/settings.hpp"
#include "transports/ofi/endpoint.hpp"

namespace aminfo {

namespace {

using am::ofi::Offer;

/// What this environment says of it. Where it is malformed, as if it said nothing: check_settings reports it.
struct Asked {
  am::core::Settings settings{};
  bool by_name = false;
  std::string provider{};

  Asked() {
    try {
      settings = am::core::read_settings(environ);
    } catch (const am::Error&) {
      return;
    }
    const auto networks = am::core::parse_networks(settings.transport, am::kinds());
    if (!networks || settings.transport == "auto") return;
    for (const am::core::Wanted& wanted : *networks) {
      if (wanted.kind->name != "ofi") continue;
      by_name = true;
      provider = wanted.options;
    }
  }
};

/// As Endpoint asks for it, without an endpoint: one of shared memory would leave a file behind if this process were killed.
bool has_descriptor(const am::ofi::Library& library, fi_info& info) {
  fid_fabric* fabric = nullptr;
  if (library.open_fabric(info.fabric_attr, &fabric, nullptr) != 0) return false;
  const am::ofi::Owned<fid_fabric> own_fabric(fabric);
  fid_domain* domain = nullptr;
  if (fi_domain(fabric, &info, &domain, nullptr) != 0) return false;
  const am::ofi::Owned<fid_domain> own_domain(domain);
  fi_cq_attr attributes{};
  attributes.format = FI_CQ_FORMAT_DATA;
  attributes.size = info.tx_attr->size + info.rx_attr->size;
  attributes.wait_obj = FI_WAIT_FD;
  fid_cq* queue = nullptr;
  if (fi_cq_open(domain, &attributes, &queue, nullptr) != 0) return false;
  const am::ofi::Owned<fid_cq> own_queue(queue);
  int descriptor = -1;
  return fi_control(&queue->fid, FI_GETWAIT, &descriptor) == 0 && descriptor >= 0;
}

Providers providers(const am::ofi::Library& library, const Asked& asked, bool to_other_hosts) {
  Providers found;
  am::ofi::Wish wish{
      .provider = {}, .to_other_hosts = to_other_hosts, .interfaces = asked.settings.tcp_interfaces};
  try {
    found.offers = am::ofi::offers(library, wish);
    wish.provider = asked.provider;
    const am::ofi::Info info = am::ofi::choose(library, wish);
    found.chosen = {am::ofi::provider_of(*info), am::ofi::domain_of(*info), ""};
    found.sleeps =
        has_descriptor(library, *info) && !am::ofi::sends_again(*info) && !am::ofi::alarms_falsely(*info);
  } catch (const am::Error& error) {
    found.chosen.why_not = error.why();
  }
  return found;
}

bool is_same(const Offer& one, const Offer& other) {
  return one.provider == other.provider && one.domain == other.domain;
}

/// What one provider is to a job.
std::string standing_of(const Offer& offer, const Providers& job) {
  if (is_same(offer, job.chosen))
    return job.sleeps ? "chosen; nodes sleep until something comes"
                      : "chosen; nodes that sleep look each millisecond";
  const auto at = std::ranges::find_if(job.offers, [&](const Offer& other) { return is_same(other, offer); });
  if (at == job.offers.end()) return "not offered";
  if (!at->why_not.empty()) return at->why_not;
  const std::string setting = "ofi:" + offer.provider;
  const bool for_shells = setting.find_first_of("; ") != std::string::npos;
  return "by name: AM_TRANSPORT=" + (for_shells ? "'" + setting + "'" : setting);
}

std::string name_of(const Offer& offer) { return offer.provider + " on " + offer.domain; }

}  // namespace

Libfabric look_at_libfabric() {
  Libfabric found;
  try {
    const am::ofi::Library& library = am::ofi::system_library();
    const Asked asked;
    found.here = providers(library, asked, false);
    found.elsewhere = providers(library, asked, true);
  } catch (const am::Error& error) {
    found.problem = error.why();
    found.mend = error.remedy();
  }
  return found;
}

std::vector<ProviderLine> lines_of(const Providers& here, const Providers& elsewhere) {
  std::vector<ProviderLine> lines;
  for (const std::vector<Offer>* const offers : {&here.offers, &elsewhere.offers}) {
    for (const Offer& offer : *offers) {
      const bool is_there = std::ranges::any_of(lines, [&](const ProviderLine& line) {
        return line.provider == offer.provider && line.domain == offer.domain;
      });
      if (!is_there)
        lines.push_back(
            {offer.provider, offer.domain, standing_of(offer, here), standing_of(offer, elsewhere)});
    }
  }
  return lines;
}

Finding finding_of(const Libfabric& libfabric, bool is_asked_for) {
  const std::string subject = "libfabric";
  const Level without = is_asked_for ? Level::fail : Level::warn;
  const std::string effect = is_asked_for ? "" : " (programs do without, unless AM_TRANSPORT=ofi)";
  if (!libfabric.problem.empty()) return {without, subject, libfabric.problem + effect, libfabric.mend};
  const Offer& here = libfabric.here.chosen;
  const Offer& elsewhere = libfabric.elsewhere.chosen;
  if (!here.why_not.empty())
    return {without, subject, "nothing leads to nodes of this host: " + here.why_not + effect,
            "aminfo lists the providers; AM_TRANSPORT=ofi:NAME asks for one"};
  const std::string text = name_of(here) + " leads to nodes of this host";
  if (!elsewhere.why_not.empty())
    return {Level::warn, subject, text + ", nothing to other hosts: " + elsewhere.why_not,
            "AM_TCP_INTERFACES, or another provider (AM_TRANSPORT=ofi:NAME; aminfo lists them)"};
  return {Level::ok, subject, text + ", " + name_of(elsewhere) + " to other hosts", ""};
}

std::string usability_of(const Libfabric& libfabric) {
  if (!libfabric.problem.empty()) return "not usable: " + libfabric.problem + "; " + libfabric.mend;
  return libfabric.here.chosen.why_not.empty() ? "usable" : "not usable: " + libfabric.here.chosen.why_not;
}

Finding check_libfabric() { return finding_of(look_at_libfabric(), Asked().by_name); }

}  // namespace aminfo
