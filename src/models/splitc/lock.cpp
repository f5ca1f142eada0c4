#include <am/splitc/lock.hpp>

#include <am/error.hpp>
#include <am/splitc/spread_array.hpp>

#include <string>
#include <thread>

namespace am::splitc {

namespace {

Lock own_number() noexcept { return static_cast<Lock>(my_proc()) + 1; }

Error error(const char* what, const std::string& why, const char* remedy) {
  return {what, "node " + std::to_string(my_proc()), why, remedy};
}

/// Until it may be free. Throws am::Error when its holder is gone.
void wait_a_little(am::Node& node, am::GlobalPtr<Lock> at, Lock holder) {
  if (const Lock* place = am::direct(node, at)) {
    node.wait_until([&] { return impl::load(place) != holder; }, holder - 1);
    return;
  }
  if (node.is_gone(holder - 1))
    throw error("lock", "node " + std::to_string(holder - 1) + " is gone and holds it", "");
  if (node.poll() == 0) std::this_thread::yield();
}

}  // namespace

bool try_lock(global_ptr<Lock> at) {
  return am::compare_swap(world().node(), at.place(), 0, own_number()) == 0;
}

void lock(global_ptr<Lock> at) {
  am::Node& node = world().node();
  const Lock mine = own_number();
  for (;;) {
    const Lock holder = am::compare_swap(node, at.place(), 0, mine);
    if (holder == 0) return;
    if (holder == mine) throw error("lock", "this node holds it already", "unlock it first");
    if (holder > node.size()) throw error("lock", "the word is no lock", "use a Lock, cleared");
    wait_a_little(node, at.place(), holder);
  }
}

void unlock(global_ptr<Lock> at) {
  const Lock mine = own_number();
  if (am::compare_swap(world().node(), at.place(), mine, 0) != mine)
    throw error("unlock", "this node does not hold it", "unlock what this node has locked, once");
}

}  // namespace am::splitc
