// aminfo without arguments, and with --json: version, transports, and the table of settings with values and origins.
#pragma once

namespace aminfo {

// 0, or 1 when a setting of this environment is malformed.
int print_overview();
int print_json();

}  // namespace aminfo
