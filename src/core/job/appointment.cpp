#include "core/job/appointment.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <am/error.hpp>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>

#include "core/settings/setting_value.hpp"
#include "host/board.hpp"
#include "host/descriptor.hpp"
#include "host/own_descriptor.hpp"

namespace am::core {

namespace {

constexpr const char* example = "for example AM_JOB=address=a.cluster:7000,rank=1,size=4,key=/run/job/key";
constexpr const char* how_to_make_one = "make one: (umask 077; head -c 32 /dev/urandom > FILE)";
constexpr std::size_t least_key_bytes = 16;
constexpr std::size_t most_key_bytes = 4096;

std::optional<std::uint32_t> number(std::string_view text, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value > most)
    return std::nullopt;
  return value;
}

Error bad_key(const std::string& file, const std::string& why, const char* remedy) {
  return {"join the job", "the key file " + in_quotes(file) + " " + why, remedy};
}

}  // namespace

Appointment parse_appointment(std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    return Error("settings", "AM_JOB=" + in_quotes(text) + ": " + why, example);
  };
  std::map<std::string_view, std::string_view> parts;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    if (equals == std::string_view::npos ||
        (name != "address" && name != "rank" && name != "size" && name != "key" && name != "key_readers"))
      throw refuse(in_quotes(part) + " is none of address=, rank=, size= and key=, nor key_readers=");
    if (!parts.emplace(name, part.substr(equals + 1)).second)
      throw refuse("it says twice what " + std::string(name) + " is");
  }
  for (const char* name : {"address", "rank", "size", "key"}) {
    if (parts[name].empty()) throw refuse("it does not say what " + std::string(name) + " is");
  }
  Appointment told;
  const std::string_view address = parts["address"];
  const std::size_t colon = address.rfind(':');
  std::string_view host = address.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const std::uint32_t port =
      colon == std::string_view::npos ? 0 : number(address.substr(colon + 1), 65535).value_or(0);
  if (host.empty() || host.find_first_of("[]") != std::string_view::npos || port == 0 ||
      bracketed != (host.find(':') != std::string_view::npos))
    throw refuse(in_quotes(address) +
                 " is no address: HOST:PORT, or [IPv6]:PORT, with a port that all nodes know");
  const auto size = number(parts["size"], host::max_nodes);
  if (!size || *size == 0) throw refuse("size is from 1 to " + std::to_string(host::max_nodes));
  const auto rank = number(parts["rank"], *size - 1);
  if (!rank) throw refuse("rank is from 0 to " + std::to_string(*size - 1) + ", below size");
  const std::string_view readers = parts["key_readers"];
  if (!readers.empty() && readers != "any")
    throw refuse("key_readers is any, where others may read the key file as well, or it is left out");
  return {.host = std::string(host),
          .port = static_cast<std::uint16_t>(port),
          .rank = *rank,
          .size = *size,
          .key_file = std::string(parts["key"]),
          .key_readers = readers.empty() ? KeyReaders::own : KeyReaders::any};
}

std::vector<std::byte> read_key(const std::string& file, KeyReaders readers) {
  const host::Descriptor open_file(
      host::own_descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)));
  struct stat about {};
  if (!open_file || fstat(open_file.get(), &about) != 0)
    throw bad_key(file, std::string("cannot be read: ") + std::strerror(errno), how_to_make_one);
  if (!S_ISREG(about.st_mode)) throw bad_key(file, "is no file", how_to_make_one);
  const bool ours = about.st_uid == geteuid();
  mode_t too_open = about.st_uid == 0 ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO;
  if (readers == KeyReaders::any) too_open = S_IWGRP | S_IWOTH;
  if (!ours && about.st_uid != 0)
    throw bad_key(file, "belongs to another user", "it has to belong to the user who runs the job");
  if ((about.st_mode & too_open) != 0 && readers == KeyReaders::any)
    throw bad_key(file, "may be written by others", "chmod go-w the file, on every host");
  if ((about.st_mode & too_open) != 0)
    throw bad_key(file, "may be read or written by others",
                  "chmod 600 the file, on every host; where nobody else can come to it, as to a secret that "
                  "is mounted in a "
                  "container, say key_readers=any in AM_JOB");
  std::array<std::byte, most_key_bytes + 1> room;
  std::size_t bytes = 0;
  for (ssize_t got = 1; got > 0 && bytes < room.size();
       bytes += static_cast<std::size_t>(std::max<ssize_t>(got, 0)))
    got = read(open_file.get(), room.data() + bytes, room.size() - bytes);
  if (bytes > most_key_bytes)
    throw bad_key(file, "is longer than " + std::to_string(most_key_bytes) + " bytes: is it the right one?",
                  how_to_make_one);
  if (bytes > 0 && room[bytes - 1] == std::byte{'\n'}) --bytes;
  if (bytes < least_key_bytes)
    throw bad_key(file, "is shorter than " + std::to_string(least_key_bytes) + " bytes", how_to_make_one);
  return {room.begin(), room.begin() + static_cast<std::ptrdiff_t>(bytes)};
}

}  // namespace am::core
