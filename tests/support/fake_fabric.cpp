
#include <algorithm>

#include "support/fake_world.hpp"

namespace test {

using fake::Locked;

namespace {
template <class Value>
void change(Value& of_the_world, Value to) {
  const Locked locked;
  of_the_world = to;
}
}  // namespace

FakeFabric::FakeFabric(std::vector<FakeProvider> providers, std::uint64_t seed)
    : world_(std::make_unique<fake::World>(std::move(providers), seed)) {
  fake::world = world_.get();
  world_->library = fake::calls();
}
FakeFabric::~FakeFabric() { fake::world = nullptr; }

const am::ofi::Library& FakeFabric::library() const noexcept { return world_->library; }
std::vector<std::string> FakeFabric::complaints() const {
  const Locked locked;
  return world_->complaints;
}
std::size_t FakeFabric::open_objects() const {
  const Locked locked;
  return world_->objects + fake::open_infos();
}
std::string FakeFabric::describe() const {
  const Locked locked;
  std::string text;
  for (const auto& [id, end] : world_->ends) {
    const auto on_wire =
        std::ranges::count(world_->wire, id, [](const fake::Message& one) { return one.to; });
    text += "endpoint " + std::to_string(id) + ": " + std::to_string(on_wire) + " messages to come, " +
            std::to_string(end->receives.size()) + " buffers, " + std::to_string(end->accesses.size()) +
            " accesses, " + std::to_string(end->finished.size()) + " completions to come, " +
            std::to_string(end->queue->done.size()) + " there\n";
  }
  return text;
}
std::size_t FakeFabric::in_flight() const {
  const Locked locked;
  return world_->contexts.size();
}
void FakeFabric::hold(bool on) { change(world_->held, on); }
std::vector<std::size_t> FakeFabric::deliverable() const {
  const Locked locked;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < world_->wire.size(); ++i) {
    if (world_->is_next(i)) places.push_back(i);
  }
  return places;
}
void FakeFabric::deliver(std::size_t place) {
  const Locked locked;
  if (!world_->take(place)) world_->complain("there is no buffer for what is delivered");
}
std::vector<FakeFabric::Receive> FakeFabric::receives() const {
  const Locked locked;
  std::vector<Receive> all;
  for (const fake::Operation& one : world_->ends.begin()->second->receives)
    all.push_back({one.context, one.at, one.bytes});
  return all;
}
FakeFabric::Receive FakeFabric::take_receive() {
  const Locked locked;
  std::deque<fake::Operation>& all = world_->ends.begin()->second->receives;
  const fake::Operation first = all.front();
  all.pop_front();
  world_->contexts.erase(first.context);
  if (first.memory != nullptr) --first.memory->used;
  return {first.context, first.at, first.bytes};
}
void FakeFabric::fail_registrations_after(std::size_t good) { change(world_->good_registrations, good); }
void FakeFabric::fail_after(Step step, std::size_t good, int error) {
  const Locked locked;
  world_->fuses[step] = {good, error};
}
void FakeFabric::fail_receives(int error) { change(world_->receive_error, error); }
void FakeFabric::fail_queues(int error) { change(world_->queue_error, error); }
void FakeFabric::refuse_sends(bool on) { change(world_->refuses, on); }

}  // namespace test
