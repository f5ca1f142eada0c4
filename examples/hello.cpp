// The smallest whole program: every node greets node 0, which greets back.
//
//   amrun -n 4 build/bin/examples/hello
#include <am/am.hpp>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

int greetings = 0;  // handlers run in poll and waits, on this same thread: no lock, no atomic

std::string_view text(am::Payload payload) {
  return {reinterpret_cast<const char*>(payload.data()), payload.size()};
}

void greeted(am::Reply& reply, am::Payload words) {
  std::printf("node %u hears from node %u: %.*s\n", reply.node().id(), reply.from(),
              static_cast<int>(words.size()), text(words).data());
  ++greetings;
}

void greet(am::Request& request, am::Payload words) {
  std::printf("node 0 hears from node %u: %.*s\n", request.from(), static_cast<int>(words.size()),
              text(words).data());
  request.reply<greeted>("welcome, node " + std::to_string(request.from()));
}

}  // namespace

int main(int argc, char** argv) try {
  am::Node& node = am::start(argc, argv);
  if (argc != 1) {
    if (node.id() == 0) std::fprintf(stderr, "usage: hello\n");
    node.barrier();  // the first node that fails ends the job
    return 2;
  }
  node.request<greet>(0, "hello, I am one of " + std::to_string(node.size()));
  node.wait_until([] { return greetings == 1; });
  node.barrier();
} catch (const am::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
