#include "emulated_hw/iwarp/programs/systolic.hpp"

#include <stdexcept>

namespace am::iwarp {

namespace {

/// A gate that reads the pathway from that cell, or so many words of this cell's memory.
Program bind_input(Processor& cpu, unsigned gate, std::optional<CellNumber> from, Area memory) {
  if (from) {
    cpu.bind_in(gate, co_await cpu.accept(*from));
    co_return;
  }
  const Channel own = cpu.agent().take_own().value();
  cpu.bind_in(gate, own);
  co_await cpu.spool_out(own, memory);
}

Program bind_output(Processor& cpu, unsigned gate, Direction to) {
  Source source;
  co_await cpu.open_next(to, source);
  cpu.bind_out(gate, source.own);
}

Program multiply_cell(Processor& cpu, unsigned n, Data& sum) {
  const CellNumber column = cpu.cell() % n;
  const CellNumber row = cpu.cell() / n;
  const unsigned outs = (column + 1 < n ? 0b01u : 0u) | (row + 1 < n ? 0b10u : 0u);
  if ((outs & 0b01) != 0) co_await bind_output(cpu, 0, Direction::x_right);
  if ((outs & 0b10) != 0) co_await bind_output(cpu, 1, Direction::y_up);
  co_await bind_input(cpu, 0, column == 0 ? std::nullopt : std::optional(cpu.cell() - 1), {0, n});
  co_await bind_input(cpu, 1, row == 0 ? std::nullopt : std::optional(cpu.cell() - n), {n, n});
  for (unsigned k = 0; k < n; ++k) {
    co_await cpu.operate(0b11, outs, [&sum](const Words& in) {
      sum += in[0].data * in[1].data;
      return in;
    });
  }
}

/// x moves on without the first one, so each cell has the x that its weight wants; y takes up the products.
Program convolve_cell(Processor& cpu, unsigned cells, std::size_t results, Data weight) {
  const bool is_first = cpu.cell() == 0;
  const bool is_last = cpu.cell() + 1 == cells;
  const std::size_t all = results + cells - 1 - cpu.cell();
  unsigned result = 0;
  if (is_last) {
    const Channel own = cpu.agent().take_own().value();
    cpu.bind_out(1, own);
    result =
        co_await cpu.spool_in({.channel = own, .address = all, .limit = all + results, .words = results});
  } else {
    co_await bind_output(cpu, 0, Direction::x_right);
    co_await bind_output(cpu, 1, Direction::x_right);
  }
  const auto from = is_first ? std::nullopt : std::optional(cpu.cell() - 1);
  co_await bind_input(cpu, 0, from, {0, all});
  if (!is_first) co_await bind_input(cpu, 1, from, {});
  for (std::size_t i = 0; i < all; ++i) {
    const unsigned y = i < results ? 0b10 : 0;
    co_await cpu.operate(0b01 | (is_first ? 0 : y), (is_last || i == 0 ? 0 : 0b01) | y,
                         [weight](const Words& in) {
                           return Words{in[0], Word{in[1].data + weight * in[0].data}};
                         });
  }
  if (is_last) co_await cpu.spooled(result);
}

Program send_both(Processor& cpu, unsigned words) {
  for (unsigned gate = 0; gate < gates; ++gate) co_await bind_output(cpu, gate, Direction::x_right);
  for (unsigned gate = 0; gate < gates; ++gate) {
    for (Data i = 0; i < words; ++i) co_await cpu.write(gate, {i});
  }
}

Program read_second_first(Processor& cpu, unsigned words, bool extends) {
  for (unsigned gate = 0; gate < gates; ++gate) co_await bind_input(cpu, gate, 0, {});
  if (extends) co_await cpu.extend(0, {0, cpu.memory().size()});
  for (unsigned gate = gates; gate-- != 0;) {
    for (Data i = 0; i < words; ++i) {
      const Word word = co_await cpu.read(gate);
      if (word != Word{i}) throw std::logic_error("iwarp: another word than was sent");
    }
  }
}

}  // namespace

Product multiply(unsigned n, const std::vector<Data>& a, const std::vector<Data>& b,
                 std::span<const std::vector<CellNumber>> orders) {
  if (n == 0 || a.size() != std::size_t{n} * n || b.size() != a.size())
    throw std::invalid_argument("iwarp: matrices of n x n");
  Machine machine(grid_wiring({{n}, {n}}), {}, 2 * std::size_t{n});
  Product product{.values = std::vector<Data>(a.size())};
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto row = static_cast<CellNumber>(i / n);
    const auto column = static_cast<CellNumber>(i % n);
    machine.cell(row * n).memory()[column] = {a[i]};
    machine.cell(column).memory()[n + row] = {b[i]};
  }
  for (CellNumber cell = 0; cell < machine.cells(); ++cell)
    machine.cell(cell).run([&, cell](Processor& cpu) { return multiply_cell(cpu, n, product.values[cell]); });
  if (orders.empty()) machine.run_to_end();
  for (std::size_t i = 0; !machine.have_ended(); ++i) machine.step(orders[i % orders.size()]);
  product.cycles = machine.now();
  product.fingerprint = machine.network().fingerprint();
  return product;
}

Product convolve(const std::vector<Data>& x, const std::vector<Data>& w) {
  if (w.empty() || x.size() < w.size())
    throw std::invalid_argument("iwarp: a convolution has no fewer values than weights");
  const auto cells = static_cast<unsigned>(w.size());
  const std::size_t results = x.size() - w.size() + 1;
  Machine machine(grid_wiring({{cells}}), {}, x.size() + results);
  for (std::size_t i = 0; i < x.size(); ++i) machine.cell(0).memory()[i] = {x[i]};
  for (CellNumber cell = 0; cell < cells; ++cell)
    machine.cell(cell).run([&, cell](Processor& cpu) { return convolve_cell(cpu, cells, results, w[cell]); });
  machine.run_to_end();
  Product product{.values = {}, .cycles = machine.now(), .fingerprint = machine.network().fingerprint()};
  for (std::size_t i = 0; i < results; ++i)
    product.values.push_back(machine.cell(cells - 1).memory()[results + i].data);
  return product;
}

Cycle cross_streams(unsigned words, bool extends) {
  Machine machine(grid_wiring({{2}}));
  machine.cell(0).run([&](Processor& cpu) { return send_both(cpu, words); });
  machine.cell(1).run([&](Processor& cpu) { return read_second_first(cpu, words, extends); });
  machine.run_to_end();
  return machine.now();
}

}  // namespace am::iwarp
