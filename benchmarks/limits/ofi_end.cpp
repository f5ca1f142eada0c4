#include "limits/ofi_end.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <stdexcept>

namespace ambench {

namespace {

constexpr std::size_t most_receives = 256;

template <class Fid>
OwnedOfi<Fid> owned(Fid* object) {
  return OwnedOfi<Fid>(object);
}

}  // namespace

OfiEnd::OfiEnd(const std::string& provider, OfiMeeting& meeting, std::size_t self, std::size_t bytes,
               CompletionQueue queue)
    : library_(am::ofi::system_library()),
      info_(am::ofi::choose(library_, {.provider = provider, .interfaces = {}})),
      meeting_(meeting),
      self_(self),
      memory_(bytes, std::byte{1}),
      slots_(std::min(most_receives, info_->rx_attr->size)) {
  open(queue);
  for (Slot& slot : slots_) used_up_.push_back(&slot);
  post_receives();
  meet();
}

void OfiEnd::must(long result, const char* what) const {
  if (result != 0)
    throw std::runtime_error("libfabric: " + std::string(what) + ": " +
                             library_.error_text(static_cast<int>(-result)));
}

void OfiEnd::open(CompletionQueue queue) {
  fid_fabric* fabric = nullptr;
  must(library_.open_fabric(info_->fabric_attr, &fabric, nullptr), "fi_fabric");
  fabric_ = owned(fabric);
  fid_domain* domain = nullptr;
  must(fi_domain(fabric, info_.get(), &domain, nullptr), "fi_domain");
  domain_ = owned(domain);
  fi_av_attr addresses{};
  addresses.type = info_->domain_attr->av_type;
  fid_av* av = nullptr;
  must(fi_av_open(domain, &addresses, &av, nullptr), "fi_av_open");
  addresses_ = owned(av);
  open_queue(queue);
  fid_ep* endpoint = nullptr;
  must(fi_endpoint(domain, info_.get(), &endpoint, nullptr), "fi_endpoint");
  endpoint_ = owned(endpoint);
  must(fi_ep_bind(endpoint, &av->fid, 0), "fi_ep_bind");
  must(fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  must(fi_enable(endpoint), "fi_enable");
  const auto registered = [&](void* start, std::size_t bytes, std::uint64_t access, std::uint64_t key) {
    fid_mr* mr = nullptr;
    must(fi_mr_reg(domain, start, bytes, access, 0, key, 0, &mr, nullptr), "fi_mr_reg");
    if ((info_->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
      must(fi_mr_bind(mr, &endpoint->fid, 0), "fi_mr_bind");
      must(fi_mr_enable(mr), "fi_mr_enable");
    }
    return owned(mr);
  };
  slots_mr_ = registered(slots_.data(), slots_.size() * sizeof(Slot), FI_SEND | FI_RECV, 1);
  if (has_rma(memory_.size()))
    memory_mr_ =
        registered(memory_.data(), memory_.size(), FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 2);
}

void OfiEnd::open_queue(CompletionQueue kind) {
  fi_cq_attr attributes{};
  attributes.format = FI_CQ_FORMAT_CONTEXT;
  attributes.size = info_->tx_attr->size + info_->rx_attr->size;
  attributes.wait_obj = kind == CompletionQueue::to_sleep_at ? FI_WAIT_FD : FI_WAIT_NONE;
  fid_cq* queue = nullptr;
  if (fi_cq_open(domain_.get(), &attributes, &queue, nullptr) != 0) {
    attributes.wait_obj = FI_WAIT_NONE;
    must(fi_cq_open(domain_.get(), &attributes, &queue, nullptr), "fi_cq_open");
  }
  queue_ = owned(queue);
}

void OfiEnd::meet() {
  OfiMeeting::Side& own = meeting_.sides[self_];
  own.address_bytes = own.address.size();
  must(fi_getname(&endpoint_->fid, own.address.data(), &own.address_bytes), "fi_getname");
  if (memory_mr_ != nullptr) {
    own.key = fi_mr_key(memory_mr_.get());
    const bool by_address = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    own.memory = by_address ? reinterpret_cast<std::uintptr_t>(memory_.data()) : 0;
  }
  own.is_there.store(true, std::memory_order_release);
  const OfiMeeting::Side& other = meeting_.sides[1 - self_];
  while (!other.is_there.load(std::memory_order_acquire)) look();
  if (fi_av_insert(addresses_.get(), other.address.data(), 1, &other_, 0, nullptr) != 1)
    throw std::runtime_error("libfabric: fi_av_insert takes no address of its own provider's");
}

template <typename F>
void OfiEnd::post(F call, const char* what) {
  for (;;) {
    const ssize_t result = call();
    if (result != -FI_EAGAIN) return must(result, what);
    look();
  }
}

void OfiEnd::inject() {
  static constexpr std::uint64_t word = 1;
  post([&] { return fi_inject(endpoint_.get(), &word, sizeof word, other_); }, "fi_inject");
}

void OfiEnd::look() {
  std::array<fi_cq_entry, 16> done;
  const ssize_t count = fi_cq_read(queue_.get(), done.data(), done.size());
  if (count == -FI_EAGAIN) return;
  if (count == -FI_EAVAIL) {
    fi_cq_err_entry failed{};
    static_cast<void>(fi_cq_readerr(queue_.get(), &failed, 0));
    if (is_over()) return;  // the other one has gone
    must(-failed.err, "an operation");
  }
  if (count < 0) must(count, "fi_cq_read");
  for (const fi_cq_entry& one : std::span(done).first(static_cast<std::size_t>(count))) {
    const auto* const room = static_cast<fi_context2*>(one.op_context);
    if (room >= std::begin(access_room_) && room < std::end(access_room_)) {
      --under_way_;
    } else {
      ++received_;
      used_up_.push_back(static_cast<Slot*>(one.op_context));
    }
  }
}

void OfiEnd::post_receives() {
  while (!used_up_.empty()) {
    Slot* const slot = used_up_.back();
    const ssize_t result = fi_recv(endpoint_.get(), slot->bytes.data(), slot->bytes.size(),
                                   fi_mr_desc(slots_mr_.get()), FI_ADDR_UNSPEC, &slot->room);
    if (result == -FI_EAGAIN) return;  // the next time
    must(result, "fi_recv");
    used_up_.pop_back();
  }
}

bool OfiEnd::has_rma(std::size_t bytes) const {
  return bytes != 0 && (info_->caps & FI_RMA) != 0 && bytes <= info_->ep_attr->max_msg_size;
}

void OfiEnd::write(Told told) {
  const OfiMeeting::Side& there = meeting_.sides[1 - self_];
  void* descriptor = fi_mr_desc(memory_mr_.get());
  const iovec piece{memory_.data(), memory_.size()};
  const fi_rma_iov place{there.memory, memory_.size(), there.key};
  fi_msg_rma message{};
  message.msg_iov = &piece;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = other_;
  message.rma_iov = &place;
  message.rma_iov_count = 1;
  message.context = &access_room_[next_room_++ % std::size(access_room_)];
  const std::uint64_t flags = FI_COMPLETION | (told == Told::when_delivered ? FI_DELIVERY_COMPLETE : 0);
  post([&] { return fi_writemsg(endpoint_.get(), &message, flags); }, "fi_writemsg");
  ++under_way_;
}

void OfiEnd::read() {
  const OfiMeeting::Side& there = meeting_.sides[1 - self_];
  post(
      [&] {
        return fi_read(endpoint_.get(), memory_.data(), memory_.size(), fi_mr_desc(memory_mr_.get()), other_,
                       there.memory, there.key, &access_room_[next_room_ % std::size(access_room_)]);
      },
      "fi_read");
  ++next_room_;
  ++under_way_;
}

void OfiEnd::part() {
  if (self_ == 0) meeting_.is_over.store(true, std::memory_order_release);
  ++meeting_.parted;
  while (meeting_.parted < 2) look();
}

}  // namespace ambench
