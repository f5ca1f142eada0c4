#include "core/events/handler_table.hpp"

#include <algorithm>
#include <am/error.hpp>
#include <am/impl/object_identity.hpp>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>

#include "host/hash.hpp"
#include "host/layout.hpp"

namespace am {

namespace impl {
namespace {
constinit HandlerEntry* enrolled =
    nullptr;  // written by static initialisers and destructors only, which run one after another
constinit std::atomic<bool> numbered =
    false;  // set once; relaxed: a static initialiser of this thread, or of dlopen
}  // namespace

Enrolment::Enrolment(HandlerEntry& entry) noexcept : entry_(entry) {
  if (numbered.load(std::memory_order_relaxed)) {
    std::fprintf(stderr,
                 "am: handler %.*s comes too late: a job has started, and its nodes have agreed on their "
                 "handlers (load "
                 "the library that holds it before am::start; if the program has this handler, too, link it "
                 "with -rdynamic)\n",
                 static_cast<int>(core::function_name(entry.name).size()),
                 core::function_name(entry.name).data());
    std::abort();
  }
  entry.next = enrolled;
  enrolled = &entry;
}

// The last that came goes first: the search ends at once.
Enrolment::~Enrolment() {
  HandlerEntry** place = &enrolled;
  while (*place != nullptr && *place != &entry_) place = &(*place)->next;
  if (*place != nullptr) *place = entry_.next;
}
}  // namespace impl

namespace core {

const HandlerTable& HandlerTable::of_this_program() {
  static const auto* const table = new HandlerTable;  // never destroyed: a node may be the last to end
  return *table;
}

namespace {

struct Numbered {
  impl::HandlerEntry* entry;
  impl::PlaceInObject place;  // of those that share their name
};

std::vector<Numbered> in_order() {
  std::vector<Numbered> handlers;
  for (impl::HandlerEntry* entry = impl::enrolled; entry != nullptr; entry = entry->next)
    handlers.push_back({entry, {}});
  const auto name = [](const Numbered& each) { return each.entry->name; };
  std::ranges::sort(handlers, {}, name);
  for (auto first = handlers.begin(); first != handlers.end();) {
    const auto last =
        std::ranges::find_if(first, handlers.end(), [&](auto& each) { return name(each) != name(*first); });
    if (last - first > 1) {
      for (auto each = first; each != last; ++each) each->place = impl::place_of(each->entry);
      std::ranges::sort(first, last, {}, &Numbered::place);
    }
    first = last;
  }
  return handlers;
}

std::uint64_t hash_on(std::uint64_t so_far, const impl::PlaceInObject& place) noexcept {
  const std::uint64_t numbers[] = {place.identity, place.offset};
  return host::hash_on(host::hash_on(so_far, {reinterpret_cast<const char*>(numbers), sizeof numbers}),
                       place.file);
}

}  // namespace

HandlerTable::HandlerTable() {
  impl::numbered.store(true, std::memory_order_relaxed);
  const std::vector<Numbered> handlers = in_order();
  if (handlers.size() > host::max_handlers) {
    throw Error("number the handlers",
                "the program has " + std::to_string(handlers.size()) + " of them, the table room for " +
                    std::to_string(host::max_handlers),
                "let several messages share a handler");
  }
  std::uint64_t hash = host::hash_of_nothing;
  for (const auto& [entry, place] : handlers) {
    entry->id = static_cast<impl::HandlerId>(rows_.size());
    rows_.push_back({entry->run, entry->priority, entry->internal});
    names_.push_back(entry->name);
    hash = host::hash_on(host::hash_on(hash, entry->name), "\xff");
    if (place.identity != 0) hash = hash_on(hash, place);
  }
  fingerprint_ = hash;
}

std::string_view function_name(std::string_view text) noexcept {
  // "... [with auto H = <name>; F = <type>; ...]"
  constexpr std::string_view before = "H = ";
  if (const auto at = text.find(before); at != std::string_view::npos) text.remove_prefix(at + before.size());
  if (const auto end = text.find(';'); end != std::string_view::npos) text = text.substr(0, end);
  if (text.starts_with('&')) text.remove_prefix(1);  // of a member function
  return text;
}

std::uint64_t HandlerTable::signature(std::size_t id) const noexcept { return host::hash_of(names_[id]); }

bool HandlerTable::shares_its_name(std::size_t id) const noexcept {
  const auto has_it = [&](std::size_t other) { return other < names_.size() && names_[other] == names_[id]; };
  return has_it(id - 1) || has_it(id + 1);  // they stand side by side
}

std::string_view HandlerTable::name(std::size_t id) const noexcept {
  return id < names_.size() ? function_name(names_[id]) : "?";
}

}  // namespace core
}  // namespace am
