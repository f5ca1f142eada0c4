#include "core/events/handler_names.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

namespace am::core {

namespace {

std::string_view as_published(std::string_view name) noexcept {
  return name.substr(0, sizeof host::HandlerName::text);
}

struct Named {
  std::uint64_t signature;
  std::string_view name;
};

/// Those of `some`, sorted by signature, that are not among `others`, which are too: by name.
std::vector<std::string_view> missing(const std::vector<Named>& some, const std::vector<Named>& others) {
  std::vector<Named> missing;
  std::ranges::set_difference(some, others, std::back_inserter(missing), {}, &Named::signature,
                              &Named::signature);
  std::vector<std::string_view> names;
  names.reserve(missing.size());
  for (const Named& each : missing) names.push_back(each.name);
  std::ranges::sort(names);
  return names;
}

/// "a, b, c and 3 more"; the program's own ones first, for it is they that somebody has changed.
std::string listed(std::vector<std::string_view> names) {
  std::stable_partition(names.begin(), names.end(),
                        [](std::string_view name) { return !name.starts_with("am::"); });
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) (text += i == 0 ? "" : ", ") += names[i];
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

void add(std::string& text, const std::string& part) { (text += text.empty() ? "" : "; ") += part; }

}  // namespace

void publish_handler_names(const HandlerTable& table, const host::Board& board) noexcept {
  for (std::size_t id = 0; id < table.size(); ++id) {
    host::HandlerName& name = board.handler_name(id);
    std::ranges::copy(as_published(table.name(id)), name.text);
    name.signature = table.signature(id);
  }
}

std::string_view handler_name(const host::Board& board, std::size_t handler) noexcept {
  if (handler >= host::max_handlers) return {};
  const host::HandlerName& name = board.handler_name(handler);
  return {name.text, strnlen(name.text, sizeof name.text)};
}

std::string difference_of_handlers(const HandlerTable& own, NodeId self, const host::Board& board) {
  std::vector<Named> ours;
  for (std::size_t id = 0; id < own.size(); ++id)
    ours.push_back({own.signature(id), as_published(own.name(id))});
  std::vector<Named> theirs;
  const std::size_t count = std::min<std::size_t>(board.card(0).handlers, host::max_handlers);
  for (std::size_t id = 0; id < count; ++id)
    theirs.push_back({board.handler_name(id).signature, handler_name(board, id)});
  std::ranges::sort(ours, {}, &Named::signature);
  std::ranges::sort(theirs, {}, &Named::signature);

  const std::vector<std::string_view> only_ours = missing(ours, theirs);
  const std::vector<std::string_view> only_theirs = missing(theirs, ours);
  std::vector<std::string_view> changed;  // the same name, another signature
  std::ranges::set_intersection(only_ours, only_theirs, std::back_inserter(changed));
  const auto without_changed = [&](const std::vector<std::string_view>& names) {
    std::vector<std::string_view> rest;
    std::ranges::set_difference(names, changed, std::back_inserter(rest));
    return rest;
  };
  std::string text;
  if (const auto rest = without_changed(only_ours); !rest.empty())
    add(text, "only node " + std::to_string(self) + " has " + listed(rest));
  if (const auto rest = without_changed(only_theirs); !rest.empty())
    add(text, "only node 0 has " + listed(rest));
  if (!changed.empty())
    add(text, listed(changed) + (changed.size() == 1 ? " takes" : " take") + " other arguments");
  return text;
}

std::string shared_names(const HandlerTable& own) {
  std::vector<std::string_view> names;
  for (std::size_t id = 0; id < own.size(); ++id)
    if (own.shares_its_name(id)) names.push_back(own.name(id));
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.empty()) return {};
  return listed(names) + (names.size() == 1 ? " names" : " name") +
         " several handlers, which lie elsewhere in another build or library";
}

}  // namespace am::core
