// What `ambench payloads` asks of libam, asked of UCX's active messages (UCP): half round trips of data that is written anew
// each time and read in full where it arrives. Started by ambench, which chooses UCX's transports (UCX_TLS). It is not part
// of libam and links nothing of it.
//
//   ucx_peer CPU CPU BYTES...    half round trip between two processes on these processors, ns
//
// Prints "figure NAME VALUE" lines.

#include <ucp/api/ucp.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "limits/pair.hpp"
#include "timing.hpp"
#include "words.hpp"

namespace {

constexpr unsigned payload_id = 0;
constexpr ucp_request_param_t no_wishes{};

void check(ucs_status_t status, const std::string& what) {
  if (status != UCS_OK) throw std::runtime_error(what + ": " + ucs_status_string(status));
}

// Where a side leaves the address of its worker for the other; zeroed at first.
struct Mailbox {
  std::atomic<std::size_t> bytes;  // 0: not there yet
  std::array<std::byte, 4096> address;
};

constexpr std::size_t mailboxes_bytes = 2 * sizeof(Mailbox);

Mailbox* mailboxes_in(std::byte* memory) { return std::launder(reinterpret_cast<Mailbox*>(memory)); }

struct Cleanup {
  void operator()(ucp_context_h context) const { ucp_cleanup(context); }
  void operator()(ucp_worker_h worker) const { ucp_worker_destroy(worker); }
};
using Context = std::unique_ptr<ucp_context, Cleanup>;
using Worker = std::unique_ptr<ucp_worker, Cleanup>;

Context open_context() {
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_AM;
  ucp_context_h context = nullptr;
  check(ucp_init(&params, nullptr, &context), "ucp_init");
  return Context(context);
}

Worker create_worker(const Context& context) {
  const ucp_worker_params_t params{};  // one thread
  ucp_worker_h worker = nullptr;
  check(ucp_worker_create(context.get(), &params, &worker), "ucp_worker_create");
  return Worker(worker);
}

void leave_address(const Worker& worker, Mailbox& mailbox) {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  check(ucp_worker_get_address(worker.get(), &address, &bytes), "ucp_worker_get_address");
  const bool fits = bytes <= mailbox.address.size();
  if (fits) std::memcpy(mailbox.address.data(), address, bytes);
  ucp_worker_release_address(worker.get(), address);
  if (!fits) throw std::runtime_error("a worker's address takes " + std::to_string(bytes) + " bytes");
  mailbox.bytes.store(bytes, std::memory_order_release);  // pairs with the acquire of connect
}

// The endpoint belongs to the worker, and goes with it.
ucp_ep_h connect(const Worker& worker, const Mailbox& mailbox) {
  while (mailbox.bytes.load(std::memory_order_acquire) == 0) {
  }
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(mailbox.address.data());
  ucp_ep_h endpoint = nullptr;
  check(ucp_ep_create(worker.get(), &params, &endpoint), "ucp_ep_create");
  return endpoint;
}

// One of the two processes. Each numbers what it sends, so that both know what has to arrive.
class Side {
 public:
  Side(Mailbox& own, const Mailbox& other) {
    take_payloads();
    leave_address(worker_, own);
    endpoint_ = connect(worker_, other);
  }
  Side(const Side&) = delete;  // UCX holds its place
  Side& operator=(const Side&) = delete;

  void send(std::size_t bytes) {
    out_.resize(bytes);
    ambench::write_words(out_, ++sent_);
    finish(ucp_am_send_nbx(endpoint_, payload_id, nullptr, 0, out_.data(), bytes, &no_wishes), "send");
  }

  // Waits for a payload; its size.
  std::size_t receive() {
    while (!arrived_) ucp_worker_progress(worker_.get());
    const std::size_t bytes = *std::exchange(arrived_, std::nullopt);
    if (rendezvous_ != nullptr) fetch(bytes);
    if (sum_ != ambench::sum_written(bytes, ++received_)) throw std::runtime_error("a payload was damaged");
    return bytes;
  }

 private:
  void take_payloads() {
    ucp_am_handler_param_t params{};
    params.field_mask =
        UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    params.id = payload_id;
    params.cb = on_payload;
    params.arg = this;
    check(ucp_worker_set_am_recv_handler(worker_.get(), &params), "ucp_worker_set_am_recv_handler");
  }

  // What UCX has brought along is read in place; what waits at the sender (rendezvous) is fetched after the handler, which
  // must not wait.
  static ucs_status_t on_payload(void* self, const void*, std::size_t, void* data, std::size_t bytes,
                                 const ucp_am_recv_param_t* param) {
    Side& side = *static_cast<Side*>(self);
    side.arrived_ = bytes;
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
      side.rendezvous_ = data;
      return UCS_INPROGRESS;
    }
    side.sum_ = ambench::sum_of_words({static_cast<const std::byte*>(data), bytes});
    return UCS_OK;
  }

  void fetch(std::size_t bytes) {
    in_.resize(bytes);
    void* const waiting = std::exchange(rendezvous_, nullptr);
    finish(ucp_am_recv_data_nbx(worker_.get(), waiting, in_.data(), bytes, &no_wishes), "receive");
    sum_ = ambench::sum_of_words(in_);
  }

  void finish(ucs_status_ptr_t request, const std::string& what) {
    if (request == nullptr) return;
    check(UCS_PTR_IS_ERR(request) ? UCS_PTR_STATUS(request) : UCS_OK, what);
    ucs_status_t status = UCS_INPROGRESS;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) ucp_worker_progress(worker_.get());
    ucp_request_free(request);
    check(status, what);
  }

  Context context_ = open_context();
  Worker worker_ = create_worker(context_);
  ucp_ep_h endpoint_ = nullptr;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  std::optional<std::size_t> arrived_;
  void* rendezvous_ = nullptr;
  std::uint64_t sum_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

double half_rtt_ns(Side& side, std::size_t bytes) {
  constexpr int count = 10;
  const auto batch = [&] {
    for (int i = 0; i < count; ++i) {
      side.send(bytes);
      (void)side.receive();
    }
  };
  (void)ambench::median_batch_ns(batch, ambench::warm_up_ns);
  return ambench::median_batch_ns(batch) / (2.0 * count);
}

// An empty payload is the last one.
void ask(Side& side, const std::vector<std::size_t>& sizes, double* results) {
  for (const std::size_t bytes : sizes) *results++ = half_rtt_ns(side, bytes);
  side.send(0);
}

void answer(Side& side) {
  while (const std::size_t bytes = side.receive()) side.send(bytes);
}

std::vector<double> half_rtts_ns(ambench::CorePair cores, const std::vector<std::size_t>& sizes) {
  std::vector<double> results(sizes.size());
  const auto first = [&](std::byte* memory, double* place) {
    Side side(mailboxes_in(memory)[0], mailboxes_in(memory)[1]);
    ask(side, sizes, place);
  };
  const auto second = [](std::byte* memory) {
    Side side(mailboxes_in(memory)[1], mailboxes_in(memory)[0]);
    answer(side);
  };
  ambench::run_pair(cores, mailboxes_bytes, results, first, second);
  return results;
}

void print_figures(const std::vector<std::string>& arguments) {
  if (arguments.size() < 3) throw std::runtime_error("takes two processors, and sizes");
  std::vector<std::size_t> sizes;
  for (std::size_t i = 2; i < arguments.size(); ++i) sizes.push_back(std::stoul(arguments[i]));
  const std::vector<double> results = half_rtts_ns({std::stoi(arguments[0]), std::stoi(arguments[1])}, sizes);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    std::printf("figure %zu/ucx_am_half_rtt_ns %.6g\n", sizes[i], results[i]);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    print_figures({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ucx_peer: %s\n", error.what());
    return 1;
  }
}
