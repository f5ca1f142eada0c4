// What is behind the fake fabric's objects: who there is, what is under way, and what becomes of it.
#pragma once

#include <rdma/fi_eq.h>
#include <sys/eventfd.h>

#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "support/fake_fabric.hpp"

namespace test::fake {

inline constexpr fi_addr_t first_place = 1000;  // so that no place is mistaken for an id

struct Domain;

struct Memory {  // registered
  fid_mr fid{};
  Domain* domain = nullptr;
  std::byte* at = nullptr;
  std::size_t bytes = 0;
  std::uint64_t access = 0;
  std::uint64_t key = 0;
  bool bound = false;
  bool enabled = false;
  std::size_t used = 0;  // operations under way

  [[nodiscard]] bool holds(const std::byte* from, std::size_t length) const {
    return from >= at && length <= bytes && from <= at + (bytes - length);
  }
};

/// Under way.
struct Operation {
  void* context = nullptr;
  std::uint64_t flags = 0;
  std::byte* at = nullptr;
  std::size_t bytes = 0;
  Memory* memory = nullptr;
  std::vector<std::byte> text{};  // of a send: what it was
  std::uint32_t to = 0;           // a read's or a write's other end
  std::uint64_t address = 0;
  std::uint64_t key = 0;
  int error = 0;
  std::size_t filled = 0;  // of a buffer for many
};

struct Completion {
  fi_cq_err_entry entry{};
  bool failed = false;
};

struct Queue {
  fid_cq fid{};
  std::deque<Completion> done;
  int wait_fd = -1;
  struct End* end = nullptr;

  void ring() const {
    if (wait_fd >= 0) eventfd_write(wait_fd, 1);
  }
};

struct Addresses {
  fid_av fid{};
  std::vector<std::uint32_t> ids;
};

struct End {  // an endpoint
  fid_ep fid{};
  std::uint32_t id = 0;
  Domain* domain = nullptr;
  Queue* queue = nullptr;
  Addresses* addresses = nullptr;
  bool enabled = false;
  std::size_t least_free = 64;
  std::deque<Operation> receives;
  std::deque<Operation> accesses;   // reads and writes that are to be carried out
  std::vector<Operation> finished;  // whose completions are to come
};

struct Message {
  std::uint32_t from;
  std::uint32_t to;
  std::vector<std::byte> text;
};

struct Fabric {
  fid_fabric fid{};
};

struct Domain {
  fid_domain fid{};
  FakeProvider provider;
  std::map<std::uint64_t, Memory*> by_key;
  std::size_t parts = 0;  // that are open
};

struct Fuse {  // good ones until one fails
  std::size_t good = ~std::size_t{0};
  int error = 0;
  int next() {
    if (good == ~std::size_t{0}) return 0;
    return good-- == 0 ? error : 0;
  }
};

struct World {
  std::vector<FakeProvider> providers;
  Random random;
  am::ofi::Library library{};
  mutable std::recursive_mutex lock;
  std::vector<std::string> complaints;
  std::size_t objects = 0;
  std::map<std::uint32_t, End*> ends;
  std::uint32_t last_id = 0;
  std::deque<Message> wire;
  bool held = false;
  bool refuses = false;
  int receive_error = 0;
  int queue_error = 0;
  std::set<void*> contexts;  // in flight
  std::size_t good_registrations = ~std::size_t{0};
  std::map<FakeFabric::Step, Fuse> fuses;

  World(std::vector<FakeProvider> all, std::uint64_t seed) : providers(std::move(all)), random(seed) {}
  void complain(std::string what) { complaints.push_back(std::move(what)); }

  // -- operations --
  bool begin(End& end, Operation& operation, void* descriptor, std::uint64_t access);
  void finish(End& end, Operation operation);
  void complete(End& end, const Operation& operation);
  int post(End& end, Operation operation, void* descriptor, fi_addr_t to, bool inject);
  int access(End& end, Operation operation, void* descriptor, fi_addr_t peer);
  void carry_out(End& end, Operation& operation);
  [[nodiscard]] bool is_next(std::size_t place) const;
  bool take(std::size_t place);
  void progress(End& end);
  [[nodiscard]] bool refuse(const End& end) {
    return end.domain->provider.again_one_in != 0 && random.one_in(end.domain->provider.again_one_in);
  }
};

/// The only one, while there is one.
inline World* world = nullptr;

struct Locked {
  std::scoped_lock<std::recursive_mutex> guard{world->lock};
};

/// The functions of libfabric that a network calls (fake_calls.cpp).
[[nodiscard]] am::ofi::Library calls();

}  // namespace test::fake
