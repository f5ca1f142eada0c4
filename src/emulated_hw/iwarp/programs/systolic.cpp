#include "emulated_hw/iwarp/programs/systolic.hpp"

#include <algorithm>
#include <stdexcept>

namespace am::iwarp {

namespace {

/// A gate that reads the pathway from a neighbour, or so many words of this cell's memory.
Program bind_input(Processor& cpu, unsigned gate, std::optional<CellNumber> from, std::size_t address,
                   std::size_t words) {
  if (from) {
    cpu.bind_in(gate, co_await cpu.accept(*from));
    co_return;
  }
  const Channel own = cpu.agent().take_own().value();
  cpu.bind_in(gate, own);
  co_await cpu.spool_out({.channel = own, .address = address, .limit = address + words, .words = words});
}

/// A gate that writes a pathway to a neighbour.
Program bind_output(Processor& cpu, unsigned gate, const kit::Wiring& wiring, Direction to) {
  std::optional<Source> source;
  const Leg leg{.direction = to, .busses = 1};
  co_await cpu.open(along(wiring, cpu.cell(), {&leg, 1}), source);
  cpu.bind_out(gate, source.value().own);
}

void place(Processor& cpu, std::size_t address, const std::vector<Data>& values) {
  for (const Data value : values) cpu.memory().at(address++) = {value};
}

Program multiply_cell(Processor& cpu, const kit::Wiring& wiring, unsigned n, Data& sum) {
  const CellNumber column = cpu.cell() % n;
  const CellNumber row = cpu.cell() / n;
  unsigned outs = 0;
  if (column + 1 < n) {
    co_await bind_output(cpu, 0, wiring, Direction::x_right);
    outs |= 0b01;
  }
  if (row + 1 < n) {
    co_await bind_output(cpu, 1, wiring, Direction::y_up);
    outs |= 0b10;
  }
  const auto before = [&](CellNumber at, CellNumber step) {
    return at == 0 ? std::nullopt : std::optional(cpu.cell() - step);
  };
  co_await bind_input(cpu, 0, before(column, 1), 0, n);
  co_await bind_input(cpu, 1, before(row, n), n, n);
  for (unsigned k = 0; k < n; ++k) {
    co_await cpu.operate(0b11, outs, [&sum](const Words& in) {
      sum += in[0].data * in[1].data;
      return in;
    });
  }
}

}  // namespace

Product multiply(unsigned n, const std::vector<Data>& a, const std::vector<Data>& b,
                 std::span<const std::vector<CellNumber>> orders) {
  if (n == 0 || a.size() != std::size_t{n} * n || b.size() != a.size())
    throw std::invalid_argument("iwarp: matrices of n x n");
  Machine machine(grid_wiring(kit::Grid({{n}, {n}})), {}, 2 * std::size_t{n});
  Product product{.values = std::vector<Data>(a.size())};
  for (unsigned row = 0; row < n; ++row) {
    for (unsigned k = 0; k < n; ++k) {
      machine.cell(row * n).memory()[k] = {a[row * n + k]};
      machine.cell(row).memory()[n + k] = {b[k * n + row]};  // its column
    }
  }
  for (CellNumber cell = 0; cell < machine.cells(); ++cell) {
    machine.cell(cell).run([&, cell, n](Processor& cpu) {
      return multiply_cell(cpu, machine.network().wiring(), n, product.values[cell]);
    });
  }
  if (orders.empty()) {
    machine.run_or_throw([&] { return machine.have_ended(); });
  } else {
    for (std::size_t i = 0; !machine.have_ended(); ++i) machine.step(orders[i % orders.size()]);
  }
  product.cycles = machine.now();
  product.fingerprint = machine.fingerprint();
  return product;
}

namespace {

/// x moves on without the first one, so each cell has the x that its weight wants; y takes up the products.
Program convolve_cell(Processor& cpu, const kit::Wiring& wiring, unsigned cells, std::size_t results,
                      Data weight) {
  const CellNumber cell = cpu.cell();
  const bool is_first = cell == 0;
  const bool is_last = cell + 1 == cells;
  const std::size_t all = results + cells - 1 - cell;
  unsigned result = 0;
  if (is_last) {
    const Channel own = cpu.agent().take_own().value();
    cpu.bind_out(1, own);
    result =
        co_await cpu.spool_in({.channel = own, .address = all, .limit = all + results, .words = results});
  } else {
    co_await bind_output(cpu, 0, wiring, Direction::x_right);
    co_await bind_output(cpu, 1, wiring, Direction::x_right);
  }
  const auto from = is_first ? std::nullopt : std::optional(cell - 1);
  co_await bind_input(cpu, 0, from, 0, all);
  if (!is_first) co_await bind_input(cpu, 1, from, 0, 0);
  for (std::size_t i = 0; i < all; ++i) {
    const unsigned y = i < results ? 0b10 : 0;
    const unsigned ins = 0b01 | (is_first ? 0 : y);
    co_await cpu.operate(ins, (is_last || i == 0 ? 0 : 0b01) | y, [weight](const Words& in) {
      return Words{in[0], Word{in[1].data + weight * in[0].data}};
    });
  }
  if (is_last) co_await cpu.spooled(result);
}

}  // namespace

Product convolve(const std::vector<Data>& x, const std::vector<Data>& w) {
  if (w.empty() || x.size() < w.size())
    throw std::invalid_argument("iwarp: a convolution has more values than weights");
  const auto cells = static_cast<unsigned>(w.size());
  const std::size_t results = x.size() - w.size() + 1;
  Machine machine(grid_wiring(kit::Grid({{cells}})), {.reservation = 4}, x.size() + results);
  place(machine.cell(0), 0, x);
  for (CellNumber cell = 0; cell < cells; ++cell) {
    machine.cell(cell).run([&, cell](Processor& cpu) {
      return convolve_cell(cpu, machine.network().wiring(), cells, results, w[cell]);
    });
  }
  machine.run_or_throw([&] { return machine.have_ended(); });
  Product product{.values = {}, .cycles = machine.now(), .fingerprint = machine.fingerprint()};
  const std::vector<Word>& memory = machine.cell(cells - 1).memory();
  for (std::size_t i = 0; i < results; ++i) product.values.push_back(memory[results + i].data);
  return product;
}

}  // namespace am::iwarp
