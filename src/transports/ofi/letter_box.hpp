// Where letters come in: buffers that libfabric fills. Letters stay there until what is in them was released; a few that stay
// long do not hold the buffers of others: when all are in use, what is left in the oldest is copied out of it.
//
// Where the provider can (FI_MULTI_RECV), a buffer takes letters until it is full, so a few buffers do for all peers: an idle peer
// costs no memory. Else each letter has a buffer of its own.
//
// What net (libfabric 1.17; tcp later) wants besides:
//   - When it has used up all buffers it leaves a letter of each connection where it is; and whenever it is given one it goes on with
//     one of these connections, no more. So whenever that may have been it is given as many as there are peers, or a letter would lie
//     there until others send more. A buffer is told of as used up when its last letter is whole: each connection may hide one.
//
// net and ofi_rxm say that they are done with a buffer (FI_MULTI_RECV) with the letter that has the last place in it. Letters of other
// peers before it may still be coming, for as long as a cable is out: given to libfabric again such a buffer would be written by
// two letters at once, and the late one lost (ends_buffers_early, in providers.hpp). So:
//   - libfabric gets another buffer in its place at once, and this one again only when all that began in it has come.
//   - When a connection ends in the middle of a letter, nobody learns how long that would have been, nor whether libfabric still has the
//     rest of the buffer. So the buffer is kept and not used again.
//
// Used by whoever is in the node.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "transports/frames/arrivals.hpp"
#include "transports/ofi/endpoint.hpp"

namespace am::ofi {

class LetterBox {
 public:
  /// Throws am::Error.
  LetterBox(Endpoint& endpoint, std::size_t letter_room);

  /// A letter, and the block in which it lies.
  struct Came {
    std::span<const std::byte> text;
    frames::Block block;
  };
  /// Of a receive that is done, whatever came of it: no text when nothing did.
  [[nodiscard]] Came came(const Endpoint::Done& done);
  /// Gives libfabric the buffers that are free. `arrivals` is what lies in them; `told_all`: it has told of all that is done; so
  /// many `peers` may send.
  void provide(frames::Arrivals& arrivals, bool told_all, std::size_t peers);
  /// The provider would not take one now: provide() is to be called again, though nothing may come.
  [[nodiscard]] bool is_refused() const noexcept { return refused_; }
  /// Why libfabric takes no buffer, where it has none: nothing will come any more. 0: it has some, or will take one.
  [[nodiscard]] int failure() const noexcept { return provided_ == 0 ? failure_ : 0; }

 private:
  struct Buffer : Operation {
    frames::Block block;
    Registration registration;
    bool is_provided = false;  // libfabric may begin letters there
    bool is_settling = false;  // it does not any more, but some may still be coming
    std::size_t came = 0;      // bytes, since it was provided
    std::size_t reached = 0;   // where the last of the letters ends that have come
    std::size_t end = 0;       // where the last one ends that began there, once it is settling
  };
  struct Sizes {
    std::size_t bytes;   // of a buffer
    std::size_t usual;   // so many libfabric is to have
    std::size_t others;  // and so many there may be besides, where letters stay
  };
  [[nodiscard]] static Sizes sizes_for(const Endpoint& endpoint, bool is_net, std::size_t letter_room);
  Buffer& add();
  bool provide(Buffer& buffer) noexcept;
  void provide_free_ones(frames::Arrivals& arrivals);
  void ended(Buffer& buffer, const Endpoint::Done& done);
  void ended_early(Buffer& buffer, const Endpoint::Done& done);
  void settle(Buffer& buffer, std::size_t end);
  void retire(Buffer& buffer);
  void is_back(Buffer& buffer);

  Endpoint& endpoint_;
  const bool many_;  // letters to a buffer
  const bool is_net_;
  const bool ends_early_;  // ends_buffers_early
  const Sizes sizes_;
  std::size_t wanted_;                            // buffers that libfabric is to have: the usual, or more
  std::size_t owed_ = 0;                          // so many are to be given in any case
  std::vector<std::unique_ptr<Buffer>> retired_;  // not used again
  std::vector<std::unique_ptr<Buffer>> buffers_;  // the oldest first, of those that it does not have
  std::size_t provided_ = 0;
  std::size_t settling_ = 0;  // of buffers_
  bool refused_ = false;
  int failure_ = 0;
  /// The provider writes into the buffers until then: also when a constructor fails behind them.
  struct Closing {
    Endpoint& endpoint;
    ~Closing() { endpoint.close(); }
  };
  const Closing closing_{endpoint_};  // the last one
};

}  // namespace am::ofi
