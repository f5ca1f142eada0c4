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
std::optional<std::string> PmixClient::job_text(const char*) const { throw built_without(); }
std::optional<std::string> PmixClient::own_text(const char*) const { throw built_without(); }
void PmixClient::publish(const char*, const std::string&) { throw built_without(); }
std::optional<std::string> PmixClient::text_of(NodeId, const char*, int) const { throw built_without(); }
void PmixClient::finalize() noexcept {}

}  // namespace am::core

#else

#include <pmix.h>
#include <unistd.h>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
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
  decltype(&PMIx_Register_event_handler) register_event_handler;
  decltype(&PMIx_Error_string) error_string;
};

namespace {

static_assert(std::string_view(pmix_key::job_size) == PMIX_JOB_SIZE);
static_assert(std::string_view(pmix_key::local_size) == PMIX_LOCAL_SIZE);
static_assert(std::string_view(pmix_key::node_list) == PMIX_NODE_LIST);
static_assert(std::string_view(pmix_key::server_uri) == PMIX_SERVER_URI);

constexpr const char* what = "join the job through PMIx";
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

/// A value that PMIx allocated: of the types asked for here only a text owns more.
struct ValueDeleter {
  void operator()(pmix_value_t* value) const noexcept {
    if (value->type == PMIX_STRING) std::free(value->data.string);  // NOLINT(*-no-malloc): theirs is malloc's
    std::free(value);                                               // NOLINT(*-no-malloc)
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
      {.what = what,
       .when_missing = "apt-get install libpmix2 on every host, or start the program with amrun",
       .when_too_old = "install libpmix2 4 or newer"});
  auto functions = std::make_unique<Functions>();
  library.find("PMIx_Init", functions->init);
  library.find("PMIx_Finalize", functions->finalize);
  library.find("PMIx_Put", functions->put);
  library.find("PMIx_Commit", functions->commit);
  library.find("PMIx_Get", functions->get);
  library.find("PMIx_Register_event_handler", functions->register_event_handler);
  library.find("PMIx_Error_string", functions->error_string);

  pmix_proc_t self{};
  if (const pmix_status_t status = functions->init(&self, nullptr, 0); status != PMIX_SUCCESS) {
    throw Error(
        what, std::string("the launcher's PMIx server cannot be reached: ") + functions->error_string(status),
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

std::optional<std::string> PmixClient::job_text(const char* key) const {
  return text(Question{*this, process(name_space_, PMIX_RANK_WILDCARD), key}.within(job_facts_s).second);
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
    throw Error(what, std::string("cannot publish to the other nodes: ") + functions_->error_string(status),
                "see what the launcher printed");
  }
}

std::optional<std::string> PmixClient::text_of(NodeId rank, const char* key, int timeout_s) const {
  const auto [status, value] = Question{*this, process(name_space_, rank), key}.within(timeout_s);
  if (status == PMIX_ERR_TIMEOUT || status == PMIX_ERR_NOT_FOUND) return std::nullopt;
  if (status != PMIX_SUCCESS) {
    throw Error(
        what, "node " + std::to_string(rank) + " has published nothing: " + functions_->error_string(status),
        "see what node " + std::to_string(rank) + " and the launcher printed");
  }
  return text(value).value_or("");
}

void PmixClient::finalize() noexcept {
  if (initialized_by_ == getpid()) functions_->finalize(nullptr, 0);
  initialized_by_ = 0;
}

}  // namespace am::core

#endif
