#include "emulated_hw/mmachine/costs/translation.hpp"

#include <algorithm>

namespace am::mmachine::costs {

namespace {

constexpr unsigned find_steps = 6;
constexpr unsigned place_steps = 8;

}  // namespace

bool Lookup::just_found() const noexcept { return done_ == find_steps; }

void Lookup::find(Cluster& cluster, unsigned step) noexcept {
  switch (step) {
    case 0:
      table_ = cluster.lea();
      break;
    case 1:
      mask_ = cluster.load(table_);
      break;
    case 2:
      tag_ = cluster.load(table_);
      break;
    case 3:
      mapping_ = cluster.load(table_);
      break;
    case 4:
      matches_ = cluster.compute(address_, mask_);
      break;
    default:
      matches_ = cluster.compute(matches_, tag_);
      break;
  }
}

void Lookup::place(Cluster& cluster, unsigned step) noexcept {
  switch (step) {
    case 0:
      page_ = cluster.compute(address_, mapping_);
      break;
    case 1:
      x_ = cluster.compute(page_, mapping_);
      break;
    case 2:
      y_ = cluster.compute(page_, mapping_);
      break;
    case 3:
      x_ = cluster.compute(x_);
      break;
    case 4:
      y_ = cluster.compute(y_);
      break;
    case 5:
      x_ = cluster.compute(x_, mapping_);
      break;
    case 6:
      y_ = cluster.compute(y_, mapping_);
      break;
    default:
      node_ = cluster.compute(x_, y_);
      break;
  }
}

bool Lookup::step(Cluster& cluster) noexcept {
  if (done_ == find_steps + place_steps) return false;
  if (done_ < find_steps) {
    find(cluster, done_);
  } else {
    place(cluster, done_ - find_steps);
  }
  ++done_;
  return true;
}

unsigned AddressTranslation::spilled(unsigned live) noexcept {
  const unsigned wanted = live + held_registers + lookup_registers;
  return wanted > integer_registers ? wanted - integer_registers : 0;
}

void AddressTranslation::miss(Cluster& cluster) const noexcept {
  if (missed_entries_ > 0)
    cluster.spend(missed_entries_ * missed_entry_cycles, missed_entries_ * missed_entry_slots);
}

Register AddressTranslation::translate(Cluster& cluster, Register address, unsigned live) const noexcept {
  if (!in_software()) return address;
  const unsigned spills = spilled(live);
  Register frame = address;
  for (unsigned i = 0; i < spills; ++i) {
    frame = cluster.lea(frame);
    (void)cluster.store(frame, {});
  }
  Lookup lookup(cluster.move(address));
  cluster.jump();
  miss(cluster);
  while (lookup.step(cluster)) {
    if (lookup.just_found()) cluster.jump(lookup.matches());  // out of the search
  }
  cluster.jump();
  const Register node = cluster.move(lookup.node());
  Register restored;
  for (unsigned i = 0; i < spills; ++i) {
    frame = cluster.lea(frame);
    restored = cluster.load(frame);
  }
  return {std::max(restored.ready, node.ready)};
}

}  // namespace am::mmachine::costs
