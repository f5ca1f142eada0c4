// Which cores nodes of amrun may run on.

#include "process/amrun_job.hpp"
#include "process/surroundings.hpp"

namespace amrun_test::amrun_binding_test {

using process_test::own_processors;
using testing::MatchesRegex;

const JoinedRole show_cores("show_cores", [](const Node&) {
  const cpu_set_t set = own_processors();
  std::string line = "cores";
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) line.append(" ").append(std::to_string(cpu));
  }
  Node::print(line);
});

TEST(AmrunBinding, BoundNodesHaveACoreEach) {
  const cpu_set_t usable = own_processors();
  const Outcome amrun = expect_end(run_job({"--bind", "core", "--report-bindings"}, {"show_cores"}), 0);
  const std::vector<std::string> lines = lines_of(amrun.out);
  const std::vector<std::string> reported = lines_of(amrun.err);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(reported.size(), lines.size());
  for (const std::string& line : reported)
    EXPECT_THAT(line, MatchesRegex("amrun: node [0-9]+: core [0-9]+ \\(processors? [0-9,-]+\\)"));
  // One node per core without -n: together they have every processor once.
  std::vector<unsigned> processors;
  for (const std::string& line : lines) {
    std::istringstream numbers(line.substr(5));
    for (unsigned cpu = 0; numbers >> cpu;) processors.push_back(cpu);
  }
  std::ranges::sort(processors);
  EXPECT_EQ(std::ranges::adjacent_find(processors), processors.end());
  EXPECT_EQ(processors.size(), static_cast<std::size_t>(CPU_COUNT(&usable)));
}

TEST(AmrunBinding, BindingKeepsToTheProcessorsOfAmrun) {
  const cpu_set_t usable = own_processors();
  unsigned last = 0;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &usable)) last = cpu;
  }
  const Outcome amrun = expect_end(run_job({"-n", "3", "--bind", "core"}, {"show_cores"},
                                           {.in_child = [last] { process_test::stay_on(last); }}),
                                   0);
  for (const std::string& line : lines_of(amrun.out)) EXPECT_EQ(line, "cores " + std::to_string(last));
}

TEST(AmrunBinding, UnboundNodesMayRunWhereAmrunMay) {
  const Outcome amrun =
      expect_end(run_job({"-n", "2", "--bind", "none", "--report-bindings"}, {"show_cores"}), 0,
                 "amrun: nodes are not bound to cores\n");
  const std::vector<std::string> lines = lines_of(amrun.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], lines[1]);
}

}  // namespace amrun_test::amrun_binding_test
