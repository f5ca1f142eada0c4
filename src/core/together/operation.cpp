#include "core/together/operation.hpp"

#include <string>

#include "core/together/collectives.hpp"

namespace am::core {

Operation::Operation(Node& node, const char* what)
    : hold_(node), node_(node), engine_(node.engine()), what_(what) {
  engine_.must_compute(what);
  const char*& under_way = engine_.collectives().under_way;
  if (under_way != nullptr) {
    const std::string other = under_way;
    throw Error(what, "node " + std::to_string(node.id()),
                "called by a post or a peer-death function that runs inside " + other +
                    " of the same node: one of them must be complete before the next one begins",
                "let it note that this is wanted, and call it when " + other +
                    " has returned, in the same order on all nodes");
  }
  engine_.attendant()
      .begin();  // here, where it throws: what comes out of a poll is kept until the operation is complete
  under_way = what;
}

Operation::~Operation() { engine_.collectives().under_way = nullptr; }

bool Operation::poll() noexcept {
  try {
    return engine_.poll() != 0;
  } catch (...) {
    keep();
    return true;
  }
}

void Operation::fail(const Error& error) {
  engine_.collectives().by_messages.clear();  // a node hears of a mismatch once
  if (!thrown_.exception) thrown_ = engine_.attendant().take_kept();
  if (!thrown_.exception) throw error;
  try {
    throw_again(thrown_);
  } catch (...) {
    std::throw_with_nested(error);
  }
}

void Operation::complete_and_throw_later() const {
  if (thrown_.exception) node_.post([thrown = thrown_](Node&) { throw_again(thrown); });
}

}  // namespace am::core
