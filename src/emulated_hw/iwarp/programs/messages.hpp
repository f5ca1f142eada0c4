// Message passing by the open pool, station to station and door to door (Borkar et al. 1990, 3.1.1, 6.2).
//
// Station to station, a message is "copied from the user space to system space at the sending cell, transmitted, and then copied from system
// space to user space". Door to door, the receiver's program reads the header before the rest, and says where that is to go. Neither program
// touches a word.
//
// Assumed: the header is one word, whose meaning is the programs'.
#pragma once

#include <functional>

#include "emulated_hw/iwarp/processor.hpp"

namespace am::iwarp {

/// Where a message with that header is to go.
using Place = std::function<std::size_t(Data header)>;

/// Until it has left memory. Waits for a channel.
Program send_door_to_door(Processor& cpu, const Route& route, Data header, Area user);
/// From a cell that sends one: how many words. The rest of the memory behind the place may be written.
Program receive_door_to_door(Processor& cpu, CellNumber from, Place place, std::size_t& words);

/// `system`: a buffer with room for the message.
Program send_station_to_station(Processor& cpu, const Route& route, Data header, Area user, Area system);
Program receive_station_to_station(Processor& cpu, CellNumber from, Area system, Place place,
                                   std::size_t& words);

}  // namespace am::iwarp
