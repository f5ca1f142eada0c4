// A handshake whose bytes somebody changes on their way, cuts as he likes, and adds to: neither end may read or write where it
// should not, take more than it wants, or hold the key for proven unless what came is what was sent.
//
// The input is what that somebody does, three bytes for each step: for how many of the next bytes, by what they are changed,
// and whether they are followed by others.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "transports/trust/handshake.hpp"

namespace {

using am::trust::Handshake;
using Bytes = std::vector<std::byte>;

void must(bool holds) {
  if (!holds) std::abort();
}

/// One end, with all that it has said and all that it has taken for the other's words.
struct End {
  Handshake handshake;
  Bytes said;
  Bytes taken;

  void give(std::span<const std::byte> bytes) {
    while (!bytes.empty() && handshake.wanted() != 0) {
      const std::size_t before = handshake.wanted();
      const std::size_t n = std::min(before, bytes.size());
      handshake.take(bytes.first(n));
      must(n == before || handshake.wanted() == before - n || handshake.state() == Handshake::State::refused);
      taken.insert(taken.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
      bytes = bytes.subspan(n);
    }
    handshake.take(bytes);  // what is not wanted changes nothing
  }
};

class Between {
 public:
  explicit Between(std::span<const std::uint8_t> input) : input_(input) {}

  /// Passes on what `from` has to say, as the input has it. False when there was nothing.
  bool pass(End& from, End& to) {
    const std::span<const std::byte> out = from.handshake.to_send();
    const std::size_t begin = from.said.size();
    from.said.insert(from.said.end(), out.begin(), out.end());
    from.handshake.sent(out.size());
    for (std::size_t at = begin; at < from.said.size();) {
      const std::size_t n = std::min<std::size_t>(from.said.size() - at, 1 + next());
      const auto change = static_cast<std::byte>(next());
      Bytes part(n + next() % 4, std::byte{0x5a});
      for (std::size_t i = 0; i < n; ++i) part[i] = from.said[at + i] ^ change;
      at += n;
      to.give(part);
    }
    return begin != from.said.size();
  }

 private:
  std::uint8_t next() { return at_ == input_.size() ? std::uint8_t{0} : input_[at_++]; }

  const std::span<const std::uint8_t> input_;
  std::size_t at_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using State = Handshake::State;
  static const am::trust::Crypto crypto;
  static const am::trust::Key key{std::byte{7}};
  const auto party = [](am::NodeId self) { return am::trust::Party{.self = self, .nodes = 8, .job = {}}; };
  End a{
      .handshake = Handshake::connecting(crypto, key, party(2), 5, {std::byte{1}}), .said = {}, .taken = {}};
  End b{.handshake = Handshake::connected(crypto, key, party(5), {std::byte{2}}), .said = {}, .taken = {}};
  Between between({data, size});
  while (between.pass(a, b) || between.pass(b, a)) {
  }
  // Each is convinced by exactly what was said: b's proof is over a's greeting, as b has heard it.
  const auto unchanged = [](const Bytes& said, const Bytes& taken, std::size_t bytes) {
    return said.size() >= bytes && taken.size() >= bytes &&
           std::equal(said.begin(), said.begin() + static_cast<std::ptrdiff_t>(bytes), taken.begin());
  };
  constexpr std::size_t all = Handshake::greeting_bytes + Handshake::proof_bytes;
  const bool a_convinced =
      unchanged(a.said, b.taken, Handshake::greeting_bytes) && unchanged(b.said, a.taken, all);
  must((a.handshake.state() == State::proven) == a_convinced);
  must((b.handshake.state() == State::proven) == (a_convinced && unchanged(a.said, b.taken, all)));
  must(b.handshake.state() != State::proven || b.handshake.peer() == 2);
  for (const End* end : {&a, &b})
    must((end->handshake.state() == State::refused) ==
         (end->handshake.refusal() != Handshake::Refusal::none));
  return 0;
}
