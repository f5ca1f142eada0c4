#include "emulated_hw/iwarp/programs/rows.hpp"

#include <numeric>
#include <stdexcept>

namespace am::iwarp {

namespace {

constexpr Data header = Sign::cell_bits;  // of no cell: no joint matches it
constexpr Data white = 255;

/// Takes its portion of the message of gate 0, to its memory, and sends the remainder on, if there is a next cell.
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

Program worker(Processor& cpu, bool is_last, unsigned rows, unsigned portion) {
  std::optional<Source> next;
  if (!is_last) co_await cpu.open_next(Direction::x_right, next.emplace());
  Source back;
  co_await cpu.open_next(Direction::x_left, back);
  cpu.bind_out(1, back.own);
  const Channel from_left = co_await cpu.accept(cpu.cell() - 1);
  cpu.bind_in(0, from_left);
  std::optional<Channel> from_right;
  if (next) {
    from_right = co_await cpu.accept(cpu.cell() + 1);
    cpu.bind_in(1, *from_right);
  }
  for (unsigned row = 0; row < rows; ++row) {
    co_await get_row(cpu, from_left, next, portion);
    co_await put_row(cpu, from_right, back, portion);
  }
}

/// Row by row out of memory, and back to the same place.
Program first_cell(Processor& cpu, unsigned columns) {
  Source next;
  co_await cpu.open_next(Direction::x_right, next);
  const Channel from_right = co_await cpu.accept(1);
  cpu.bind_in(1, from_right);
  for (std::size_t at = 0; at < cpu.memory().size(); at += columns) {
    co_await cpu.begin_message(next, header);
    co_await cpu.spooled(co_await cpu.spool_out(next.own, {at, columns}));
    co_await cpu.end_message(next);
    co_await cpu.read(1);  // the header
    co_await cpu.spooled(
        co_await cpu.spool_in({.channel = from_right, .address = at, .limit = at + columns, .to_end = true}));
  }
}

}  // namespace

Image draw(unsigned columns, unsigned rows) {
  Image image{.columns = columns};
  const unsigned radius = rows / 3;
  for (unsigned y = 0; y < rows; ++y) {
    for (unsigned x = 0; x < columns; ++x) {
      const unsigned dx = x - columns / 2;  // its square is right, also where it is negative
      const unsigned dy = y - rows / 2;
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
  Machine machine(grid_wiring({{workers + 1}}), {}, image.pixels.size());
  for (std::size_t i = 0; i < image.pixels.size(); ++i) machine.cell(0).memory()[i] = {image.pixels[i]};
  machine.cell(0).run([&](Processor& cpu) { return first_cell(cpu, image.columns); });
  for (CellNumber cell = 1; cell <= workers; ++cell) {
    machine.cell(cell).run(
        [&, cell](Processor& cpu) { return worker(cpu, cell == workers, rows, portions[cell - 1]); });
  }
  machine.run_to_end();
  Inverted inverted{.image = {.columns = image.columns}, .cycles = machine.now(), .memory_words = {}};
  for (const Word& word : machine.cell(0).memory()) inverted.image.pixels.push_back(word.data);
  for (CellNumber cell = 0; cell < machine.cells(); ++cell)
    inverted.memory_words.push_back(machine.cell(cell).memory_words() +
                                    machine.cell(cell).memory_agent().stolen());
  return inverted;
}

}  // namespace am::iwarp
