#include "emulated_hw/iwarp/programs/messages.hpp"

namespace am::iwarp {

namespace {

Program copy(Processor& cpu, std::size_t from, std::size_t to, std::size_t words) {
  for (std::size_t i = 0; i < words; ++i) {
    const Word word = co_await cpu.load(from + i);
    co_await cpu.store(to + i, word);
  }
}

}  // namespace

Program send_door_to_door(Processor& cpu, const Route& route, Data header, Area user) {
  std::optional<Source> source;
  while (!source) co_await cpu.open(route, source);
  cpu.bind_out(0, source->own);
  co_await cpu.write(0, {header});
  co_await cpu.spooled(co_await cpu.spool_out(source->own, user));
  co_await cpu.close(*source);
}

Program receive_door_to_door(Processor& cpu, CellNumber from, Place place, std::size_t& words) {
  const Channel channel = co_await cpu.accept(from);
  cpu.bind_in(0, channel);
  const Word header = co_await cpu.read(0);
  const unsigned gate = co_await cpu.spool_in(
      {.channel = channel, .address = place(header.data), .limit = cpu.memory().size(), .to_end = true});
  words = (co_await cpu.spooled(gate)).words;
}

Program send_station_to_station(Processor& cpu, const Route& route, Data header, Area user, Area system) {
  co_await copy(cpu, user.address, system.address, user.words);
  co_await send_door_to_door(cpu, route, header, {system.address, user.words});
}

Program receive_station_to_station(Processor& cpu, CellNumber from, Area system, Place place,
                                   std::size_t& words) {
  Data header = 0;
  const Place station = [&](Data it) {
    header = it;
    return system.address;
  };
  co_await receive_door_to_door(cpu, from, station, words);
  co_await copy(cpu, system.address, place(header), words);
}

}  // namespace am::iwarp
