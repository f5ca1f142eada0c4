#include "emulated_hw/iwarp/programs/crossed_streams.hpp"

#include <stdexcept>

namespace am::iwarp {

namespace {

Program sender(Processor& cpu, const kit::Wiring& wiring, unsigned words) {
  const Leg leg{.direction = Direction::x_right, .busses = 1};
  for (unsigned gate = 0; gate < gates; ++gate) {
    std::optional<Source> source;
    co_await cpu.open(along(wiring, cpu.cell(), {&leg, 1}), source);
    cpu.bind_out(gate, source.value().own);
  }
  for (unsigned gate = 0; gate < gates; ++gate) {
    for (Data i = 0; i < words; ++i) co_await cpu.write(gate, {i});
  }
}

Program reader(Processor& cpu, unsigned words, bool extends) {
  for (unsigned gate = 0; gate < gates; ++gate) cpu.bind_in(gate, co_await cpu.accept(0));
  if (extends) co_await cpu.extend(0, 0, cpu.memory().size());
  for (const unsigned gate : {1u, 0u}) {
    for (Data i = 0; i < words; ++i) {
      const Word word = co_await cpu.read(gate);
      if (word != Word{i}) throw std::logic_error("iwarp: another word than was sent");
    }
  }
}

}  // namespace

Cycle crossed_streams(unsigned words, bool extends) {
  Machine machine(grid_wiring(kit::Grid({{2}})));
  machine.cell(0).run([&](Processor& cpu) { return sender(cpu, machine.network().wiring(), words); });
  machine.cell(1).run([&](Processor& cpu) { return reader(cpu, words, extends); });
  machine.run_or_throw([&] { return machine.have_ended(); });
  return machine.now();
}

}  // namespace am::iwarp
