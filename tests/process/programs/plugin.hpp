// What a plugin and the program that opens it have in common: types of one name, each with handlers and tags of its own, as the plugin
// hides its symbols.
#pragma once

#include <am/am.hpp>

namespace plugin {

struct State {
  int answers = 0;
  void done(am::Reply& /*reply*/) { ++answers; }
  void work(am::Request& request) { request.reply<&State::done>(); }
};

struct Calls {
  explicit Calls(am::Node& /*node*/) {}
  int count = 0;
};

}  // namespace plugin
