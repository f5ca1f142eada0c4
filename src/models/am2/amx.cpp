// What AMMPI and AMUDP add to AM-II's endpoints: callbacks, statistics, the end by an error. See <am/am2.h>.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <span>
#include <string>

#include "models/am2/calls.hpp"
#include "models/am2/invoke.hpp"
#include "models/broken.hpp"

namespace am::models::am2 {

void State::call_with_callbacks(const am2_endpoint& endpoint, Token& token, void* place,
                                am2_handler_fn_t handler) {
  const Message& message = *token.message;
  const auto category = static_cast<amx_category_t>(category_of(message.head.kind));
  const int is_request = message.is_request() ? 1 : 0;
  if (endpoint.before_handler != nullptr) {
    std::array<unsigned, max_words> halves{};
    std::transform(message.words.begin(), message.words.begin() + message.head.count, halves.begin(),
                   [](am2_word_t word) { return static_cast<unsigned>(word); });
    endpoint.before_handler(category, is_request, message.head.handler, &token, place, message.bytes,
                            message.head.count, halves.data());
  }
  invoke(handler, &token, message, place);
  if (endpoint.after_handler != nullptr) endpoint.after_handler(category, is_request);
}

namespace {

/// What libam sends beside words and data, at most: a line.
constexpr unsigned long overhead = 64;

constexpr amx_stats_t nothing{.RequestsSent = {},
                              .RepliesSent = {},
                              .RequestsReceived = {},
                              .RepliesReceived = {},
                              .ReturnedMessages = 0,
                              .RequestMinLatency = ~0UL,
                              .RequestMaxLatency = 0,
                              .RequestSumLatency = 0,
                              .RequestDataBytesSent = {},
                              .ReplyDataBytesSent = {},
                              .RequestTotalBytesSent = {},
                              .ReplyTotalBytesSent = {},
                              .TotalBytesSent = 0};

template <std::size_t n>
void add(unsigned long (&sum)[n], const unsigned long (&by)[n]) noexcept {
  std::transform(std::begin(sum), std::end(sum), std::begin(by), std::begin(sum), std::plus<>());
}

/// What is not counted at each message.
amx_stats_t with_totals(amx_stats_t stats) noexcept {
  stats.RequestMinLatency = nothing.RequestMinLatency;
  for (std::size_t i = 0; i < amx_NumCategories; ++i) {
    stats.RequestTotalBytesSent[i] = stats.RequestDataBytesSent[i] + overhead * stats.RequestsSent[i];
    stats.ReplyTotalBytesSent[i] = stats.ReplyDataBytesSent[i] + overhead * stats.RepliesSent[i];
    stats.TotalBytesSent += stats.RequestTotalBytesSent[i] + stats.ReplyTotalBytesSent[i];
  }
  return stats;
}

void write_row(std::string& text, const char* what, std::span<const unsigned long> of) {
  char row[160];
  std::snprintf(row, sizeof row, " %-24s %12lu %12lu %12lu %12lu\n", what, of[0], of[1], of[2],
                of[0] + of[1] + of[2]);
  text += row;
}

std::string text_of(const amx_stats_t& stats, bool global) {
  std::string text = global ? "AM-II messages of all nodes:\n" : "AM-II messages of this endpoint:\n";
  char row[160];
  std::snprintf(row, sizeof row, " %-24s %12s %12s %12s %12s\n", "", "short", "medium", "long", "all");
  text += row;
  write_row(text, "requests sent", stats.RequestsSent);
  write_row(text, "replies sent", stats.RepliesSent);
  write_row(text, "requests received", stats.RequestsReceived);
  write_row(text, "replies received", stats.RepliesReceived);
  write_row(text, "bytes of requests", stats.RequestDataBytesSent);
  write_row(text, "bytes of replies", stats.ReplyDataBytesSent);
  std::snprintf(row, sizeof row, " %-24s %12lu\n %-24s %12lu\n", "messages that came back",
                stats.ReturnedMessages, "bytes sent in all", stats.TotalBytesSent);
  text += row;
  return text;
}

}  // namespace
}  // namespace am::models::am2

using namespace am::models::am2;  // NOLINT: the C functions below are its face

extern "C" {

const amx_stats_t AMX_initial_stats = nothing;

int AMX_SetHandlerCallbacks(ep_t endpoint, AMX_preHandlerCallback_t before, AMX_postHandlerCallback_t after) {
  return with_endpoint("AMX_SetHandlerCallbacks", endpoint, [&](State&, am2_endpoint& its) {
    its.before_handler = before;
    its.after_handler = after;
    return AM_OK;
  });
}

int AMX_GetEndpointStatistics(ep_t endpoint, amx_stats_t* stats) {
  return with_endpoint("AMX_GetEndpointStatistics", endpoint,
                       [&](State&, am2_endpoint& its) { return give(stats, with_totals(its.stats)); });
}

int AMX_ResetEndpointStatistics(ep_t endpoint) {
  return with_endpoint("AMX_ResetEndpointStatistics", endpoint, [](State&, am2_endpoint& its) {
    its.stats = {};
    return AM_OK;
  });
}

int AMX_AggregateStatistics(amx_stats_t* sum, const amx_stats_t* stats) {
  if (sum == nullptr || stats == nullptr) return AM_ERR_BAD_ARG;
  add(sum->RequestsSent, stats->RequestsSent);
  add(sum->RepliesSent, stats->RepliesSent);
  add(sum->RequestsReceived, stats->RequestsReceived);
  add(sum->RepliesReceived, stats->RepliesReceived);
  sum->ReturnedMessages += stats->ReturnedMessages;
  sum->RequestMinLatency = std::min(sum->RequestMinLatency, stats->RequestMinLatency);
  sum->RequestMaxLatency = std::max(sum->RequestMaxLatency, stats->RequestMaxLatency);
  sum->RequestSumLatency += stats->RequestSumLatency;
  add(sum->RequestDataBytesSent, stats->RequestDataBytesSent);
  add(sum->ReplyDataBytesSent, stats->ReplyDataBytesSent);
  add(sum->RequestTotalBytesSent, stats->RequestTotalBytesSent);
  add(sum->ReplyTotalBytesSent, stats->ReplyTotalBytesSent);
  sum->TotalBytesSent += stats->TotalBytesSent;
  return AM_OK;
}

const char* AMX_DumpStatistics(void* file, const amx_stats_t* stats, int global) {
  static thread_local std::string text;
  text = stats == nullptr ? std::string() : text_of(*stats, global != 0);
  if (file != nullptr) std::fputs(text.c_str(), static_cast<std::FILE*>(file));
  return text.c_str();
}

int AMX_SetTranslationTag(ep_t endpoint, int index, tag_t tag) {
  return with_entry("AMX_SetTranslationTag", endpoint, index, [&](Translation& entry) {
    entry.tag = tag;
    return AM_OK;
  });
}

void AMX_FatalErr(const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  const std::size_t shown = length < 0 ? 0 : std::min(static_cast<std::size_t>(length), sizeof text - 1);
  const am::Node* const node = am::this_node();
  am::models::broken(node != nullptr ? node->id() : 0, std::string_view(text, shown));
}

}  // extern "C"
