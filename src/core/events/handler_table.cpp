#include "core/events/handler_table.hpp"

#include <algorithm>
#include <am/error.hpp>
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
    nullptr;  // written by static initialisers only, which run one after another
constinit std::atomic<bool> numbered =
    false;  // set once; relaxed: a static initialiser of this thread, or of dlopen
}  // namespace

HandlerEntry* enrol(HandlerEntry* entry) noexcept {
  if (numbered.load(std::memory_order_relaxed)) {
    std::fprintf(stderr,
                 "am: handler %.*s comes too late: a job has started, and its nodes have agreed on their "
                 "handlers (load "
                 "the library that holds it before am::start; if the program has this handler, too, link it "
                 "with -rdynamic)\n",
                 static_cast<int>(core::function_name(entry->name).size()),
                 core::function_name(entry->name).data());
    std::abort();
  }
  entry->next = enrolled;
  enrolled = entry;
  return entry;
}
}  // namespace impl

namespace core {

const HandlerTable& HandlerTable::of_this_program() {
  static const auto* const table = new HandlerTable;  // never destroyed: a node may be the last to end
  return *table;
}

namespace {}  // namespace

HandlerTable::HandlerTable() {
  impl::numbered.store(true, std::memory_order_relaxed);
  std::vector<impl::HandlerEntry*> entries;
  for (impl::HandlerEntry* entry = impl::enrolled; entry != nullptr; entry = entry->next)
    entries.push_back(entry);
  if (entries.size() > host::max_handlers) {
    throw Error("number the handlers",
                "the program has " + std::to_string(entries.size()) + " of them, the table room for " +
                    std::to_string(host::max_handlers),
                "let several messages share a handler");
  }
  // Handlers of the same name (in unnamed namespaces of two files) keep the order of the static initialisers, which is
  // the same in every process of one program.
  std::ranges::stable_sort(entries, {}, &impl::HandlerEntry::name);
  std::uint64_t hash = host::hash_of_nothing;
  for (impl::HandlerEntry* entry : entries) {
    entry->id = static_cast<impl::HandlerId>(rows_.size());
    rows_.push_back({entry->run, entry->priority, entry->internal});
    names_.push_back(entry->name);
    hash = host::hash_on(host::hash_on(hash, entry->name), "\xff");
  }
  fingerprint_ = hash;
}

std::string_view function_name(std::string_view text) noexcept {
  // "... [with auto H = <name>; F = <type>; ...]"
  constexpr std::string_view before = "H = ";
  if (const auto at = text.find(before); at != std::string_view::npos) text.remove_prefix(at + before.size());
  if (const auto end = text.find(';'); end != std::string_view::npos) text = text.substr(0, end);
  return text;
}

std::uint64_t HandlerTable::signature(std::size_t id) const noexcept { return host::hash_of(names_[id]); }

std::string_view HandlerTable::name(std::size_t id) const noexcept {
  return id < names_.size() ? function_name(names_[id]) : "?";
}

}  // namespace core
}  // namespace am
