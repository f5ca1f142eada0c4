#include "transports/ofi/long_memory.hpp"

#include <algorithm>
#include <utility>

namespace am::ofi {

LongMemory::Part LongMemory::get(std::size_t bytes) {
  const auto which = static_cast<std::size_t>(std::ranges::lower_bound(sizes, bytes) - sizes.begin());
  std::vector<Registered>& blocks = blocks_[which];
  const auto is_free = [](const Registered& one) { return one.block.is_only_share(); };
  auto found = std::ranges::find_if(blocks, is_free);
  if (found == blocks.end()) {
    Registered made{frames::Block(sizes[which] + frames::longest_head), {}};
    made.registration = endpoint_.registration(made.block.bytes(), Endpoint::Use::read);
    blocks.push_back(std::move(made));
    found = blocks.end() - 1;
  } else if (blocks.size() > most_kept[which] &&
             !endpoint_.keeps_registrations()) {  // a time of much traffic is over
    const auto other = std::find_if(found + 1, blocks.end(), is_free);
    if (other != blocks.end()) blocks.erase(other);
  }
  return {found->block, found->registration.descriptor, found->registration.address, found->registration.key};
}

}  // namespace am::ofi
