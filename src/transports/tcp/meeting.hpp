// Where the nodes of a job meet that nobody's launcher brings together: each was told an address, at which node 0 takes
// connections; each proves the key that it was given, and brings a text. Node 0 answers each when it sees fit, and may then ask
// on: a text from some, an answer to each.
//
// Who has proved the key is told by one byte (Admission) whether it is let in, so that it tries again if it was turned away in a
// crowd. Nothing that comes is looked at before its sender has proved the key (entrance.hpp). What comes then is believed, but for its
// length; it is encrypted where the job is (AM_TCP_TLS). One asks and the other answers, so nothing comes behind a text before that
// was read. Whoever goes before it was answered may come again, which is what becomes of a container that is
// started anew. All of it waits, with patience, on the thread that starts the node: there is nothing else to be done yet.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <am/error.hpp>

#include "host/descriptor.hpp"
#include "host/patience.hpp"
#include "transports/tcp/entrance.hpp"
#include "transports/tcp/stream.hpp"

namespace am::tcp {

using host::Patience;

/// Texts over a connection, each with its length in front.
class TextSocket {
 public:
  static constexpr std::size_t longest = std::size_t{64} << 20;

  explicit TextSocket(Stream stream) : stream_(std::move(stream)) {}

  [[nodiscard]] const Socket& socket() const noexcept { return stream_.socket(); }
  enum class State : std::uint8_t { underway, whole, ended };
  /// Takes what has come of the next text.
  State read();
  /// The text that is whole; the next one begins behind it.
  [[nodiscard]] std::string take();
  /// False when the other end is gone, or takes nothing for as long as that.
  [[nodiscard]] bool send(const std::string& text, const Patience& patience);

 private:
  Stream stream_;
  std::string in_;  // with its length
};

/// The address where they meet.
struct MeetingPlace {
  std::string host;  ///< a name, or an address without brackets
  std::uint16_t port = 0;

  [[nodiscard]] std::string text() const;
};

/// The handshake's part of it.
struct MeetingProof {
  std::shared_ptr<const trust::Crypto> crypto;
  trust::Key key;
  NodeId nodes;  ///< of the job
  bool tls = false;

  [[nodiscard]] trust::Party party(NodeId self) const noexcept;
};

/// Node 0's side.
class MeetingServer final : private Entrance::Events {
 public:
  /// Others can come from here on. Where the address is none of this host's own (a service, a translated address), or the name is
  /// one that this host gives to its loopback, connections are taken at that port of all its addresses. Throws am::Error.
  MeetingServer(MeetingProof proof, const MeetingPlace& place);

  /// Waits until all have come, and takes no more connections then. Their texts, by node; node 0 has none. `check` looks at each as
  /// it comes, and may throw. Throws am::Error.
  using Check = std::function<void(NodeId node, const std::string& text)>;
  [[nodiscard]] std::vector<std::string> welcome(const Check& check, const Patience& patience);
  /// The next text of each of `nodes`, in their order. Throws am::Error.
  [[nodiscard]] std::vector<std::string> gather(std::span<const NodeId> nodes, const Patience& patience);
  /// Throws am::Error.
  void answer(NodeId node, const std::string& text, const Patience& patience);

 private:
  struct Member {
    TextSocket socket;
    bool whole = false;       // its text waits to be taken
    bool introduced = false;  // its first one has been taken
  };
  using Members = std::map<NodeId, Member>;

  bool add(const Socket& socket, std::uint64_t number) noexcept override;
  void look(int timeout_ms);
  void take_in(Entrance::Result proven);
  void read(NodeId node);
  [[nodiscard]] std::vector<NodeId> missing(std::span<const NodeId> nodes) const;
  [[nodiscard]] std::string take(NodeId node);
  void listen_to(NodeId node, const Socket& socket, int operation) const noexcept;

  const MeetingProof proof_;
  const host::Descriptor events_;
  std::unique_ptr<Entrance> entrance_;
  Members members_;
};

/// The others' side.
class MeetingClient final : private Entrance::Events {
 public:
  /// Tries until node 0 takes the connection. Throws am::Error, at once where trying on would not help.
  MeetingClient(MeetingProof proof, const MeetingPlace& place, NodeId self, const Patience& patience);

  /// Brings a text, and waits for the answer. Throws am::Error.
  [[nodiscard]] std::string ask(const std::string& text, const Patience& patience);
  /// Throws am::Error when node 0 has ended, or the meeting; with a question answered it may last as long as node 0 likes.
  void require_meeting() const;

 private:
  bool add(const Socket& socket, std::uint64_t number) noexcept override;
  [[nodiscard]] std::optional<Entrance::Result> call(Entrance& entrance, const Address& address,
                                                     host::Wait& waiting);
  [[nodiscard]] std::string let_in(Stream& stream, host::Wait& waiting) const;
  [[nodiscard]] Error gone() const;

  const MeetingProof proof_;
  const std::string where_;   // for people
  std::uint64_t number_ = 0;  // of the call under way
  int descriptor_ = -1;
  std::unique_ptr<TextSocket> socket_;
};

}  // namespace am::tcp
