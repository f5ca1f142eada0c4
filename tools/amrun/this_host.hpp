// Which names mean the host that amrun runs on: no agent is needed to start something there, and all of them are one host.
#pragma once

#include <string>

namespace amrun {

// localhost, its own name, whole or without its domain, in small letters or capitals; an address of its own; or its name with a domain that
// leads to one (which may ask a name server).
bool is_this_host(const std::string& name);

}  // namespace amrun
