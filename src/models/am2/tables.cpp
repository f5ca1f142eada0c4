// Bundles, endpoints and their tables, by the calls of <am/am2.h>.
#include <am/error.hpp>
#include <am/start.hpp>

#include <algorithm>
#include <cstdio>

#include "models/am2/calls.hpp"

int AMX_VerboseErrors = 0;

namespace am::models::am2 {

#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]  // here, too, or it is forgotten
#endif
thread_local constinit State* here = nullptr;

int refused(int status, const char* call, const char* why) noexcept {
  if (AMX_VerboseErrors != 0) std::fprintf(stderr, "am: %s: %s\n", call, why);
  return status;
}

am2_bundle* State::new_bundle() {
  bundles.push_back(std::make_unique<am2_bundle>(am2_bundle{.state = this}));
  return bundles.back().get();
}

am2_endpoint* State::find_known(std::uint32_t port) noexcept {
  const auto found = known_.find(port);
  return found == known_.end() ? nullptr : found->second;
}

am2_endpoint* State::new_endpoint(am2_bundle& bundle, std::uint32_t id) {
  endpoints_.push_back(std::make_unique<am2_endpoint>(*this, id));
  am2_endpoint* const endpoint = endpoints_.back().get();
  endpoint->bundle = &bundle;
  endpoint->handlers.resize(handlers_per_endpoint);
  endpoint->translations.resize(fewest_translations);
  bundle.endpoints.push_back(endpoint);
  if (id < first_endpoint) {
    known_.emplace(id, endpoint);
  } else {
    by_id_.push_back(endpoint);
  }
  return endpoint;
}

void State::free_endpoint(am2_endpoint& endpoint) {
  if (endpoint.id < first_endpoint) {
    known_.erase(endpoint.id);
  } else {
    by_id_[endpoint.id - first_endpoint] = nullptr;
  }
  std::erase(endpoint.bundle->endpoints, &endpoint);
  endpoint.bundle = nullptr;
  waiting_ -= endpoint.batch.size() - endpoint.next + endpoint.inbox.size();
  for (std::size_t i = endpoint.next; i < endpoint.batch.size(); ++i) arrived(endpoint.batch[i]);
  for (Message& message : endpoint.inbox) arrived(message);
  endpoint.batch = std::vector<Message>();
  endpoint.inbox = std::vector<Message>();
  endpoint.next = 0;
  endpoint.handlers = {};
  endpoint.translations = {};
  return_strays();
}

void State::free_bundle(am2_bundle& bundle) {
  while (!bundle.endpoints.empty()) free_endpoint(*bundle.endpoints.back());
  bundle.alive = false;
}

void State::free_all() {
  for (const auto& bundle : bundles) {
    if (bundle->alive) free_bundle(*bundle);
  }
}

namespace {

am2_endpoint* allocate(am2_bundle& bundle, en_t* name, std::uint32_t id) {
  State& state = *bundle.state;
  am2_endpoint* const endpoint = state.new_endpoint(bundle, id);
  if (name != nullptr) *name = {state.node.id(), id};
  return endpoint;
}

Translation* translation_in(am2_endpoint& endpoint, int index) noexcept {
  if (index < 0 || static_cast<std::size_t>(index) >= endpoint.translations.size()) return nullptr;
  return &endpoint.translations[static_cast<std::size_t>(index)];
}

void map(State& state, am2_endpoint& endpoint, Translation& translation, en_t name, tag_t tag) noexcept {
  const std::uint32_t serial = state.new_serial();
  const auto index = static_cast<std::uint32_t>(&translation - endpoint.translations.data());
  const bool goes_out = name.node < state.node.size() && name.node != state.node.id();
  translation = {.line = goes_out ? Line::way(name.endpoint, endpoint.id, index, serial) : Line{},
                 .name = name,
                 .tag = tag,
                 .serial = serial,
                 .used = true};
}

/// Those of a handler that change what is being run.
constexpr const char* in_a_handler = "not from a handler";

}  // namespace
}  // namespace am::models::am2

using namespace am::models::am2;  // NOLINT: the C functions below are its face

extern "C" {

int AM_Init() {
  return guarded("AM_Init", [] {
    am::Node* node = am::this_node();
    if (node == nullptr)
      node = &am::start(0, nullptr, {.interrupt_safe = true});  // its handlers run in polls
    State& state = node->own<State>();
    if (state.inits++ == 0) node->poll_only();
    here = &state;
    return AM_OK;
  });
}

int AM_Terminate() {
  return with_state("AM_Terminate", [](State& state) {
    if (state.running != nullptr) return refused(AM_ERR_RESOURCE, "AM_Terminate", in_a_handler);
    if (state.inits == 1) {
      state.free_all();
      while (state.node.poll() != 0) {  // answers that are there: nobody else takes them
      }
      here = nullptr;
    }
    --state.inits;
    return AM_OK;
  });
}

int AM_AllocateBundle(int type, eb_t* bundle) {
  return with_state("AM_AllocateBundle", [&](State& state) {
    if (bundle == nullptr || (type != AM_SEQ && type != AM_PAR))
      return refused(AM_ERR_BAD_ARG, "AM_AllocateBundle", "no place for the bundle, or an unknown type");
    if (type == AM_PAR)
      return refused(AM_ERR_RESOURCE, "AM_AllocateBundle",
                     "AM_PAR: a node belongs to one thread; use AM_SEQ");
    *bundle = state.new_bundle();
    return AM_OK;
  });
}

int AM_AllocateEndpoint(eb_t bundle, ep_t* endpoint, en_t* name) {
  return with_bundle("AM_AllocateEndpoint", bundle, [&](am2_bundle& its) {
    if (endpoint == nullptr)
      return refused(AM_ERR_BAD_ARG, "AM_AllocateEndpoint", "no place for the endpoint");
    *endpoint = allocate(its, name, its.state->new_id());
    return AM_OK;
  });
}

int AM_AllocateKnownEndpoint(eb_t bundle, ep_t* endpoint, en_t* name, int port) {
  return with_bundle("AM_AllocateKnownEndpoint", bundle, [&](am2_bundle& its) {
    if (endpoint == nullptr || port < 0 || port > 0xffff)
      return refused(AM_ERR_BAD_ARG, "AM_AllocateKnownEndpoint", "a port is a number from 0 to 65535");
    if (its.state->find(static_cast<std::uint32_t>(port)) != nullptr)
      return refused(AM_ERR_IN_USE, "AM_AllocateKnownEndpoint", "this node has that port already");
    *endpoint = allocate(its, name, static_cast<std::uint32_t>(port));
    return AM_OK;
  });
}

en_t am2_known_name(int node, int port) { return {static_cast<unsigned>(node), static_cast<unsigned>(port)}; }

int AM_FreeEndpoint(ep_t endpoint) {
  return with_endpoint("AM_FreeEndpoint", endpoint, [](State& state, am2_endpoint& its) {
    if (state.running != nullptr) return refused(AM_ERR_RESOURCE, "AM_FreeEndpoint", in_a_handler);
    state.free_endpoint(its);
    return AM_OK;
  });
}

int AM_FreeBundle(eb_t bundle) {
  return with_bundle("AM_FreeBundle", bundle, [](am2_bundle& its) {
    if (its.state->running != nullptr) return refused(AM_ERR_RESOURCE, "AM_FreeBundle", in_a_handler);
    its.state->free_bundle(its);
    return AM_OK;
  });
}

int AM_MoveEndpoint(ep_t endpoint, eb_t from, eb_t to) {
  return with_endpoint("AM_MoveEndpoint", endpoint, [&](State& state, am2_endpoint& its) {
    if (state.running != nullptr) return refused(AM_ERR_RESOURCE, "AM_MoveEndpoint", in_a_handler);
    if (from == nullptr || its.bundle != from)
      return refused(AM_ERR_BAD_ARG, "AM_MoveEndpoint", "it is not in that bundle");
    return with_bundle("AM_MoveEndpoint", to, [&](am2_bundle& there) {
      std::erase(from->endpoints, &its);
      there.endpoints.push_back(&its);
      its.bundle = &there;
      return AM_OK;
    });
  });
}

int AM_SetTag(ep_t endpoint, tag_t tag) {
  return with_endpoint("AM_SetTag", endpoint, [&](State&, am2_endpoint& its) {
    its.tag = tag;
    return AM_OK;
  });
}

int AM_GetTag(ep_t endpoint, tag_t* tag) {
  return with_endpoint("AM_GetTag", endpoint, [&](State&, am2_endpoint& its) { return give(tag, its.tag); });
}

int AM_SetSeg(ep_t endpoint, void* address, unsigned long nbytes) {
  return with_endpoint("AM_SetSeg", endpoint, [&](State&, am2_endpoint& its) {
    unsigned long most = 0;
    AM_MaxSegLength(&most);
    if ((address == nullptr && nbytes != 0) || nbytes > most)
      return refused(AM_ERR_BAD_ARG, "AM_SetSeg", "no memory, or more than AM_MaxSegLength");
    its.segment = address;
    its.segment_bytes = nbytes;
    return AM_OK;
  });
}

int AM_GetSeg(ep_t endpoint, void** address, unsigned long* nbytes) {
  return with_endpoint("AM_GetSeg", endpoint, [&](State&, am2_endpoint& its) {
    if (address == nullptr || nbytes == nullptr) return give<int>(nullptr, 0);
    *address = its.segment;
    *nbytes = its.segment_bytes;
    return AM_OK;
  });
}

int AM_MaxSegLength(unsigned long* nbytes) { return give(nbytes, ~0ul >> 1); }

int AM_SetExpectedResources(ep_t endpoint, int endpoints, int outstanding) {
  return with_endpoint("AM_SetExpectedResources", endpoint, [&](State&, am2_endpoint& its) {
    if (endpoints < 0 || outstanding <= 0)
      return refused(AM_ERR_BAD_ARG, "AM_SetExpectedResources", "fewer than one outstanding message");
    its.window = std::min(static_cast<std::uint32_t>(outstanding), largest_window);
    return AM_OK;
  });
}

int AM_Map(ep_t endpoint, int index, en_t name, tag_t tag) {
  return with_endpoint("AM_Map", endpoint, [&](State& state, am2_endpoint& its) {
    Translation* const translation = translation_in(its, index);
    if (translation == nullptr) return refused(AM_ERR_BAD_ARG, "AM_Map", "no such index");
    if (translation->used) return refused(AM_ERR_RESOURCE, "AM_Map", "the index is in use");
    map(state, its, *translation, name, tag);
    return AM_OK;
  });
}

int AM_MapAny(ep_t endpoint, int* index, en_t name, tag_t tag) {
  return with_endpoint("AM_MapAny", endpoint, [&](State& state, am2_endpoint& its) {
    if (index == nullptr) return give<int>(nullptr, 0);
    const auto free = std::find_if(its.translations.begin(), its.translations.end(),
                                   [](const Translation& t) { return !t.used; });
    if (free == its.translations.end())
      return refused(AM_ERR_RESOURCE, "AM_MapAny", "the translation table is full (AM_SetNumTranslations)");
    map(state, its, *free, name, tag);
    *index = static_cast<int>(free - its.translations.begin());
    return AM_OK;
  });
}

int AM_UnMap(ep_t endpoint, int index) {
  return with_endpoint("AM_UnMap", endpoint, [&](State&, am2_endpoint& its) {
    Translation* const translation = translation_in(its, index);
    if (translation == nullptr) return refused(AM_ERR_BAD_ARG, "AM_UnMap", "no such index");
    if (!translation->used) return refused(AM_ERR_RESOURCE, "AM_UnMap", "the index is not in use");
    *translation = {};
    return AM_OK;
  });
}

int AM_GetTranslationName(ep_t endpoint, int index, en_t* name) {
  return with_entry("AM_GetTranslationName", endpoint, index,
                    [&](const Translation& entry) { return give(name, entry.name); });
}

int AM_GetTranslationTag(ep_t endpoint, int index, tag_t* tag) {
  return with_entry("AM_GetTranslationTag", endpoint, index,
                    [&](const Translation& entry) { return give(tag, entry.tag); });
}

int AM_GetTranslationInuse(ep_t endpoint, int index) {
  return with_entry("AM_GetTranslationInuse", endpoint, index, [](const Translation&) { return AM_OK; });
}

int AM_MaxNumTranslations(int* count) { return give(count, most_translations); }

int AM_GetNumTranslations(ep_t endpoint, int* count) {
  return with_endpoint("AM_GetNumTranslations", endpoint, [&](State&, am2_endpoint& its) {
    return give(count, static_cast<int>(its.translations.size()));
  });
}

int AM_SetNumTranslations(ep_t endpoint, int count) {
  return with_endpoint("AM_SetNumTranslations", endpoint, [&](State&, am2_endpoint& its) {
    if (count < 0) return refused(AM_ERR_BAD_ARG, "AM_SetNumTranslations", "a negative number");
    if (count > most_translations)
      return refused(AM_ERR_RESOURCE, "AM_SetNumTranslations", "more than AM_MaxNumTranslations");
    const auto n = static_cast<std::size_t>(std::max(count, fewest_translations));
    const auto used = [](const Translation& t) { return t.used; };
    if (n < its.translations.size() &&
        std::any_of(its.translations.begin() + static_cast<std::ptrdiff_t>(n), its.translations.end(), used))
      return refused(AM_ERR_RESOURCE, "AM_SetNumTranslations", "an entry beyond that is in use");
    its.translations.resize(n);
    return AM_OK;
  });
}

int AM_SetHandler(ep_t endpoint, handler_t handler, am2_handler_fn_t function) {
  return with_endpoint("AM_SetHandler", endpoint, [&](State&, am2_endpoint& its) {
    if (handler < 0 || handler >= handlers_per_endpoint || (function == nullptr && handler != 0))
      return refused(AM_ERR_BAD_ARG, "AM_SetHandler", "an index outside of 0 .. 255, or no function");
    its.handlers[static_cast<std::size_t>(handler)] = function;
    return AM_OK;
  });
}

int AM_SetHandlerAny(ep_t endpoint, handler_t* handler, am2_handler_fn_t function) {
  return with_endpoint("AM_SetHandlerAny", endpoint, [&](State&, am2_endpoint& its) {
    if (handler == nullptr || function == nullptr)
      return refused(AM_ERR_BAD_ARG, "AM_SetHandlerAny", "no function");
    const auto free = std::find(its.handlers.begin() + 1, its.handlers.end(), nullptr);
    if (free == its.handlers.end())
      return refused(AM_ERR_RESOURCE, "AM_SetHandlerAny", "the handler table is full");
    *free = function;
    *handler = static_cast<handler_t>(free - its.handlers.begin());
    return AM_OK;
  });
}

int AM_MaxNumHandlers() { return handlers_per_endpoint; }

int AM_GetNumHandlers(ep_t endpoint, int* count) {
  return with_endpoint("AM_GetNumHandlers", endpoint,
                       [&](State&, am2_endpoint&) { return give(count, handlers_per_endpoint); });
}

int AM_SetNumHandlers(ep_t endpoint, int count) {
  return with_endpoint("AM_SetNumHandlers", endpoint, [&](State&, am2_endpoint&) {
    if (count < 0) return refused(AM_ERR_BAD_ARG, "AM_SetNumHandlers", "a negative number");
    if (count > handlers_per_endpoint)
      return refused(AM_ERR_RESOURCE, "AM_SetNumHandlers", "more than AM_MaxNumHandlers");
    return AM_OK;
  });
}

}  // extern "C"
