#include "emulated_hw/iwarp/programs/rows.hpp"

#include <numeric>
#include <stdexcept>

namespace am::iwarp {

namespace {

constexpr Data header = Sign::cell_bits;  // of no cell: no joint matches it
constexpr Data white = 255;

struct Chain {
  const kit::Wiring& wiring;
  CellNumber cells;  // behind the first one
  bool is_last(CellNumber cell) const { return cell == cells; }
};

/// To both neighbours: to the right for GetRow, to the left for PutRow.
Program open_both(Processor& cpu, const Chain& chain, std::optional<Source>& right,
                  std::optional<Source>& left) {
  const Leg legs[] = {{Direction::x_right, 1}, {Direction::x_left, 1}};
  if (!chain.is_last(cpu.cell())) co_await cpu.open(along(chain.wiring, cpu.cell(), {legs, 1}), right);
  if (cpu.cell() != 0) co_await cpu.open(along(chain.wiring, cpu.cell(), {legs + 1, 1}), left);
}

/// Takes its portion of the message of gate 0, to its memory, and sends the remainder on.
Program get_row(Processor& cpu, Channel channel, const std::optional<Source>& next, unsigned portion) {
  co_await cpu.read(0);  // the header
  for (unsigned i = 0; i < portion; ++i) {
    const Word pixel = co_await cpu.read(0);
    co_await cpu.store(i, pixel);
  }
  if (next) {
    co_await cpu.begin_message(*next, header);
    co_await cpu.redirect(channel, *next);
  } else {
    co_await cpu.read(0);  // the end
  }
}

/// Sends its portion, and behind it what comes by gate 1.
Program put_row(Processor& cpu, std::optional<Channel> channel, const Source& back, unsigned portion) {
  co_await cpu.begin_message(back, header);
  for (unsigned i = 0; i < portion; ++i) {
    const Word pixel = co_await cpu.load(i);
    co_await cpu.write(1, {white - pixel.data});
  }
  if (channel) {
    co_await cpu.read(1);  // the header
    co_await cpu.redirect(*channel, back);
  } else {
    co_await cpu.end_message(back);
  }
}

Program worker(Processor& cpu, const Chain& chain, unsigned rows, unsigned portion) {
  std::optional<Source> next, back;
  co_await open_both(cpu, chain, next, back);
  cpu.bind_out(1, back.value().own);
  const Channel from_left = co_await cpu.accept(cpu.cell() - 1);
  cpu.bind_in(0, from_left);
  std::optional<Channel> from_right;
  if (next) {
    from_right = co_await cpu.accept(cpu.cell() + 1);
    cpu.bind_in(1, *from_right);
  }
  for (unsigned row = 0; row < rows; ++row) {
    co_await get_row(cpu, from_left, next, portion);
    co_await put_row(cpu, from_right, *back, portion);
  }
}

/// Row by row out of memory, and back to the same place.
Program first_cell(Processor& cpu, const Chain& chain, unsigned rows, unsigned columns) {
  std::optional<Source> next, none;
  co_await open_both(cpu, chain, next, none);
  const Channel from_right = co_await cpu.accept(1);
  cpu.bind_in(1, from_right);
  for (std::size_t at = 0; at < std::size_t{rows} * columns; at += columns) {
    co_await cpu.begin_message(next.value(), header);
    const unsigned out = co_await cpu.spool_out(
        {.channel = next->own, .address = at, .limit = at + columns, .words = columns});
    co_await cpu.spooled(out);
    co_await cpu.end_message(*next);
    co_await cpu.read(1);  // the header
    const unsigned in =
        co_await cpu.spool_in({.channel = from_right, .address = at, .limit = at + columns, .to_end = true});
    co_await cpu.spooled(in);
  }
}

}  // namespace

Image draw(unsigned columns, unsigned rows) {
  Image image{.columns = columns};
  const unsigned radius = rows / 3;
  for (unsigned y = 0; y < rows; ++y) {
    for (unsigned x = 0; x < columns; ++x) {
      const unsigned dx = x < columns / 2 ? columns / 2 - x : x - columns / 2;
      const unsigned dy = y < rows / 2 ? rows / 2 - y : y - rows / 2;
      image.pixels.push_back(dx * dx + dy * dy < radius * radius ? 0 : white * x / columns);
    }
  }
  return image;
}

std::string pgm(const Image& image) {
  std::string text = "P2\n" + std::to_string(image.columns) + ' ' +
                     std::to_string(image.pixels.size() / image.columns) + "\n255\n";
  for (std::size_t i = 0; i < image.pixels.size(); ++i)
    text += std::to_string(image.pixels[i]) + ((i + 1) % image.columns == 0 ? '\n' : ' ');
  return text;
}

Inverted invert(const Image& image, const std::vector<unsigned>& portions) {
  if (portions.empty() || std::accumulate(portions.begin(), portions.end(), 0u) != image.columns)
    throw std::invalid_argument("iwarp: portions make up a row of " + std::to_string(image.columns));
  const auto rows = static_cast<unsigned>(image.pixels.size() / image.columns);
  const auto workers = static_cast<CellNumber>(portions.size());
  Machine machine(grid_wiring(kit::Grid({{workers + 1}})), {}, image.pixels.size());
  const Chain chain{machine.network().wiring(), workers};
  for (std::size_t i = 0; i < image.pixels.size(); ++i) machine.cell(0).memory()[i] = {image.pixels[i]};
  machine.cell(0).run([&](Processor& cpu) { return first_cell(cpu, chain, rows, image.columns); });
  for (CellNumber cell = 1; cell <= workers; ++cell) {
    machine.cell(cell).run(
        [&, cell](Processor& cpu) { return worker(cpu, chain, rows, portions[cell - 1]); });
  }
  machine.run_or_throw([&] { return machine.have_ended(); });
  Inverted inverted{.image = {.columns = image.columns}, .cycles = machine.now(), .memory_words = {}};
  for (const Word& word : machine.cell(0).memory()) inverted.image.pixels.push_back(word.data);
  for (CellNumber cell = 0; cell < machine.cells(); ++cell)
    inverted.memory_words.push_back(machine.cell(cell).memory_words());
  return inverted;
}

}  // namespace am::iwarp
