// AM_JOB: what a process was told about its job where no launcher brings the nodes together. Text and files in, values out.
//
//     AM_JOB=address=HOST:PORT,rank=R,size=N,key=FILE[,key_readers=any]
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace am::core {

/// Who may read the key file: this user, and whom root lets read a file of its own; or, as the user says, anybody who comes to it.
enum class KeyReaders { own, any };

struct Appointment {
  std::string host;  ///< where node 0 takes connections: a name, or an address without brackets
  std::uint16_t port = 0;
  NodeId rank = 0;
  NodeId size = 0;
  std::string key_file;
  KeyReaders key_readers = KeyReaders::own;
};

/// Throws am::Error.
[[nodiscard]] Appointment parse_appointment(std::string_view text);

/// What is in the key file, but for a line's end behind it. Throws am::Error where there is too little to be a secret, and where
/// others may read it: it has to be this user's alone; or root's, who may let the group of this process read it, as orchestrators of
/// containers do. With KeyReaders::any nobody else may write it.
[[nodiscard]] std::vector<std::byte> read_key(const std::string& file, KeyReaders readers = KeyReaders::own);

}  // namespace am::core
