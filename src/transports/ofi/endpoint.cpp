#include "transports/ofi/endpoint.hpp"

#include <sys/resource.h>
#include <unistd.h>
#include <am/error.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "host/random_bytes.hpp"
#include "transports/ofi/signal_handlers.hpp"

namespace am::ofi {

namespace {

constexpr int most_keys = 1000;  // that are tried

/// What the system lets this process lock, for people.
std::string locked_memory_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "unlimited";
  return std::to_string(limit.rlim_cur / 1024) + " KiB";
}

/// Its first byte, and the first of each page that it reaches into, so that there is memory behind all (FI_MR_ALLOCATED). Keeps what is there.
void touch(std::span<std::byte> memory) noexcept {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t into_page = reinterpret_cast<std::uintptr_t>(memory.data()) % page;
  for (std::size_t at = 0; at < memory.size(); at += page - (into_page + at) % page) {
    volatile std::byte& byte = memory[at];
    byte = byte;
  }
}

}  // namespace

void Endpoint::must(int result, const char* what) const {
  if (result == 0) return;
  throw Error("open a network over libfabric (" + provider_of(*info_) + " on " + domain_of(*info_) + ")",
              std::string(what) + ": " + why(result),
              "fi_pingpong -p '" + provider_of(*info_) + "' tries the provider alone");
}

Endpoint::Endpoint(const Library& library, Info info)
    : library_(library),
      info_(std::move(info)),
      keeper_(library.doors == Library::Doors::kept && goes_by_tcp(*info_) ? std::make_unique<Doorkeeper>()
                                                                           : nullptr),
      most_sends_(forgets_sends(*info_) ? info_->tx_attr->size : SIZE_MAX) {
  const SignalHandlers kept;
  const Doorkeeper::Turn turn(keeper_.get(), true);
  // Asked for of all operations, so that the provider says whether it can; wanted of some.
  writes_ = (std::exchange(info_->tx_attr->op_flags, 0) & FI_DELIVERY_COMPLETE) != 0 && has(FI_RMA);
  fid_fabric* fabric = nullptr;
  must(library.open_fabric(info_->fabric_attr, &fabric, nullptr), "fi_fabric");
  fabric_ = opened(fabric);
  fid_domain* domain = nullptr;
  must(fi_domain(fabric, info_.get(), &domain, nullptr), "fi_domain");
  domain_ = opened(domain);
  fi_av_attr addresses{};
  addresses.type = info_->domain_attr->av_type;
  fid_av* av = nullptr;
  must(fi_av_open(domain, &addresses, &av, nullptr), "fi_av_open");
  addresses_ = opened(av);
  open_queue();
  open_endpoint();
  find_address();
}

void Endpoint::find_address() {
  std::size_t bytes = 0;
  const int asked = fi_getname(&endpoint_->fid, nullptr, &bytes);
  if (asked != -FI_ETOOSMALL) must(asked, "fi_getname");
  address_.resize(bytes);
  must(fi_getname(&endpoint_->fid, address_.data(), &bytes), "fi_getname");
  address_.resize(bytes);
  if (!keeper_) return;
  const auto here = tcp::Address::of(reinterpret_cast<const sockaddr*>(address_.data()),
                                     static_cast<socklen_t>(address_.size()));
  if (here && keeper_->opened_at(*here)) return;
  throw Error(
      "open a network over libfabric (" + provider_of(*info_) + ")",
      "libam cannot see who connects to it, and any user of the job's hosts could take a node's place",
      "choose another network: AM_TRANSPORT=shm,tcp");
}

/// shm names an endpoint by the process's number and how many there were before it. What a killed process left behind in such a name it
/// takes for this process's own where the number has come round, and says that it is busy (libfabric 1.17). To close the one that failed
/// clears that away, and the next one has another name.
void Endpoint::open_endpoint() {
  constexpr int most_names = 1000;
  int enabled = -FI_EBUSY;
  for (int names = 0; enabled == -FI_EBUSY && names < most_names; ++names) {
    endpoint_.reset();
    fid_ep* endpoint = nullptr;
    must(fi_endpoint(domain_.get(), info_.get(), &endpoint, nullptr), "fi_endpoint");
    endpoint_ = opened(endpoint);
    must(fi_ep_bind(endpoint, &addresses_->fid, 0), "fi_ep_bind");
    must(fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    enabled = fi_enable(endpoint);
  }
  must(enabled, "fi_enable");
}

/// With a descriptor to wait for, where the provider has one.
void Endpoint::open_queue() {
  fi_cq_attr attributes{};
  attributes.format = FI_CQ_FORMAT_DATA;
  attributes.size = info_->tx_attr->size + info_->rx_attr->size;
  attributes.wait_obj = FI_WAIT_FD;
  fid_cq* queue = nullptr;
  if (fi_cq_open(domain_.get(), &attributes, &queue, nullptr) != 0) {
    attributes.wait_obj = FI_WAIT_NONE;
    must(fi_cq_open(domain_.get(), &attributes, &queue, nullptr), "fi_cq_open");
  }
  queue_ = opened(queue);
  if (attributes.wait_obj == FI_WAIT_FD && fi_control(&queue->fid, FI_GETWAIT, &wait_fd_) != 0) wait_fd_ = -1;
}

bool Endpoint::is_refused(std::span<const std::byte> address) const noexcept {
  if (!keeper_) return false;
  const auto there = tcp::Address::of(reinterpret_cast<const sockaddr*>(address.data()),
                                      static_cast<socklen_t>(address.size()));
  return there && keeper_->is_refused(*there);
}

fi_addr_t Endpoint::add(std::span<const std::byte> address) noexcept {
  fi_addr_t place = nowhere;
  return fi_av_insert(addresses_.get(), address.data(), 1, &place, 0, nullptr) == 1 ? place : nowhere;
}

/// Where the node chooses the key (no FI_MR_PROV_KEY), nobody is to guess it.
std::uint64_t Endpoint::random_key() const noexcept {
  std::uint64_t key = 0;
  host::fill_random(std::as_writable_bytes(std::span(&key, 1)));
  const std::size_t bytes = info_->domain_attr->mr_key_size;
  return bytes >= sizeof key ? key : key & ((std::uint64_t{1} << 8 * bytes) - 1);
}

Registration Endpoint::registration(std::span<std::byte> memory, Use use) {
  Registration made;
  const int mode = info_->domain_attr->mr_mode;
  if (use == Use::own && !registers_all()) return made;
  if (touches_memory()) touch(memory);
  std::uint64_t access = FI_SEND | FI_RECV;
  if (has(FI_RMA)) access |= FI_READ | FI_WRITE;
  if (use != Use::own) access |= FI_REMOTE_READ;
  if (use == Use::read_and_written) access |= FI_REMOTE_WRITE;
  fid_mr* mr = nullptr;
  int result = -FI_ENOKEY;  // another one has that key
  for (int tries = 0; result == -FI_ENOKEY && tries < most_keys; ++tries)
    result = fi_mr_reg(domain_.get(), memory.data(), memory.size(), access, 0, random_key(), 0, &mr, nullptr);
  if (result == 0) made.memory = opened(mr);
  if (result == 0 && (mode & FI_MR_ENDPOINT) != 0) {
    result = fi_mr_bind(mr, &endpoint_->fid, 0);
    if (result == 0) result = fi_mr_enable(mr);
  }
  if (result != 0) {
    throw Error(
        "register " + std::to_string(memory.size()) + " bytes with libfabric (" + provider_of(*info_) + ")",
        why(result) + "; this process may lock " + locked_memory_limit() + " of memory",
        "ulimit -l " + std::to_string((registered_bytes_ + memory.size()) / 1024 + 64 * 1024) +
            " before the job is started, or less AM_SEGMENT");
  }
  registered_bytes_ += memory.size();
  made.descriptor = fi_mr_desc(mr);
  made.key = fi_mr_key(mr);
  if ((mode & FI_MR_VIRT_ADDR) != 0) made.address = reinterpret_cast<std::uintptr_t>(memory.data());
  return made;
}

int Endpoint::inject(std::span<const std::byte> bytes, fi_addr_t to) noexcept {
  const Doorkeeper::Turn turn(keeper_.get());
  return static_cast<int>(fi_inject(endpoint_.get(), bytes.data(), bytes.size(), to));
}

int Endpoint::send(std::span<const std::byte> bytes, void* descriptor, fi_addr_t to,
                   Operation& operation) noexcept {
  if (sends_ == most_sends_) return -FI_EAGAIN;
  const Doorkeeper::Turn turn(keeper_.get());
  const auto result =
      static_cast<int>(fi_send(endpoint_.get(), bytes.data(), bytes.size(), descriptor, to, &operation.room));
  if (result == 0) ++sends_;
  return result;
}

int Endpoint::receive(std::span<std::byte> buffer, void* descriptor, bool many,
                      Operation& operation) noexcept {
  iovec piece{buffer.data(), buffer.size()};
  fi_msg message{};
  message.msg_iov = &piece;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  message.context = &operation.room;
  return static_cast<int>(fi_recvmsg(endpoint_.get(), &message, many ? FI_MULTI_RECV : 0));
}

void Endpoint::end_buffers_below(std::size_t bytes) noexcept {
  static_cast<void>(fi_setopt(&endpoint_->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &bytes, sizeof bytes));
}

int Endpoint::read(std::span<std::byte> into, void* descriptor, const Remote& from,
                   Operation& operation) noexcept {
  const Doorkeeper::Turn turn(keeper_.get());
  return static_cast<int>(fi_read(endpoint_.get(), into.data(), into.size(), descriptor, from.peer,
                                  from.address, from.key, &operation.room));
}

int Endpoint::write(std::span<const std::byte> bytes, void* descriptor, const Remote& to,
                    Operation& operation) noexcept {
  const Doorkeeper::Turn turn(keeper_.get());
  const iovec here{const_cast<std::byte*>(bytes.data()), bytes.size()};
  const fi_rma_iov there{to.address, bytes.size(), to.key};
  fi_msg_rma message{};
  message.msg_iov = &here;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = to.peer;
  message.rma_iov = &there;
  message.rma_iov_count = 1;
  message.context = &operation.room;
  return static_cast<int>(fi_writemsg(endpoint_.get(), &message, FI_DELIVERY_COMPLETE));
}

std::size_t Endpoint::look(std::span<Done> room) noexcept {
  const Doorkeeper::Turn turn(keeper_.get());
  std::array<fi_cq_data_entry, 32> entries;
  std::size_t found = 0;
  while (found < room.size()) {
    const std::size_t most = std::min(entries.size(), room.size() - found);
    const ssize_t count = fi_cq_read(queue_.get(), entries.data(), most);
    if (count == -FI_EAVAIL) {
      fi_cq_err_entry failed{};
      if (const ssize_t told = fi_cq_readerr(queue_.get(), &failed, 0); told <= 0) {
        failed_for_good(told);
        break;
      }
      room[found++] = {
          ended(failed.op_context), failed.flags, static_cast<std::byte*>(failed.buf), 0, failed.err,
          failed.prov_errno};
      continue;
    }
    if (count <= 0) {
      failed_for_good(count);
      break;
    }
    for (const fi_cq_data_entry& entry : std::span(entries).first(static_cast<std::size_t>(count))) {
      room[found++] = {
          ended(entry.op_context), entry.flags, static_cast<std::byte*>(entry.buf), entry.len, 0, 0};
    }
    if (static_cast<std::size_t>(count) < most) break;
  }
  return found;
}

Operation* Endpoint::ended(void* context) noexcept {
  auto* const operation = static_cast<Operation*>(context);
  if (operation != nullptr && operation->kind == Operation::Kind::send) --sends_;
  return operation;
}

void Endpoint::failed_for_good(ssize_t result) noexcept {
  if (result < 0 && result != -FI_EAGAIN && result != -FI_EINTR) failure_ = static_cast<int>(-result);
}

std::string Endpoint::why(const Done& failed) const {
  std::string text = why(failed.error);
  if (failed.provider_error == 0) return text;
  const char* const words = fi_cq_strerror(queue_.get(), failed.provider_error, nullptr, nullptr, 0);
  if (words != nullptr && *words != '\0' && words != text) (text += ": ") += words;
  return text;
}

void Endpoint::leave_open() noexcept {
  static_cast<void>(endpoint_.release());
  static_cast<void>(queue_.release());
  static_cast<void>(addresses_.release());
  static_cast<void>(domain_.release());
  static_cast<void>(fabric_.release());
}

bool Endpoint::may_sleep() noexcept {
  fid* queue = &queue_->fid;
  return fi_trywait(fabric_.get(), &queue, 1) == 0;
}

}  // namespace am::ofi
