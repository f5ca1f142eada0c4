// The fake fabric's side of <rdma/...>: objects and their tables of functions.
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "support/fake_world.hpp"

namespace test::fake {

namespace {

constexpr std::uint32_t address_magic = 0xfab51c;

template <class T, class Fid>
T& of(Fid* fid) {
  return *static_cast<T*>(fid->context);
}
template <class T>
T& of_ep(fid_ep* end) {
  return *static_cast<T*>(end->fid.context);
}

int no_control(fid* /*object*/, int /*command*/, void* /*argument*/) { return -FI_ENOSYS; }
int no_bind(fid* /*object*/, fid* /*to*/, std::uint64_t /*flags*/) { return -FI_ENOSYS; }

template <class Object>
Object& opened(std::size_t kind, fi_ops* operations) {
  auto* const object = new Object;
  object->fid.fid = {kind, object, operations};
  ++world->objects;
  return *object;
}
template <class Object>
int closed(fid* id) {
  const Locked locked;
  --world->objects;
  delete &of<Object>(id);
  return 0;
}

// -- memory -----------------------------------------------------------------------------------------------------------

int bind_memory(fid* id, fid* to, std::uint64_t /*flags*/) {
  const Locked locked;
  if (to->fclass != FI_CLASS_EP) world->complain("memory is bound to what is no endpoint");
  of<Memory>(id).bound = true;
  return 0;
}
int control_memory(fid* id, int command, void* /*argument*/) {
  const Locked locked;
  auto& memory = of<Memory>(id);
  if (command != FI_ENABLE || !memory.bound) world->complain("memory is enabled before it is bound");
  memory.enabled = true;
  memory.fid.key = memory.key;
  memory.fid.mem_desc = &memory;
  return 0;
}
int close_memory(fid* id) {
  const Locked locked;
  auto& memory = of<Memory>(id);
  if (memory.used != 0) world->complain("memory is closed while operations are under way in it");
  const bool end_is_open =
      std::ranges::any_of(world->ends, [&](const auto& one) { return one.second->domain == memory.domain; });
  if (memory.bound && end_is_open && memory.domain->provider.keeps_bound_memory) {
    world->complain("memory that is bound to an open endpoint is closed");
    return -FI_EBUSY;
  }
  memory.domain->by_key.erase(memory.key);
  --memory.domain->parts;
  return closed<Memory>(id);
}
/// Whether there is a page behind each byte; of a file's memory: in the page cache.
bool is_all_there(const void* memory, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = at / page * page;
  std::vector<unsigned char> pages((at + bytes - first + page - 1) / page);
  return mincore(reinterpret_cast<void*>(first), at + bytes - first, pages.data()) == 0 &&
         std::ranges::all_of(pages, [](unsigned char one) { return (one & 1) != 0; });
}
fi_ops memory_ops{sizeof(fi_ops), close_memory, bind_memory, control_memory, nullptr, nullptr, nullptr};

int register_memory(fid* id, const void* buffer, std::size_t bytes, std::uint64_t access,
                    std::uint64_t offset, std::uint64_t key, std::uint64_t /*flags*/, fid_mr** made,
                    void* /*context*/) {
  const Locked locked;
  auto& domain = of<Domain>(id);
  if (world->good_registrations == 0) return -FI_ENOMEM;
  if (world->good_registrations != ~std::size_t{0}) --world->good_registrations;
  if (offset != 0) world->complain("an offset is registered");
  if ((domain.provider.caps & FI_RMA) == 0 && (access & ~(FI_SEND | FI_RECV)) != 0)
    world->complain("memory is registered for accesses that the provider does not have");
  const int mode = domain.provider.mr_mode;
  if ((mode & FI_MR_ALLOCATED) != 0 && !is_all_there(buffer, bytes))
    world->complain("memory is registered that is not there yet");
  if ((mode & FI_MR_PROV_KEY) != 0) key = world->random() >> 1;
  if (domain.by_key.contains(key)) return -FI_ENOKEY;
  auto& memory = opened<Memory>(FI_CLASS_MR, &memory_ops);
  memory.domain = &domain;
  memory.at = static_cast<std::byte*>(const_cast<void*>(buffer));
  memory.bytes = bytes;
  memory.access = access;
  memory.enabled = (mode & FI_MR_ENDPOINT) == 0;
  memory.key = key;
  memory.fid.key = memory.enabled ? key : FI_KEY_NOTAVAIL;
  memory.fid.mem_desc = memory.enabled ? &memory : nullptr;
  domain.by_key[key] = &memory;
  ++domain.parts;
  *made = &memory.fid;
  return 0;
}

// -- addresses --------------------------------------------------------------------------------------------------------

fi_ops plain_address_ops{sizeof(fi_ops), closed<Addresses>, no_bind, no_control, nullptr, nullptr, nullptr};

int insert_addresses(fid_av* av, const void* all, std::size_t count, fi_addr_t* places,
                     std::uint64_t /*flags*/, void* /*context*/) {
  const Locked locked;
  auto& addresses = of<Addresses>(&av->fid);
  if (count != 1) world->complain("more than one address at once");
  std::array<std::uint32_t, 2> parts{};
  std::memcpy(parts.data(), all, sizeof parts);
  if (parts[0] != address_magic) {
    *places = FI_ADDR_NOTAVAIL;
    return 0;
  }
  *places = first_place + addresses.ids.size();
  addresses.ids.push_back(parts[1]);
  return 1;
}
fi_ops_av address_ops{sizeof(fi_ops_av), insert_addresses, nullptr, nullptr,
                      nullptr,           nullptr,          nullptr, nullptr};

// -- completions ------------------------------------------------------------------------------------------------------

ssize_t read_queue(fid_cq* cq, void* to, std::size_t count) {
  const Locked locked;
  auto& queue = of<Queue>(&cq->fid);
  if (world->queue_error != 0) return -world->queue_error;
  if (queue.end != nullptr) world->progress(*queue.end);
  std::size_t read = 0;
  auto* const entries = static_cast<fi_cq_data_entry*>(to);
  for (; read < count && !queue.done.empty() && !queue.done.front().failed; ++read) {
    const fi_cq_err_entry& from = queue.done.front().entry;
    entries[read] = {from.op_context, from.flags, from.len, from.buf, from.data};
    queue.done.pop_front();
  }
  if (read != 0) return static_cast<ssize_t>(read);
  return queue.done.empty() ? -FI_EAGAIN : -FI_EAVAIL;
}
ssize_t read_error(fid_cq* cq, fi_cq_err_entry* to, std::uint64_t /*flags*/) {
  const Locked locked;
  auto& queue = of<Queue>(&cq->fid);
  if (queue.done.empty() || !queue.done.front().failed) return -FI_EAGAIN;
  *to = queue.done.front().entry;
  queue.done.pop_front();
  return 1;
}
const char* error_words(fid_cq* /*cq*/, int /*error*/, const void* /*data*/, char* /*room*/,
                        std::size_t /*bytes*/) {
  return "the fake's own words";
}
fi_ops_cq queue_ops{sizeof(fi_ops_cq), read_queue, nullptr, read_error,
                    nullptr,           nullptr,    nullptr, error_words};

int control_queue(fid* id, int command, void* argument) {
  const Locked locked;
  if (command != FI_GETWAIT) return -FI_ENOSYS;
  *static_cast<int*>(argument) = of<Queue>(id).wait_fd;
  return 0;
}
int close_queue(fid* id) {
  const Locked locked;
  auto& queue = of<Queue>(id);
  if (queue.end != nullptr) {
    world->complain("a completion queue is closed before its endpoint");
    return -FI_EBUSY;
  }
  if (queue.wait_fd >= 0) ::close(queue.wait_fd);
  return closed<Queue>(id);
}
fi_ops plain_queue_ops{sizeof(fi_ops), close_queue, no_bind, control_queue, nullptr, nullptr, nullptr};

// -- endpoints --------------------------------------------------------------------------------------------------------

ssize_t receive_message(fid_ep* ep, const fi_msg* message, std::uint64_t flags) {
  const Locked locked;
  auto& end = of_ep<End>(ep);
  if (message->iov_count != 1 || message->addr != FI_ADDR_UNSPEC)
    world->complain("a receive that no provider has to know");
  if ((flags & FI_MULTI_RECV) != 0 && (end.domain->provider.caps & FI_MULTI_RECV) == 0) return -FI_EINVAL;
  if (world->receive_error != 0) return -world->receive_error;
  if (world->refuse(end) || end.receives.size() >= end.domain->provider.rx_size) return -FI_EAGAIN;
  Operation operation{message->context, FI_RECV | (flags & FI_MULTI_RECV),
                      static_cast<std::byte*>(message->msg_iov->iov_base), message->msg_iov->iov_len};
  if (!world->begin(end, operation, message->desc == nullptr ? nullptr : *message->desc, FI_RECV))
    return -FI_EINVAL;
  end.receives.push_back(std::move(operation));
  if (end.queue != nullptr) end.queue->ring();  // something may have waited for it
  return 0;
}
ssize_t send_message(fid_ep* ep, const void* bytes, std::size_t count, void* descriptor, fi_addr_t to,
                     void* context) {
  const Locked locked;
  auto* const at = static_cast<std::byte*>(const_cast<void*>(bytes));
  return world->post(of_ep<End>(ep), {context, FI_SEND, at, count}, descriptor, to, false);
}
ssize_t inject_message(fid_ep* ep, const void* bytes, std::size_t count, fi_addr_t to) {
  const Locked locked;
  auto& end = of_ep<End>(ep);
  if (count > end.domain->provider.inject_size) {
    world->complain("more is injected than the provider takes");
    return -FI_EMSGSIZE;
  }
  auto* const at = static_cast<std::byte*>(const_cast<void*>(bytes));
  return world->post(end, {nullptr, FI_SEND, at, count}, nullptr, to, true);
}
fi_ops_msg message_ops{sizeof(fi_ops_msg), nullptr, nullptr, receive_message, send_message, nullptr, nullptr,
                       inject_message,     nullptr, nullptr};

ssize_t read_memory(fid_ep* ep, void* to, std::size_t bytes, void* descriptor, fi_addr_t peer,
                    std::uint64_t address, std::uint64_t key, void* context) {
  const Locked locked;
  Operation operation{context, FI_RMA | FI_READ, static_cast<std::byte*>(to), bytes};
  operation.address = address;
  operation.key = key;
  return world->access(of_ep<End>(ep), std::move(operation), descriptor, peer);
}
ssize_t write_memory(fid_ep* ep, const fi_msg_rma* what, std::uint64_t flags) {
  const Locked locked;
  auto& end = of_ep<End>(ep);
  if ((flags & FI_DELIVERY_COMPLETE) == 0 || !end.domain->provider.delivers)
    world->complain("a write of which nobody knows when it is there");
  const iovec& from = *what->msg_iov;
  Operation operation{what->context, FI_RMA | FI_WRITE, static_cast<std::byte*>(from.iov_base), from.iov_len};
  operation.address = what->rma_iov->addr;
  operation.key = what->rma_iov->key;
  operation.text.assign(operation.at, operation.at + operation.bytes);
  return world->access(end, std::move(operation), what->desc == nullptr ? nullptr : *what->desc, what->addr);
}
fi_ops_rma access_ops{sizeof(fi_ops_rma), read_memory, nullptr, nullptr, nullptr, nullptr,
                      write_memory,       nullptr,     nullptr, nullptr};

int get_name(fid* id, void* to, std::size_t* bytes) {
  const Locked locked;
  const auto& end = of<End>(id);
  const std::size_t need = end.domain->provider.address_bytes;
  const std::size_t room = std::exchange(*bytes, need);
  if (room < need) return -FI_ETOOSMALL;
  const std::array<std::uint32_t, 2> parts{address_magic, end.id};
  std::memset(to, 0xee, need);
  std::memcpy(to, parts.data(), sizeof parts);
  return 0;
}
fi_ops_cm name_ops{sizeof(fi_ops_cm), nullptr, get_name, nullptr, nullptr,
                   nullptr,           nullptr, nullptr,  nullptr, nullptr};

int set_option(fid* id, int level, int name, const void* value, std::size_t bytes) {
  const Locked locked;
  auto& end = of<End>(id);
  if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV || bytes != sizeof(std::size_t))
    return -FI_ENOPROTOOPT;
  std::memcpy(&end.least_free, value, bytes);
  return 0;
}
fi_ops_ep end_ops{sizeof(fi_ops_ep), nullptr, nullptr, set_option, nullptr, nullptr, nullptr, nullptr};

int bind_end(fid* id, fid* to, std::uint64_t flags) {
  const Locked locked;
  auto& end = of<End>(id);
  if (to->fclass == FI_CLASS_AV) {
    end.addresses = &of<Addresses>(to);
  } else if (to->fclass == FI_CLASS_CQ && flags == (FI_TRANSMIT | FI_RECV)) {
    end.queue = &of<Queue>(to);
    end.queue->end = &end;
  } else {
    world->complain("something else is bound to an endpoint");
    return -FI_EINVAL;
  }
  return 0;
}
int control_end(fid* id, int command, void* /*argument*/) {
  const Locked locked;
  auto& end = of<End>(id);
  if (command != FI_ENABLE || end.queue == nullptr || end.addresses == nullptr) return -FI_EINVAL;
  end.enabled = true;
  return 0;
}
/// What is under way comes to nothing.
int close_end(fid* id) {
  const Locked locked;
  auto& end = of<End>(id);
  const auto give_up = [&](auto& operations) {
    for (Operation& operation : operations) {
      if (operation.memory != nullptr) --operation.memory->used;
      world->contexts.erase(operation.context);
    }
  };
  give_up(end.receives);
  give_up(end.accesses);
  give_up(end.finished);
  std::erase_if(world->wire, [&](const Message& one) { return one.from == end.id || one.to == end.id; });
  world->ends.erase(end.id);
  if (end.queue != nullptr) end.queue->end = nullptr;
  --end.domain->parts;
  return closed<End>(id);
}
fi_ops plain_end_ops{sizeof(fi_ops), close_end, bind_end, control_end, nullptr, nullptr, nullptr};

// -- domains and fabrics ----------------------------------------------------------------------------------------------

int open_addresses(fid_domain* /*domain*/, fi_av_attr* /*attributes*/, fid_av** made, void* /*context*/) {
  const Locked locked;
  auto& addresses = opened<Addresses>(FI_CLASS_AV, &plain_address_ops);
  addresses.fid.ops = &address_ops;
  *made = &addresses.fid;
  return 0;
}
int open_queue(fid_domain* domain, fi_cq_attr* attributes, fid_cq** made, void* /*context*/) {
  const Locked locked;
  if (attributes->format != FI_CQ_FORMAT_DATA) world->complain("another format of completions");
  if (attributes->wait_obj == FI_WAIT_FD && !of<Domain>(&domain->fid).provider.wait_fd) return -FI_ENOSYS;
  auto& queue = opened<Queue>(FI_CLASS_CQ, &plain_queue_ops);
  queue.fid.ops = &queue_ops;
  if (attributes->wait_obj == FI_WAIT_FD) queue.wait_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  *made = &queue.fid;
  return 0;
}
int open_end(fid_domain* domain, fi_info* info, fid_ep** made, void* /*context*/) {
  const Locked locked;
  if (info->tx_attr->op_flags != 0) world->complain("each operation is to wait until it is there");
  auto& end = opened<End>(FI_CLASS_EP, &plain_end_ops);
  end.domain = &of<Domain>(&domain->fid);
  end.id = ++world->last_id;
  end.fid.ops = &end_ops;
  end.fid.cm = &name_ops;
  end.fid.msg = &message_ops;
  end.fid.rma = (end.domain->provider.caps & FI_RMA) != 0 ? &access_ops : nullptr;
  ++end.domain->parts;
  world->ends[end.id] = &end;
  *made = &end.fid;
  return 0;
}
fi_ops_domain domain_ops{sizeof(fi_ops_domain),
                         open_addresses,
                         open_queue,
                         open_end,
                         nullptr,
                         nullptr,
                         nullptr,
                         nullptr,
                         nullptr,
                         nullptr,
                         nullptr,
                         nullptr};
fi_ops_mr register_ops{sizeof(fi_ops_mr), register_memory, nullptr, nullptr};

int close_domain(fid* id) {
  const Locked locked;
  auto& domain = of<Domain>(id);
  if (domain.parts != 0) {
    world->complain("a domain is closed before what is in it");
    return -FI_EBUSY;
  }
  return closed<Domain>(id);
}
fi_ops plain_domain_ops{sizeof(fi_ops), close_domain, no_bind, no_control, nullptr, nullptr, nullptr};

int open_domain(fid_fabric* /*fabric*/, fi_info* info, fid_domain** made, void* /*context*/) {
  const Locked locked;
  auto& domain = opened<Domain>(FI_CLASS_DOMAIN, &plain_domain_ops);
  domain.provider = world->providers.at(provider_of(*info));
  domain.fid.ops = &domain_ops;
  domain.fid.mr = &register_ops;
  *made = &domain.fid;
  return 0;
}

/// Whether nothing is there that a look would find.
int may_wait(fid_fabric* /*fabric*/, fid** ids, int count) {
  const Locked locked;
  for (int i = 0; i < count; ++i) {
    auto& queue = of<Queue>(ids[i]);
    const bool waits =
        queue.end != nullptr && !world->held &&
        std::ranges::any_of(world->wire, [&](const Message& one) { return one.to == queue.end->id; }) &&
        !queue.end->receives.empty();
    const bool is_read = queue.end != nullptr && std::ranges::any_of(world->ends, [&](const auto& one) {
                           return std::ranges::any_of(one.second->accesses, [&](const Operation& access) {
                             return access.to == queue.end->id;
                           });
                         });
    const bool works = queue.end != nullptr && (!queue.end->finished.empty() || !queue.end->accesses.empty());
    if (!queue.done.empty() || waits || works || is_read) return -FI_EAGAIN;
    eventfd_t value = 0;
    if (queue.wait_fd >= 0) eventfd_read(queue.wait_fd, &value);
  }
  return 0;
}
fi_ops plain_fabric_ops{sizeof(fi_ops), closed<Fabric>, no_bind, no_control, nullptr, nullptr, nullptr};
fi_ops_fabric fabric_ops{sizeof(fi_ops_fabric), open_domain, nullptr, nullptr, nullptr, may_wait, nullptr};

int open_fabric(fi_fabric_attr* /*attributes*/, fid_fabric** made, void* /*context*/) {
  const Locked locked;
  auto& fabric = opened<Fabric>(FI_CLASS_FABRIC, &plain_fabric_ops);
  fabric.fid.ops = &fabric_ops;
  *made = &fabric.fid;
  return 0;
}
int get_info(std::uint32_t /*version*/, const char* /*node*/, const char* /*service*/,
             std::uint64_t /*flags*/, const fi_info* hints, fi_info** found) {
  const Locked locked;
  *found = matching(world->providers, hints);
  return *found == nullptr ? -FI_ENODATA : 0;
}
const char* error_text(int error) { return std::strerror(error); }

}  // namespace

am::ofi::Library calls() { return {get_info, free_info, copy_info, open_fabric, error_text}; }

}  // namespace test::fake
