// How it goes with the fake fabric's operations: begun, on the wire, carried out, told of.
#include "support/fake_world.hpp"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>

namespace test::fake {

namespace {

using Step = FakeFabric::Step;

constexpr std::size_t wire_room = 256;  // messages to one endpoint
constexpr std::uint64_t context_mark = 0x5a5a'0000'0000;

/// That the provider writes in a context while its operation is under way.
std::size_t context_words(const FakeProvider& provider) {
  if ((provider.mode & FI_CONTEXT2) != 0) return 8;
  return (provider.mode & FI_CONTEXT) != 0 ? 4 : 0;
}

}  // namespace

bool World::begin(End& end, Operation& operation, void* descriptor, std::uint64_t access) {
  const FakeProvider& provider = end.domain->provider;
  if (!end.enabled) complain("an operation of an endpoint that is not enabled");
  if ((provider.mr_mode & FI_MR_LOCAL) != 0) {
    operation.memory = static_cast<Memory*>(descriptor);
    const Memory* const memory = operation.memory;
    if (memory == nullptr || memory->domain != end.domain || !memory->enabled ||
        !memory->holds(operation.at, operation.bytes) || (memory->access & access) != access) {
      complain("an operation in memory that is not registered for it");
      return false;
    }
    ++operation.memory->used;
  }
  if (!contexts.insert(operation.context).second) complain("a context is used twice");
  const std::size_t words = context_words(provider);
  for (std::size_t i = 0; i < words; ++i)
    static_cast<fi_context2*>(operation.context)->internal[i] = reinterpret_cast<void*>(context_mark + i);
  return true;
}

/// Its effect is there; that it is done is told later.
void World::finish(End& end, Operation operation) {
  if (end.domain->provider.shuffles) {
    end.finished.push_back(std::move(operation));
    if (end.queue != nullptr) end.queue->ring();
  } else {
    complete(end, operation);
  }
}

void World::complete(End& end, const Operation& operation) {
  const FakeProvider& provider = end.domain->provider;
  const bool is_over = (operation.flags & FI_RECV) == 0 || (operation.flags & FI_MULTI_RECV) != 0 ||
                       (provider.caps & FI_MULTI_RECV) == 0 || operation.bytes == ~std::size_t{0};
  if (is_over && operation.context != nullptr) {
    contexts.erase(operation.context);
    const std::size_t words = context_words(provider);
    for (std::size_t i = 0; i < words; ++i) {
      if (static_cast<fi_context2*>(operation.context)->internal[i] !=
          reinterpret_cast<void*>(context_mark + i))
        complain("a context is written while its operation is under way");
    }
  }
  if ((operation.flags & (FI_SEND | FI_WRITE)) != 0 && operation.context != nullptr &&
      !std::equal(operation.text.begin(), operation.text.end(), operation.at))
    complain("what is being sent is changed");
  if (is_over && operation.memory != nullptr) --operation.memory->used;
  Completion completion;
  completion.failed = operation.error != 0;
  completion.entry.op_context = operation.context;
  completion.entry.flags = operation.flags;
  if (operation.error == FI_ETRUNC) completion.entry.flags &= ~FI_MULTI_RECV;  // as ofi_rxm
  completion.entry.len = operation.filled;
  completion.entry.buf = operation.at;
  completion.entry.err = operation.error;
  completion.entry.prov_errno = operation.error != 0 ? 7 : 0;
  end.queue->done.push_back(completion);
  end.queue->ring();
}

int World::post(End& end, Operation operation, void* descriptor, fi_addr_t to, bool inject) {
  const std::vector<std::uint32_t>& ids = end.addresses->ids;
  if (to < first_place || to - first_place >= ids.size()) {
    complain("a message to an address that was not inserted");
    return -FI_EINVAL;
  }
  if (operation.bytes > end.domain->provider.max_msg_size) {
    complain("a message is longer than the provider takes");
    return -FI_EMSGSIZE;
  }
  const std::uint32_t id = ids[to - first_place];
  const auto under_way =
      static_cast<std::size_t>(std::ranges::count(wire, id, [](const Message& one) { return one.to; }));
  if (refuses || refuse(end) || under_way >= wire_room) return -FI_EAGAIN;
  const FakeProvider& provider = end.domain->provider;
  const bool forgets = provider.forgets_sends && !inject;
  const auto counts = [&](const Operation& one) { return !forgets || (one.flags & FI_SEND) != 0; };
  if (static_cast<std::size_t>(std::ranges::count_if(end.finished, counts)) >= provider.tx_size)
    return forgets ? 0 : -FI_EAGAIN;
  operation.text.assign(operation.at, operation.at + operation.bytes);
  if (!inject && !begin(end, operation, descriptor, FI_SEND)) return -FI_EINVAL;
  operation.error = fuses[inject ? Step::inject : Step::send].next();
  if (!ends.contains(id)) operation.error = FI_EHOSTUNREACH;
  if (operation.error == 0) {
    wire.push_back({end.id, id, operation.text});
    if (ends[id]->queue != nullptr && !held) ends[id]->queue->ring();
  }
  if (!inject || operation.error != 0) finish(end, std::move(operation));
  return 0;
}

int World::access(End& end, Operation operation, void* descriptor, fi_addr_t peer) {
  const std::vector<std::uint32_t>& ids = end.addresses->ids;
  if (peer < first_place || peer - first_place >= ids.size()) return -FI_EINVAL;
  if (operation.bytes > end.domain->provider.max_msg_size) {
    complain("an access is longer than the provider takes");
    return -FI_EMSGSIZE;
  }
  if (refuse(end) || end.accesses.size() >= end.domain->provider.tx_size) return -FI_EAGAIN;
  operation.to = ids[peer - first_place];
  if (!begin(end, operation, descriptor, operation.flags & (FI_READ | FI_WRITE))) return -FI_EINVAL;
  const std::uint32_t id = operation.to;
  end.accesses.push_back(std::move(operation));
  end.queue->ring();
  if (end.domain->provider.manual_progress && ends.contains(id)) ends[id]->queue->ring();
  return 0;
}

void World::carry_out(End& end, Operation& operation) {
  const bool reads = (operation.flags & FI_READ) != 0;
  operation.error = fuses[Step::access].next();
  const auto other = ends.find(operation.to);
  if (other == ends.end()) {
    operation.error = FI_EHOSTUNREACH;
  } else if (operation.error == 0) {
    const Domain& domain = *other->second->domain;
    const auto found = domain.by_key.find(operation.key);
    const bool by_address = (domain.provider.mr_mode & FI_MR_VIRT_ADDR) != 0;
    const Memory* const memory = found == domain.by_key.end() ? nullptr : found->second;
    std::byte* const at = memory == nullptr ? nullptr
                          : by_address      ? reinterpret_cast<std::byte*>(operation.address)
                                            : memory->at + std::min(operation.address, memory->bytes);
    if (memory == nullptr || !memory->enabled || !memory->holds(at, operation.bytes) ||
        (memory->access & (reads ? FI_REMOTE_READ : FI_REMOTE_WRITE)) == 0) {
      operation.error = FI_EACCES;
    } else if (reads) {
      std::memcpy(operation.at, at, operation.bytes);
    } else {
      std::memcpy(at, operation.at, operation.bytes);
    }
  }
  operation.filled = operation.bytes;
  finish(end, std::move(operation));
}

/// Whether it may be delivered before those in front of it.
bool World::is_next(std::size_t place) const {
  const Message& message = wire[place];
  const auto end = ends.find(message.from);
  if (end == ends.end() || (end->second->domain->provider.order & FI_ORDER_SAS) == 0) return true;
  return std::none_of(wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(place),
                      [&](const Message& one) { return one.from == message.from && one.to == message.to; });
}

/// Into the first buffer of its receiver. False: there is none.
bool World::take(std::size_t place) {
  const auto to = ends.find(wire[place].to);
  if (to == ends.end()) {
    wire.erase(wire.begin() + static_cast<std::ptrdiff_t>(place));
    return true;
  }
  End& end = *to->second;
  while (!end.receives.empty()) {
    Operation& first = end.receives.front();
    const std::vector<std::byte>& text = wire[place].text;
    const bool many = (first.flags & FI_MULTI_RECV) != 0;
    if (many && first.filled != 0 && first.bytes - first.filled < text.size()) {  // no room: it is free
      Operation freed = first;
      end.receives.pop_front();
      freed.flags = FI_MULTI_RECV;
      freed.filled = 0;
      complete(end, freed);
      continue;
    }
    Operation came = first;
    came.at = first.at + first.filled;
    const std::size_t room = first.bytes - first.filled;
    came.filled = std::min(text.size(), room);
    std::memcpy(came.at, text.data(), came.filled);
    came.error = text.size() > room ? FI_ETRUNC : fuses[Step::arrival].next();
    first.filled += came.filled;
    came.flags = FI_RECV | FI_MSG;
    if (many && (came.error != 0 || first.bytes - first.filled < end.least_free)) {
      const bool alone = came.error == 0 && random.one_in(2);
      Operation freed = first;
      end.receives.pop_front();
      if (!alone) came.flags |= FI_MULTI_RECV;
      complete(end, came);
      freed.flags = FI_MULTI_RECV;
      freed.filled = 0;
      if (alone) complete(end, freed);
    } else {
      if (!many) {
        came.bytes = ~std::size_t{0};  // it ends
        end.receives.pop_front();
      }
      complete(end, came);
    }
    wire.erase(wire.begin() + static_cast<std::ptrdiff_t>(place));
    return true;
  }
  return false;
}

void World::progress(End& end) {
  while (!held) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < wire.size(); ++i) {
      if (wire[i].to == end.id && is_next(i)) places.push_back(i);
    }
    if (places.empty() || !take(places[random.below(places.size())])) break;
  }
  // Its own, and those in its memory, if that needs it.
  for (const auto& [id, other] : ends) {
    if (id != end.id && !end.domain->provider.manual_progress) continue;
    for (std::size_t i = 0; i < other->accesses.size();) {
      const bool needs_owner =
          other->domain->provider.manual_progress && ends.contains(other->accesses[i].to);
      if (needs_owner ? other->accesses[i].to != end.id : id != end.id) {
        ++i;
        continue;
      }
      Operation operation = std::move(other->accesses[i]);
      other->accesses.erase(other->accesses.begin() + static_cast<std::ptrdiff_t>(i));
      carry_out(*other, operation);
    }
  }
  while (!end.finished.empty() && !random.one_in(4)) {
    const auto at = end.finished.begin() + static_cast<std::ptrdiff_t>(random.below(end.finished.size()));
    const Operation operation = std::move(*at);
    end.finished.erase(at);
    complete(end, operation);
  }
}

}  // namespace test::fake
