#include "emulated_hw/t1/hardware_handlers.hpp"

#include <algorithm>
#include <span>

namespace am::t1 {

namespace {

/// Scalars of a fetch and of its answer.
struct Fetch {
  static constexpr unsigned node = 0, handler = 1, address = 2, words = 3, tag = 4;
  static constexpr unsigned scalars = 5;
};
struct Store {
  static constexpr unsigned address = 0;
  static constexpr unsigned data = 1;
};
struct Forward {
  static constexpr unsigned data = 2;  // behind node and handler, as in a fetch
};

Word words_of_store(const Message& message) noexcept {
  return message.scalars - Store::data + message.vector;
}

/// Header and priority of what a request has the interface send.
Message answer_to(const Message& request) noexcept {
  Message answer;
  answer.destination = request.scalar[Fetch::node];
  answer.handler = request.scalar[Fetch::handler];
  answer.priority = Priority::high;
  answer.kernel = request.kernel;
  return answer;
}

Message forwarded(const Message& request) noexcept {
  Message message = answer_to(request);
  message.scalars = static_cast<std::uint8_t>(request.scalars - Forward::data);
  message.vector = request.vector;
  std::copy_n(request.scalar.begin() + Forward::data, message.scalars, message.scalar.begin());
  message.vector_words = request.vector_words;
  return message;
}

}  // namespace

HardwareHandlers::HardwareHandlers(NetworkInterface& ni, Memory& memory, NodeNumber nodes) noexcept
    : ni_(ni), memory_(memory), nodes_(nodes) {
  ni_.add_hardware_handlers();
}

// -- under the clock --------------------------------------------------------------------------------------------------

void HardwareHandlers::step() {
  bool memory_is_free = true;
  for (const Priority priority : {Priority::high, Priority::low}) step(priority, memory_is_free);
}

/// Answers wait for their place before memory is read: so they are of one instant, and nothing needs to be kept.
void HardwareHandlers::step(Priority priority, bool& memory_is_free) {
  const Message* message = ni_.for_hardware(priority);
  Work& work = work_[index(priority)];
  if (message == nullptr) {  // or no longer: Active Messages have been disabled
    work = {};
    return;
  }
  if (!work.has_begun) work = {.has_begun = true, .decoding = costs::hardware_decode};
  if (work.decoding != 0) {
    if (--work.decoding == 0) decode(*message, work);
    return;
  }
  if (work.answering != 0 && !ni_.accepts_answer()) {
    ++counts_.waited;
    return;
  }
  if (work.accessing != 0) {
    if (!memory_is_free) return;
    memory_is_free = false;
    ++counts_.memory;
    --work.accessing;
  } else {
    --work.answering;
  }
  if (work.accessing != 0 || work.answering != 0) return;
  handle(*message);
  ni_.handled(priority);
  work = {};
}

void HardwareHandlers::decode(const Message& message, Work& work) {
  if (const std::string_view why = why_refused(message); !why.empty()) {
    ++counts_.refused;
    ni_.refuse(message.priority, why);
    work = {};
    return;
  }
  if (message.handler == hardware::fetch) work.accessing = memory_cycles(message.scalar[Fetch::words]);
  if (message.handler == hardware::store) work.accessing = memory_cycles(words_of_store(message));
  if (message.handler != hardware::store) work.answering = costs::hardware_answer;
}

// -- what is refused --------------------------------------------------------------------------------------------------

std::string_view HardwareHandlers::why_refused(const Message& message) const {
  switch (message.handler) {
    case hardware::fetch:
      if (message.scalars != Fetch::scalars || message.vector != 0)
        return "a fetch has 5 scalar words and no vector";
      if (const Word words = message.scalar[Fetch::words]; words == 0 || words > most_vector)
        return "a fetch is of 1 to 32 words";
      if (const std::string_view why = why_no_answer(message); !why.empty()) return why;
      return why_no_access(message, message.scalar[Fetch::address], message.scalar[Fetch::words]);
    case hardware::store:
      if (message.scalars < Store::data || words_of_store(message) == 0)
        return "a store has an address, and words behind it";
      return why_no_access(message, message.scalar[Store::address], words_of_store(message));
    case hardware::forward:
      if (message.scalars < Forward::data) return "what is to be forwarded has a node and a handler";
      return why_no_answer(message);
    default:
      return "the hardware has no such handler";
  }
}

std::string_view HardwareHandlers::why_no_answer(const Message& message) const {
  if (message.priority == Priority::high) return "it would wait to send, and has high priority";
  if (message.scalar[Fetch::node] >= nodes_) return "it names a node outside the network";
  if (message.scalar[Fetch::handler] % bytes_per_word != 0)
    return "it names a handler that is not at the address of a word";
  return {};
}

std::string_view HardwareHandlers::why_no_access(const Message& message, Address address, Word words) const {
  if (!message.kernel && address >= NetworkInterface::kernel_space) return "the memory is the kernel's";
  if (address % bytes_per_word != 0) return "the memory is not at the address of a word";
  if (memory_.block(address, words).empty()) return "the node has no such memory";
  return {};
}

// -- what they do -----------------------------------------------------------------------------------------------------

void HardwareHandlers::handle(const Message& message) {
  switch (message.handler) {
    case hardware::fetch:
      ++counts_.fetched;
      return ni_.answer(fetched(message));
    case hardware::store:
      ++counts_.stored;
      return store(message);
    default:
      ++counts_.forwarded;
      return ni_.answer(forwarded(message));
  }
}

Message HardwareHandlers::fetched(const Message& request) const {
  const std::span<const Word> words =
      memory_.block(request.scalar[Fetch::address], request.scalar[Fetch::words]);
  Message answer = answer_to(request);
  answer.scalar[0] = request.scalar[Fetch::tag];
  answer.scalars = 1;
  if (words.size() == 1) {
    answer.scalar[answer.scalars++] = words.front();
  } else {
    std::ranges::copy(words, answer.vector_words.begin());
    answer.vector = static_cast<std::uint8_t>(words.size());
  }
  return answer;
}

void HardwareHandlers::store(const Message& message) {
  const std::span<Word> words = memory_.block(message.scalar[Store::address], words_of_store(message));
  const auto behind_scalars =
      std::copy_n(message.scalar.begin() + Store::data, message.scalars - Store::data, words.begin());
  std::copy_n(message.vector_words.begin(), message.vector, behind_scalars);
}

}  // namespace am::t1
