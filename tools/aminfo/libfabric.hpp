// What libfabric has on this machine, and what libam would do with it: for a job whose nodes are all here, and for one of several
// hosts. Asks as a node does (transports/ofi/providers.hpp); opens no endpoint.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aminfo/doctor.hpp"
#include "transports/ofi/providers.hpp"

namespace aminfo {

/// Of one job's providers: those that there are, and which it would use.
struct Providers {
  std::vector<am::ofi::Offer> offers;
  am::ofi::Offer chosen;  ///< `why_not`, in place of a name: there is none
  bool sleeps = false;    ///< nodes that use it can wait for a descriptor
};

/// libfabric, if it is there at all.
struct Libfabric {
  std::string problem;  ///< empty: it is there
  std::string mend;
  Providers here;       ///< to nodes of this host alone
  Providers elsewhere;  ///< to other hosts, too
};

/// As this environment asks for it. Throws nothing.
[[nodiscard]] Libfabric look_at_libfabric();

/// A line of the table: a provider on an interface, and what it is to each of the two jobs.
struct ProviderLine {
  std::string provider;
  std::string domain;
  std::string here;
  std::string elsewhere;
};
/// In the order of `here`; what only `elsewhere` has stands behind.
[[nodiscard]] std::vector<ProviderLine> lines_of(const Providers& here, const Providers& elsewhere);

/// For the doctor. `is_asked_for`: AM_TRANSPORT names it, so that programs cannot run without it.
[[nodiscard]] Finding finding_of(const Libfabric& libfabric, bool is_asked_for);

/// For the table of transports.
[[nodiscard]] std::string usability_of(const Libfabric& libfabric);

}  // namespace aminfo
