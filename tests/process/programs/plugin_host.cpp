// plugin_host WHAT PLUGIN...: opens plugins before it joins its job, and prints what they answer.
#include <dlfcn.h>

#include <am/am.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "programs/plugin.hpp"

namespace {

int squared = 0;
void has_squared(am::Reply& /*reply*/, int value) { squared = value; }
void square(am::Request& request, int value) { request.reply<has_squared>(value * value); }

/// After a look at it, as programs take that ask a plugin for its version first.
void* opened(const char* plugin) {
  if (void* const looked_at = dlopen(plugin, RTLD_NOW | RTLD_LOCAL)) dlclose(looked_at);
  void* const library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  return library;
}

int call(void* library, const char* function, am::Node& node) {
  return reinterpret_cast<int (*)(am::Node&)>(dlsym(library, function))(node);
}

int work(const std::string& what, const std::vector<void*>& plugins) {
  if (what == "closed") dlclose(plugins[0]);
  am::Node& node = am::start(0, nullptr);
  plugin::State state;
  node.attach(state);
  node.barrier();
  if (what == "closed") {
    node.request<square>((node.id() + 1) % node.size(), 7);
    node.wait_until([] { return squared != 0; });
    std::printf("%d\n", squared);
  } else {
    ++node.own<plugin::Calls>().count;
    for (void* const each : plugins) std::printf("%d\n", call(each, what.c_str(), node));
  }
  node.barrier();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<void*> plugins;
  for (int i = 2; i < argc; ++i) plugins.push_back(opened(argv[i]));
  try {
    return work(argv[1], plugins);
  } catch (const std::exception& error) {  // of the plugin's libam, perhaps
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
