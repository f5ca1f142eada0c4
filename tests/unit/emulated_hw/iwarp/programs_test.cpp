// Programs on iWarp: criteria IW-33, IW-35, IW-36, C-2 and C-3 (Borkar et al. 1990, 2.2, 3.1.2, 7.2).
#include <gmock/gmock.h>

#include <random>

#include "emulated_hw/iwarp/programs/rows.hpp"
#include "emulated_hw/iwarp/programs/systolic.hpp"
#include "unit/emulated_hw/orders.hpp"

namespace am::iwarp::programs_test {

using testing::HasSubstr;

std::vector<Data> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Data> values(count);
  std::ranges::generate(values, [&] { return static_cast<Data>(random() % 1000); });
  return values;
}

/// Two matrices, against the sums; about as long as the cell takes that spools both.
TEST(IwarpPrograms, MultiplyMatrices) {
  for (const unsigned n : {1u, 2u, 5u, 8u}) {
    const std::vector<Data> a = random_values(n * n, n), b = random_values(n * n, n + 100);
    const Product product = multiply(n, a, b);
    for (unsigned i = 0; i < n; ++i) {
      for (unsigned j = 0; j < n; ++j) {
        Data sum = 0;
        for (unsigned k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
        ASSERT_EQ(product.values[i * n + j], sum);
      }
    }
    EXPECT_LT(product.cycles, 40 + 12 * n);
  }
  EXPECT_THROW(static_cast<void>(multiply(2, {1, 2}, {3, 4})), std::invalid_argument);
}

/// C-2: the same in 100 random orders of steps.
TEST(IwarpPrograms, DoTheSameInAnyOrder) {
  const std::vector<Data> a = random_values(9, 1), b = random_values(9, 2);
  ::test::expect_the_same_in_any_order(9, 100, [&](auto next) {
    std::vector<std::vector<CellNumber>> orders(7);
    for (auto& order : orders) std::ranges::copy(next(), std::back_inserter(order));
    const Product product = multiply(3, a, b, orders);
    return std::pair(product.values, product.fingerprint);
  });
}

TEST(IwarpPrograms, Convolve) {
  for (const unsigned weights : {1u, 2u, 7u}) {
    const std::vector<Data> x = random_values(200, weights), w = random_values(weights, 9);
    const Product y = convolve(x, w);
    ASSERT_EQ(y.values.size(), 200 - weights + 1);
    for (std::size_t i = 0; i < y.values.size(); ++i) {
      Data sum = 0;
      for (unsigned j = 0; j < weights; ++j) sum += w[j] * x[i + j];
      ASSERT_EQ(y.values[i], sum) << i;
    }
    const double cycles = weights == 1 ? 3 : 4;  // for each: two gates that spool, or two streams on a bus
    EXPECT_NEAR(static_cast<double>(y.cycles), cycles * 200, 10 + 8 * weights);
  }
  EXPECT_THROW(static_cast<void>(convolve({1}, {1, 2})), std::invalid_argument);
}

/// IW-35, IW-36: an image that the program draws comes back inverted; of each row no more than a cell's portion passes its memory.
TEST(IwarpPrograms, GetAndPutTheRowsOfAnImage) {
  const Image image = draw(48, 32);
  for (const std::vector<unsigned>& portions : {std::vector<unsigned>{48}, {16, 16, 16}, {1, 20, 3, 24}}) {
    const Inverted inverted = invert(image, portions);
    Image expected = image;
    for (Data& pixel : expected.pixels) pixel = 255 - pixel;
    EXPECT_EQ(inverted.image, expected);
    ASSERT_EQ(inverted.memory_words.size(), portions.size() + 1);
    for (std::size_t cell = 1; cell <= portions.size(); ++cell)
      EXPECT_EQ(inverted.memory_words[cell], 2 * 32 * portions[cell - 1]) << "in and out again";
  }
  EXPECT_THROW(static_cast<void>(invert(image, {20})), std::invalid_argument);
  const std::string text = pgm(draw(8, 6));
  EXPECT_EQ(text.substr(0, text.find('\n', 11)), "P2\n8 6\n255\n0 31 63 95 127 159 191 223");
  EXPECT_THAT(text, HasSubstr("\n0 31 63 0 0 0 191 223\n"));
}

/// IW-33 [V], C-3: Kung's deadlock with queues of eight: the run ends, and names the circle. With the queue in memory the same program ends.
TEST(IwarpPrograms, CrossStreamsThatQueuesOfEightCannotHold) {
  EXPECT_GT(cross_streams(16, false), 0u) << "two queues of eight hold them";
  std::string error;
  try {
    static_cast<void>(cross_streams(18, false));
  } catch (const std::runtime_error& thrown) {
    error = thrown.what();
  }
  EXPECT_THAT(error, HasSubstr("a circle: "));
  EXPECT_THAT(error, HasSubstr("-> cell 0 ->"));
  EXPECT_THAT(error, HasSubstr("-> cell 1 ->"));
  EXPECT_GT(cross_streams(1000, true), 2u * 2 * 1000);
}

}  // namespace am::iwarp::programs_test
