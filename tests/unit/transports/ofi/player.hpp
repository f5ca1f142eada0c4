// One end of a network of libfabric whose letters the test writes: a stranger, or a node of the job that is broken.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "host/random_bytes.hpp"
#include "transports/number.hpp"
#include "transports/ofi/card.hpp"
#include "transports/ofi/endpoint.hpp"
#include "transports/ofi/letters.hpp"
#include "unit/transports/ofi/nodes.hpp"

namespace am::ofi {

class Player {
 public:
  Player(const Library& library, const std::string& provider)
      : endpoint_(library, chosen(library, provider)) {
    for (Room& room : rooms_) {
      room.bytes.resize(letter_bytes);
      room.registration = endpoint_.registration(room.bytes, Endpoint::Use::own);
      provide(room);
    }
    out_.resize(std::size_t{1} << 20);
    registration_ = endpoint_.registration(out_, Endpoint::Use::own);
  }
  ~Player() { endpoint_.close(); }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }
  /// Its address is what a card says.
  void write_on(host::NodeCard& card) {
    const std::string text = card_text({provider_of(endpoint_.info()), endpoint_.address()});
    std::memcpy(card.address, text.c_str(), text.size() + 1);
  }
  fi_addr_t knows(const host::NodeCard& card) { return endpoint_.add(read_card(card).value().address); }

  /// Looks; true once what was sent is on its way, and another letter may be.
  bool is_free() {
    look();
    return !sending_;
  }
  /// False: not now. Nothing may be on its way.
  bool send(fi_addr_t to, std::span<const std::byte> letter) {
    std::ranges::copy(letter, out_.begin());
    operation_.kind = Operation::Kind::send;
    sending_ =
        endpoint_.send(std::span(out_).first(letter.size()), registration_.descriptor, to, operation_) == 0;
    return sending_;
  }
  /// The next letter that has come.
  std::optional<std::vector<std::byte>> receive() {
    look();
    if (letters_.empty()) return {};
    std::vector<std::byte> letter = std::move(letters_.front());
    letters_.pop_front();
    return letter;
  }

 private:
  struct Room : Operation {
    std::vector<std::byte> bytes;
    Registration registration;
  };
  static Info chosen(const Library& library, const std::string& provider) {
    Wish wish;
    wish.provider = provider;
    return choose(library, wish);
  }
  void provide(Room& room) {
    while (endpoint_.receive(room.bytes, room.registration.descriptor, false, room) == -FI_EAGAIN) look();
  }
  void look() {
    std::array<Endpoint::Done, 8> all{};
    const std::size_t count = endpoint_.look(all);
    for (const Endpoint::Done& done : std::span(all).first(count)) {
      if (done.operation == &operation_) sending_ = false;
      if (done.operation == nullptr || done.operation == &operation_) continue;
      auto& room = static_cast<Room&>(*done.operation);
      if (done.error == 0)
        letters_.emplace_back(room.bytes.begin(),
                              room.bytes.begin() + static_cast<std::ptrdiff_t>(done.bytes));
      provide(room);
    }
  }

  Endpoint endpoint_;
  std::array<Room, 4> rooms_;
  std::vector<std::byte> out_;
  Registration registration_;
  Operation operation_;
  bool sending_ = false;
  std::deque<std::vector<std::byte>> letters_;
};

inline std::vector<std::byte> letter_of(const LetterHead& head, std::span<const std::byte> text) {
  std::vector<std::byte> letter(letter_head_bytes);
  head.write(letter.data());
  letter.insert(letter.end(), text.begin(), text.end());
  letter.resize((letter.size() + 15) / 16 * 16);
  return letter;
}

}  // namespace am::ofi
