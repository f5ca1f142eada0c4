// The same questions that ambench asks of libam, asked of MPI: one small MPI program, started by ambench with
// mpirun. It is not part of libam and links nothing of it.
//
//   openmpi_peer pingpong BYTES...    half round trip, blocking send and receive, ns
//   openmpi_peer payloads BYTES...    the same of data that is written before it is sent and read where it arrives
//   openmpi_peer flood                one-way stream of 8-byte messages, windows of isend and irecv, million/s
//   openmpi_peer barrier              time of one MPI_Barrier, us
//   openmpi_peer all_reduce BYTES...  time of one MPI_Allreduce, in place, the sum of 64-bit words, us
//   openmpi_peer startup              MPI_Init, one barrier, MPI_Finalize
//
// Rank 0 prints "figure NAME VALUE" lines; ranks 0 and 1 say where they run: "cpu RANK CPU".

#include <mpi.h>
#include <sched.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "timing.hpp"
#include "words.hpp"

namespace {

constexpr int window = 64;  // OSU's choice for its message rate test
constexpr int windows_per_answer = 64;

void print_figure(const std::string& name, double value) {
  std::printf("figure %s %.6g\n", name.c_str(), value);
}

// Times batch() again and again on every rank; the median. All ranks have to do the same number: rank 0 chooses it,
// from the warm-up.
template <typename F>
double median_ns(F&& batch) {
  const auto timed = [&](int count) {
    std::vector<double> samples;
    while (count-- > 0) {
      const double start = ambench::now_ns();
      batch();
      samples.push_back(ambench::now_ns() - start);
    }
    return ambench::median_of(std::move(samples));
  };
  int count = static_cast<int>(ambench::min_time_ns / timed(10)) + 1;
  MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return timed(count);
}

enum class Data { untouched, written_and_read };

void pingpong(int rank, int bytes, Data data) {
  const int round_trips = data == Data::untouched ? 100 : 10;
  std::vector<std::byte> out(static_cast<std::size_t>(bytes), std::byte{1});
  std::vector<std::byte> in(static_cast<std::size_t>(bytes));
  const int other = 1 - rank;
  std::uint64_t number = 0;
  std::uint64_t sum = 0;
  const auto send = [&] {
    if (data == Data::written_and_read) ambench::write_words(out, ++number);
    MPI_Send(out.data(), bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
  };
  const auto receive = [&] {
    MPI_Recv(in.data(), bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (data == Data::written_and_read) sum += ambench::sum_of_words(in);
  };
  const double batch_ns = median_ns([&] {
    for (int i = 0; i < round_trips; ++i) {
      if (rank == 0) send();
      receive();
      if (rank == 1) send();
    }
  });
  ambench::keep(sum);
  if (rank == 0) print_figure(std::to_string(bytes) + "/half_rtt_ns", batch_ns / (2.0 * round_trips));
}

void send_window() {
  static std::array<std::uint64_t, window> words;
  std::array<MPI_Request, window> requests{};
  for (std::size_t i = 0; i < window; ++i)
    MPI_Isend(&words[i], 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
  MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
}

void receive_window() {
  static std::array<std::uint64_t, window> words;
  std::array<MPI_Request, window> requests{};
  for (std::size_t i = 0; i < window; ++i)
    MPI_Irecv(&words[i], 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
  MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
}

// The receiver answers now and then, so that the sender does not run away from it.
void flood(int rank) {
  std::uint64_t answer = 0;
  const double batch_ns = median_ns([&] {
    for (int i = 0; i < windows_per_answer; ++i) {
      if (rank == 0) {
        send_window();
      } else {
        receive_window();
      }
    }
    if (rank == 0) {
      MPI_Recv(&answer, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(&answer, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
  });
  if (rank == 0) print_figure("rate_million_per_s", windows_per_answer * window * 1e3 / batch_ns);
}

void barrier(int rank) {
  constexpr int barriers = 10;
  const double batch_ns = median_ns([] {
    for (int i = 0; i < barriers; ++i) MPI_Barrier(MPI_COMM_WORLD);
  });
  if (rank == 0) print_figure("barrier_us", batch_ns / (1e3 * barriers));
}

void all_reduce(int rank, int bytes) {
  constexpr int calls = 10;
  std::vector<std::uint64_t> values(static_cast<std::size_t>(bytes) / sizeof(std::uint64_t), 1);
  const double batch_ns = median_ns([&] {
    for (int i = 0; i < calls; ++i)
      MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_UINT64_T, MPI_SUM,
                    MPI_COMM_WORLD);
  });
  if (rank == 0) print_figure(std::to_string(bytes) + "/all_reduce_us", batch_ns / (1e3 * calls));
}

void print_place(int rank) {
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool one = sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1;
  std::printf("cpu %d %d\n", rank, one ? sched_getcpu() : -1);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::string measure = argc > 1 ? argv[1] : "";
  const bool pair_only = measure == "pingpong" || measure == "payloads" || measure == "flood";
  if (size < 2 || (pair_only && size != 2)) {
    std::fprintf(stderr,
                 "openmpi_peer: '%s' with %d ranks: pingpong, payloads and flood take 2, barrier, all_reduce "
                 "and startup 2 or more\n",
                 measure.c_str(), size);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (rank < 2 && measure != "startup") print_place(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (measure == "pingpong") {
    for (int i = 2; i < argc; ++i) pingpong(rank, std::atoi(argv[i]), Data::untouched);
  } else if (measure == "payloads") {
    for (int i = 2; i < argc; ++i) pingpong(rank, std::atoi(argv[i]), Data::written_and_read);
  } else if (measure == "flood") {
    flood(rank);
  } else if (measure == "barrier") {
    barrier(rank);
  } else if (measure == "all_reduce") {
    for (int i = 2; i < argc; ++i) all_reduce(rank, std::atoi(argv[i]));
  } else if (measure != "startup") {
    if (rank == 0) std::fprintf(stderr, "openmpi_peer: unknown measure '%s'\n", measure.c_str());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
}
