// A library that handler_table_test.cpp opens when a job has started already: too late for a handler.
#include <am/am.hpp>

namespace {
void late_one(am::Request&) {}
}  // namespace

extern "C" void send_to_the_late_one(am::Node& node) { static_cast<void>(node.try_request<late_one>(0)); }
