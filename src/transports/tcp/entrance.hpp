// Connections that have not proved the job's key yet: those that others open, and those that this node opens. What comes out of
// here is proven, and from there on speaks TLS where the job wants that; nobody has looked at a byte behind the proof before.
//
// Who is not of the job gets one attempt for each connection, a time limit, and a place among a bounded number: when all are
// taken, the oldest gives way once it has had its chance; the others wait with the system. So garbage, half a handshake and slow
// senders cost a descriptor each for a while, and are counted. What this node opened and the other host took waits as long as
// that host answers: the node may compute. So does who has proved the key, while TLS takes its time on a slow line.
//
// Used by whoever is in the node.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transports/tcp/stream.hpp"
#include "transports/trust/handshake.hpp"

namespace am::tcp {

class Entrance {
 public:
  static constexpr std::size_t most_strangers = 64;
  static constexpr std::uint64_t time_limit_ns = 5'000'000'000;
  static constexpr std::uint64_t chance_ns = 100'000'000;

  struct Failure {
    std::string why{};           ///< for people; empty: there is none
    bool for_good = false;       ///< trying again would not help
    bool nobody = false;         ///< nobody takes connections there
    bool silent = false;         ///< the other host does not answer
    bool unanswered = false;     ///< nor does anything say that it cannot
    bool no_descriptor = false;  ///< this process has none left
  };
  /// How a connection left: proven, or not.
  struct Result {
    NodeId peer;  ///< when not proven: of one that this node opened
    bool ours;    ///< this node opened it
    Stream stream{};
    Failure failure{};
  };

  /// Who is to be told of a descriptor's events: `add` hears of each new one, with the number by which move() knows it. The system
  /// forgets closed ones by itself.
  class Events {
   public:
    Events() = default;
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;
    virtual ~Events() = default;
    virtual bool add(const Socket& socket, std::uint64_t number) noexcept = 0;
  };

  /// All that is named outlives this. Throws am::Error where TLS is wanted, and there is none.
  Entrance(const trust::Crypto& crypto, const trust::Key& key, const trust::Party& party,
           std::vector<Socket> listening, Events& events, std::size_t places = most_strangers)
      : crypto_(crypto),
        key_(key),
        party_(party),
        listening_(std::move(listening)),
        events_(events),
        places_(places) {
    if (party_.tls) trust::Tls::require_library();
  }

  [[nodiscard]] std::span<const Socket> listening() const noexcept { return listening_; }

  /// Opens a connection; the other host has so long to take it. A failure is a result like any other.
  void call(NodeId to, const Address& address, std::uint64_t limit_ns);
  /// Gives up what was opened to that node, if it is still under way.
  void hang_up(NodeId to) noexcept;
  /// Takes in those who have come; false when some have to wait: for a place, or for a descriptor (lacks_descriptor).
  [[nodiscard]] bool accept();
  [[nodiscard]] bool lacks_descriptor() const noexcept { return lacks_descriptor_; }
  /// Something may have happened to that one. Numbers of those that are gone are none's.
  void move(std::uint64_t number);
  /// Ends those that take too long. `now`: of the monotonic clock.
  void look_at_clock(std::uint64_t now);

  [[nodiscard]] bool empty() const noexcept { return guests_.empty(); }
  /// Connections that others opened and that proved nothing, so far.
  [[nodiscard]] std::uint64_t turned_away() const noexcept { return turned_away_; }
  /// What has left since the last call.
  [[nodiscard]] std::vector<Result> take_results() noexcept { return std::exchange(results_, {}); }

 private:
  struct Guest {
    std::uint64_t number;
    Socket socket;
    trust::Handshake handshake;
    std::unique_ptr<trust::Tls> tls;  // once the key is proven, where it is wanted
    std::uint64_t began_ns;
    std::uint64_t limit_ns;
    bool ours;
    bool connected;  // the connection is there
  };
  using Guests = std::vector<std::unique_ptr<Guest>>;

  [[nodiscard]] bool accept_at(const Socket& listening);
  [[nodiscard]] bool has_place();
  void admit(Socket socket, trust::Handshake handshake, bool ours, std::uint64_t limit_ns);
  void turn_away(Guests::iterator guest, Failure failure);
  // Each goes on with one part of it, until that is done or has to wait.
  [[nodiscard]] Failure step(Guest& guest);
  [[nodiscard]] static Failure prove(Guest& guest);
  [[nodiscard]] static Failure secure(Guest& guest);
  [[nodiscard]] bool is_through(const Guest& guest) const noexcept;
  [[nodiscard]] static bool is_proven(const Guest& guest) noexcept;
  [[nodiscard]] static Failure failure_of_system(int error);

  const trust::Crypto& crypto_;
  const trust::Key& key_;
  const trust::Party party_;
  std::vector<Socket> listening_;
  Events& events_;
  const std::size_t places_;
  Guests guests_;  // the oldest first
  std::vector<Result> results_;
  std::uint64_t last_number_ = 0;
  std::uint64_t turned_away_ = 0;
  bool lacks_descriptor_ = false;  // the last time
};

}  // namespace am::tcp
