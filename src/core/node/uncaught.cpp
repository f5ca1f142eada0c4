#include "core/node/uncaught.hpp"

#include <cxxabi.h>
#include <unistd.h>
#include <am/error.hpp>
#include <am/impl/current_node.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

#include "core/events/handler_table.hpp"
#include "core/node/engine.hpp"
#include "core/node/signals_blocked.hpp"
#include "core/reports/job_watch.hpp"
#include "core/reports/once.hpp"
#include "core/reports/text_out.hpp"

namespace am::core {

namespace {

constexpr NodeId nobody = ~NodeId{0};
std::atomic<NodeId> process_node = nobody;
/// Of this thread's exception that left an event last, or was thrown again last.
thread_local Origin last_origin;

/// A line for each error, whatever its text: not too long to be written in one piece.
void put_on_one_line(TextOut& out, std::string_view text) {
  constexpr std::size_t most = 2500;
  for (const char c : text.substr(0, most)) {
    const char printed = c == '\n' || c == '\r' ? ' ' : c;
    out << std::string_view(&printed, 1);
  }
  if (text.size() > most) out << "...";
}

/// Without "at node 1" where the line begins with that node: so what fails alike on several nodes has one text.
std::string text_without_place(const Error& error, NodeId told) {
  std::string text = error.what();
  const std::string place = " at node " + std::to_string(told) + ": ";
  const std::size_t at = text.find(place);
  if (error.where() == "node " + std::to_string(told) && at != std::string::npos)
    text.replace(at, place.size(), ": ");
  return text.starts_with("am: ") ? text.substr(4) : text;
}

void put_type(TextOut& out) {
  const std::type_info* type = abi::__cxa_current_exception_type();
  const char* name = type != nullptr ? type->name() : "?";
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(name, nullptr, nullptr, &failed), &std::free);
  out << (failed == 0 ? readable.get() : name);
}

void put_event(TextOut& out, const RecordedEvent& event) {
  if (event.kind == RecordedEvent::Kind::none) return;
  out << "; it came out of ";
  describe_event(out, event, HandlerTable::of_this_program().name(event.handler));
}

/// The exception that is being handled, and those that it says were its cause.
void put_exception(TextOut& out, const Origin& origin) {
  const auto put_origin = [&] {
    if (std::current_exception() == origin.exception) put_event(out, origin.event);
  };
  const auto put_cause = [&](const auto& error) {
    put_origin();
    try {
      std::rethrow_if_nested(error);
    } catch (...) {
      out << "; because of: ";
      put_exception(out, origin);
    }
  };
  try {
    throw;
  } catch (const Error& error) {
    put_on_one_line(out, text_without_place(error, origin.node));
    put_cause(error);
  } catch (const std::exception& error) {
    out << "nobody catches a ";
    put_type(out);
    out << ": ";
    put_on_one_line(out, error.what());
    put_cause(error);
  } catch (...) {
    out << "nobody catches a ";
    put_type(out);
    put_origin();
  }
}

Node* node_of_this_thread() noexcept {
  Node* const node = impl::current_node();
  return node != nullptr ? node : impl::events_of_this_thread;
}

/// Whether it is `other`, or says that this was its cause.
bool comes_of(const std::exception_ptr& exception, const std::exception_ptr& other) {
  if (exception == other || !exception) return static_cast<bool>(exception);
  try {
    std::rethrow_exception(exception);
  } catch (const std::nested_exception& outer) {
    return comes_of(outer.nested_ptr(), other);
  } catch (...) {
    return false;
  }
}

/// Where the exception, or its cause, came from; if it is neither out of an event nor thrown again, nothing was unwound, and
/// this thread is still there.
Origin origin_of(const std::exception_ptr& exception, Node* node) {
  const SignalsBlocked no_interrupt;  // it might throw
  if (comes_of(exception, last_origin.exception)) return last_origin;
  if (node == nullptr) return {exception, process_node.load(std::memory_order_relaxed), {}};
  return {exception, node->id(), running_event(node->engine().onlooker(), node->id())};
}

std::string text_of_exception(const std::exception_ptr& exception, const Origin& origin) {
  return text_of([&](TextOut& out) {
    try {
      std::rethrow_exception(exception);
    } catch (...) {
      put_exception(out, origin);
    }
  });
}

bool is_ours(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error&) {
    return true;
  } catch (...) {
    return false;
  }
}

[[noreturn]] void end_as_without_us() {
#ifdef __GLIBCXX__
  __gnu_cxx::__verbose_terminate_handler();
#endif
  std::abort();
}

[[noreturn]] void end_with(const std::exception_ptr& exception) {
  Node* const node = node_of_this_thread();
  const Origin origin = origin_of(exception, node);
  if (origin.node == nobody && !is_ours(exception)) end_as_without_us();
  const std::string text = text_of_exception(exception, origin);
  if (node != nullptr) let_one_end_the_job(node->engine().board(), node->id(), text);
  TextOut out(&write_to_stderr);
  out << "am: ";
  if (origin.node != nobody) out << "node " << origin.node << ": ";
  out << text << "\n";
  out.flush();
  std::_Exit(1);
}

[[noreturn]] void on_terminate() {
  static std::atomic<bool> told = false;
  static thread_local bool telling = false;
  const std::exception_ptr exception = std::current_exception();
  if (!exception || telling) end_as_without_us();
  while (told.exchange(true, std::memory_order_relaxed)) pause();  // another thread ends the process
  telling = true;
  end_with(exception);
}

}  // namespace

void tell_of_the_uncaught() noexcept {
#ifdef __GLIBCXX__
  // Else the program has one of its own.
  if (std::get_terminate() == &__gnu_cxx::__verbose_terminate_handler) std::set_terminate(&on_terminate);
#endif
}

void this_process_is(NodeId node) noexcept { process_node.store(node, std::memory_order_relaxed); }

void came_out_of(NodeId node, const RecordedEvent& event) noexcept {
  const std::exception_ptr exception = std::current_exception();
  if (last_origin.exception != exception) last_origin = {exception, node, event};
}

Origin origin_of_current(NodeId node) noexcept {
  const std::exception_ptr exception = std::current_exception();
  return last_origin.exception == exception ? last_origin : Origin{exception, node, {}};
}

std::string text_of_exception(const Origin& origin) { return text_of_exception(origin.exception, origin); }

void throw_again(Origin origin) {
  last_origin = std::move(origin);
  std::rethrow_exception(last_origin.exception);
}

}  // namespace am::core
