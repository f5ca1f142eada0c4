#include "core/job/pmix_client.hpp"

#include <am/error.hpp>

#if !__has_include(<pmix.h>)

namespace am::core {

struct PmixClient::Functions {};

namespace {
Error built_without() {
  return Error("join the job through PMIx", "this libam was built without PMIx",
               "apt-get install libpmix-dev and build libam again, or start the program with amrun");
}
}  // namespace

PmixClient::PmixClient() { throw built_without(); }
PmixClient::~PmixClient() = default;
std::optional<std::uint32_t> PmixClient::job_number(const char*) const { throw built_without(); }
std::optional<std::string> PmixClient::own_text(const char*) const { throw built_without(); }
std::vector<std::vector<NodeId>> PmixClient::hosts() const { throw built_without(); }
bool PmixClient::fences_take_parts() const noexcept { return true; }
void PmixClient::put(const std::string&, const std::string&) { throw built_without(); }
bool PmixClient::meet(const std::vector<NodeId>&, const host::Wait&) const { throw built_without(); }
std::optional<std::string> PmixClient::ask(NodeId, const std::string&, const host::Wait&) const {
  throw built_without();
}
void PmixClient::publish(const char*, const std::string&) { throw built_without(); }
std::optional<std::string> PmixClient::text_of(NodeId, const char*, int) const { throw built_without(); }
void PmixClient::finalize() noexcept {}

}  // namespace am::core

#else

#include <pmix.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <sstream>
#include <string_view>

#include "core/node/signals_blocked.hpp"
#include "host/late_library.hpp"
#include "host/own_descriptor.hpp"

namespace am::core {

/// The library's functions, with the types that its header gives them.
struct PmixClient::Functions {
  decltype(&PMIx_Init) init;
  decltype(&PMIx_Finalize) finalize;
  decltype(&PMIx_Put) put;
  decltype(&PMIx_Commit) commit;
  decltype(&PMIx_Get) get;
  decltype(&PMIx_Get_nb) get_nb;
  decltype(&PMIx_Register_event_handler) register_event_handler;
  decltype(&PMIx_Fence_nb) fence_nb;
  decltype(&PMIx_Resolve_nodes) resolve_nodes;
  decltype(&PMIx_Resolve_peers) resolve_peers;
  decltype(&PMIx_Error_string) error_string;
};

namespace {

static_assert(std::string_view(pmix_key::job_size) == PMIX_JOB_SIZE);
static_assert(std::string_view(pmix_key::local_size) == PMIX_LOCAL_SIZE);
static_assert(std::string_view(pmix_key::server_uri) == PMIX_SERVER_URI);

/// The server knows about its job or it does not: it answers at once. Only the first process of a rank has
/// the answers from the start, one that comes after it has to ask.
constexpr int job_facts_s = 10;

/// The launcher has ended before us, killed perhaps: a node does not stay behind, as under amrun. Called by
/// PMIx's thread, not when we finalize.
void launcher_lost(std::size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, std::size_t, pmix_info_t*,
                   std::size_t, pmix_event_notification_cbfunc_fn_t, void*) {
  constexpr std::string_view line = "am: this node ends because its launcher has ended\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  kill(getpid(), SIGKILL);
}

pmix_proc_t process(const std::string& name_space, pmix_rank_t rank) {
  pmix_proc_t process{};
  name_space.copy(process.nspace, sizeof process.nspace - 1);
  process.rank = rank;
  return process;
}

struct Freed {
  void operator()(void* memory) const noexcept {
    std::free(memory);
  }  // NOLINT(*-no-malloc): PMIx has it by malloc
};

/// A value that PMIx allocated: of the types asked for here only texts and bytes own more.
struct ValueDeleter {
  void operator()(pmix_value_t* value) const noexcept {
    if (value->type == PMIX_STRING) Freed{}(value->data.string);
    if (value->type == PMIX_BYTE_OBJECT) Freed{}(value->data.bo.bytes);
    Freed{}(value);
  }
};
using Value = std::unique_ptr<pmix_value_t, ValueDeleter>;

std::optional<std::string> text(const Value& value) {
  if (!value || value->type != PMIX_STRING || value->data.string == nullptr) return std::nullopt;
  return value->data.string;
}

}  // namespace

/// A question to the server or to what it has left in this process.
struct PmixClient::Question {
  const PmixClient& client;
  pmix_proc_t about;
  const char* key;

  /// What this process has been told when it came.
  [[nodiscard]] Value known() const {
    pmix_info_t option{};
    std::strcpy(option.key, PMIX_OPTIONAL);
    option.value.type = PMIX_BOOL;
    option.value.data.flag = true;
    return ask(option).second;
  }

  [[nodiscard]] std::pair<pmix_status_t, Value> within(int timeout_s) const {
    pmix_info_t option{};
    std::strcpy(option.key, PMIX_TIMEOUT);
    option.value.type = PMIX_INT;
    option.value.data.integer = timeout_s;
    return ask(option);
  }

 private:
  [[nodiscard]] std::pair<pmix_status_t, Value> ask(const pmix_info_t& option) const {
    pmix_value_t* value = nullptr;
    const pmix_status_t status = client.functions_->get(&about, key, &option, 1, &value);
    return {status, Value(status == PMIX_SUCCESS ? value : nullptr)};
  }
};

PmixClient::PmixClient() {
  const SignalsBlocked blocked;
  const host::StandardPlaces standard;  // the library keeps what it opens
  const host::LateLibrary library(
      "libpmix.so.2",
      {.what = through_pmix,
       .when_missing = "apt-get install libpmix2 on every host, or start the program with amrun",
       .when_too_old = "install libpmix2 4 or newer"});
  auto functions = std::make_unique<Functions>();
  library.find("PMIx_Init", functions->init);
  library.find("PMIx_Finalize", functions->finalize);
  library.find("PMIx_Put", functions->put);
  library.find("PMIx_Commit", functions->commit);
  library.find("PMIx_Get", functions->get);
  library.find("PMIx_Get_nb", functions->get_nb);
  library.find("PMIx_Register_event_handler", functions->register_event_handler);
  library.find("PMIx_Fence_nb", functions->fence_nb);
  library.find("PMIx_Resolve_nodes", functions->resolve_nodes);
  library.find("PMIx_Resolve_peers", functions->resolve_peers);
  library.find("PMIx_Error_string", functions->error_string);

  pmix_proc_t self{};
  if (const pmix_status_t status = functions->init(&self, nullptr, 0); status != PMIX_SUCCESS) {
    throw Error(
        through_pmix,
        std::string("the launcher's PMIx server cannot be reached: ") + functions->error_string(status),
        "start the program with mpirun itself; one that a node of a job starts must not inherit "
        "PMIX_NAMESPACE");
  }
  // Both names that versions of PMIx have for it. Where a server supports no events there is no such watch.
  std::array<pmix_status_t, 2> lost = {PMIX_ERR_LOST_CONNECTION, -101};
  (void)functions->register_event_handler(lost.data(), lost.size(), nullptr, 0, launcher_lost, nullptr,
                                          nullptr);
  functions_ = std::move(functions);
  initialized_by_ = getpid();
  name_space_ = self.nspace;
  rank_ = self.rank;
}

PmixClient::~PmixClient() { finalize(); }

std::optional<std::uint32_t> PmixClient::job_number(const char* key) const {
  const Value value =
      Question{*this, process(name_space_, PMIX_RANK_WILDCARD), key}.within(job_facts_s).second;
  if (!value || value->type != PMIX_UINT32) return std::nullopt;
  return value->data.uint32;
}

std::optional<std::string> PmixClient::own_text(const char* key) const {
  return text(Question{*this, process(name_space_, rank_), key}.known());
}

void PmixClient::publish(const char* key, const std::string& value_text) {
  std::string copy = value_text;
  pmix_value_t value{};
  value.type = PMIX_STRING;
  value.data.string = copy.data();  // put copies it
  pmix_status_t status = functions_->put(PMIX_LOCAL, key, &value);
  if (status == PMIX_SUCCESS) status = functions_->commit();
  if (status != PMIX_SUCCESS) {
    throw Error(through_pmix,
                std::string("cannot publish to the other nodes: ") + functions_->error_string(status),
                "see what the launcher printed");
  }
}

std::optional<std::string> PmixClient::text_of(NodeId rank, const char* key, int timeout_s) const {
  const auto [status, value] = Question{*this, process(name_space_, rank), key}.within(timeout_s);
  if (status == PMIX_ERR_TIMEOUT || status == PMIX_ERR_NOT_FOUND) return std::nullopt;
  if (status != PMIX_SUCCESS) {
    throw Error(
        through_pmix,
        "node " + std::to_string(rank) + " has published nothing: " + functions_->error_string(status),
        "see what node " + std::to_string(rank) + " and the launcher printed");
  }
  return text(value).value_or("");
}

namespace {

/// Of something that PMIx does meanwhile, on a thread of its own; it may last longer than whoever waits for it.
struct Completion {
  std::mutex mutex;
  std::condition_variable came;
  std::optional<pmix_status_t> status;
  std::string bytes;  // of a value

  // What is asked for: PMIx looks at it later.
  std::string key;
  pmix_proc_t about{};
  pmix_info_t option{};

  using Shared = std::shared_ptr<Completion>;
  /// For a callback's pointer; one that is never called back loses it.
  static void* hand_over(const Shared& completion) { return new Shared(completion); }
  static void take_back(void* handed_over) noexcept { delete static_cast<Shared*>(handed_over); }

  static void done(pmix_status_t status, void* handed_over) noexcept {
    const std::unique_ptr<Shared> own(static_cast<Shared*>(handed_over));
    (*own)->complete(status, {});
  }
  static void got(pmix_status_t status, pmix_value_t* value, void* handed_over) noexcept {
    const std::unique_ptr<Shared> own(static_cast<Shared*>(handed_over));
    const bool has_bytes = status == PMIX_SUCCESS && value != nullptr && value->type == PMIX_BYTE_OBJECT;
    if (status == PMIX_SUCCESS && !has_bytes) status = PMIX_ERR_NOT_FOUND;
    (*own)->complete(status,
                     has_bytes ? std::string(value->data.bo.bytes, value->data.bo.size) : std::string());
  }
  void complete(pmix_status_t how, std::string what_came) {
    const std::lock_guard lock(mutex);
    status = how;
    bytes = std::move(what_came);
    came.notify_all();
  }
  /// Nothing when it is not done by then.
  [[nodiscard]] std::optional<pmix_status_t> until(const host::Wait& waiting) {
    std::unique_lock lock(mutex);
    while (!status && !waiting.is_over()) {
      constexpr int tick_ms = 1000;
      came.wait_for(lock, std::chrono::milliseconds(waiting.left_ms(tick_ms)));
    }
    return status;
  }
};

Error cannot(const std::string& done, const char* why) {
  return {through_pmix, "cannot " + done + ": " + why, "see what the launcher printed"};
}

}  // namespace

std::vector<std::vector<NodeId>> PmixClient::hosts() const {
  char* list = nullptr;
  const pmix_status_t status = functions_->resolve_nodes(name_space_.c_str(), &list);
  const std::unique_ptr<char, Freed> names(list);
  if (status != PMIX_SUCCESS || !names)
    throw cannot("learn the hosts of the job", functions_->error_string(status));
  std::vector<std::vector<NodeId>> hosts;
  std::string name;
  for (std::istringstream all{names.get()}; std::getline(all, name, ',');) {
    pmix_proc_t* processes = nullptr;
    std::size_t count = 0;
    const pmix_status_t found =
        functions_->resolve_peers(name.c_str(), name_space_.c_str(), &processes, &count);
    const std::unique_ptr<pmix_proc_t, Freed> owned(processes);
    if (found != PMIX_SUCCESS) throw cannot("learn the nodes on " + name, functions_->error_string(found));
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < count; ++i) nodes.push_back(owned.get()[i].rank);
    std::ranges::sort(nodes);
    if (!nodes.empty()) hosts.push_back(std::move(nodes));
  }
  std::ranges::sort(hosts);
  return hosts;
}

bool PmixClient::fences_take_parts() const noexcept { return !name_space_.starts_with("slurm.pmix."); }

void PmixClient::put(const std::string& key, const std::string& text_put) {
  std::string copy = text_put;
  pmix_value_t value{};
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo = {copy.data(), copy.size()};  // put copies it
  pmix_status_t status = functions_->put(PMIX_GLOBAL, key.c_str(), &value);
  if (status == PMIX_SUCCESS) status = functions_->commit();
  if (status != PMIX_SUCCESS) throw cannot("tell the other hosts", functions_->error_string(status));
}

bool PmixClient::meet(const std::vector<NodeId>& nodes, const host::Wait& waiting) const {
  std::vector<pmix_proc_t> processes;
  processes.reserve(nodes.size());
  for (const NodeId node : nodes) processes.push_back(process(name_space_, node));
  pmix_info_t collect{};
  std::strcpy(collect.key, PMIX_COLLECT_DATA);
  collect.value.type = PMIX_BOOL;
  collect.value.data.flag = true;
  const auto completion = std::make_shared<Completion>();
  void* const theirs = Completion::hand_over(completion);
  pmix_status_t status =
      functions_->fence_nb(processes.data(), processes.size(), &collect, 1, Completion::done, theirs);
  if (status == PMIX_SUCCESS) {
    const std::optional<pmix_status_t> came = completion->until(waiting);
    if (!came) return false;
    status = *came;
  } else {
    Completion::take_back(theirs);
    if (status == PMIX_OPERATION_SUCCEEDED) status = PMIX_SUCCESS;  // without a callback
  }
  if (status != PMIX_SUCCESS) throw cannot("meet the other hosts", functions_->error_string(status));
  return true;
}

/// A server that does not know it yet may say so in many ways, or not answer for long, and not at all for a host that has ended.
std::optional<std::string> PmixClient::ask(NodeId node, const std::string& key,
                                           const host::Wait& waiting) const {
  constexpr timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
  for (; !waiting.is_over(); nanosleep(&pause, nullptr)) {
    const auto completion = std::make_shared<Completion>();
    completion->key = key;
    completion->about = process(name_space_, node);
    pmix_info_t& again = completion->option;  // not what was found the last time
    std::strcpy(again.key, "pmix.get.refresh");
    again.value.type = PMIX_BOOL;
    again.value.data.flag = true;
    const std::size_t options = fences_take_parts() ? 0 : 1;
    void* const theirs = Completion::hand_over(completion);
    if (functions_->get_nb(&completion->about, completion->key.c_str(), &again, options, Completion::got,
                           theirs) != PMIX_SUCCESS) {
      Completion::take_back(theirs);
      continue;
    }
    if (completion->until(waiting) == PMIX_SUCCESS) return std::move(completion->bytes);
  }
  return std::nullopt;
}

void PmixClient::finalize() noexcept {
  if (initialized_by_ == getpid()) functions_->finalize(nullptr, 0);
  initialized_by_ = 0;
}

}  // namespace am::core

#endif
