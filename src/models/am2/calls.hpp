// How a C call finds what it is about: the node of its thread, its bundle or endpoint; what it answers where that is none. A call
// never lets an am::Error out: it says it on standard error.
//
// The node's own thread only.
#pragma once

#include <am/error.hpp>

#include <cstdio>
#include <string_view>

#include "models/am2/state.hpp"

namespace am::models::am2 {

/// Null before AM_Init.
inline State* initialised() noexcept { return here; }

/// Returns `status`; with AMX_VerboseErrors it says why.
int refused(int status, const char* call, const char* why) noexcept;

template <class F>
int guarded(const char* call, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    std::string_view text = error.what();
    if (text.starts_with("am: ")) text.remove_prefix(4);
    std::fprintf(stderr, "am: %s: %.*s\n", call, static_cast<int>(text.size()), text.data());
    return AM_ERR_RESOURCE;
  }
}

template <class F>
int with_state(const char* call, F&& f) {
  State* const state = initialised();
  if (state == nullptr) return refused(AM_ERR_NOT_INIT, call, "AM_Init comes first");
  return guarded(call, [&] { return f(*state); });
}

template <class F>
int with_bundle(const char* call, eb_t bundle, F&& f) {
  return with_state(call, [&](State& state) {
    if (bundle == nullptr || bundle->state != &state || !bundle->alive)
      return refused(AM_ERR_BAD_ARG, call, "no bundle of this node");
    return f(*bundle);
  });
}

template <class F>
int with_endpoint(const char* call, ep_t endpoint, F&& f) {
  return with_state(call, [&](State& state) {
    if (endpoint == nullptr || endpoint->state != &state || endpoint->bundle == nullptr)
      return refused(AM_ERR_BAD_ARG, call, "no endpoint of this node");
    return f(state, *endpoint);
  });
}

/// An entry that is in use.
template <class F>
int with_entry(const char* call, ep_t endpoint, int index, F&& f) {
  return with_endpoint(call, endpoint, [&](State&, am2_endpoint& its) {
    if (index < 0 || static_cast<std::size_t>(index) >= its.translations.size())
      return refused(AM_ERR_BAD_ARG, call, "no such index");
    Translation& entry = its.translations[static_cast<std::size_t>(index)];
    if (!entry.used) return refused(AM_ERR_RESOURCE, call, "the index is not in use");
    return f(entry);
  });
}

/// Writes an answer where the caller wants it.
template <class T>
int give(T* where, T value) noexcept {
  if (where == nullptr) return AM_ERR_BAD_ARG;
  *where = value;
  return AM_OK;
}

}  // namespace am::models::am2
