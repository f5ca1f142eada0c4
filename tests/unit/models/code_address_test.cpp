// Functions as words: there and back, in the program and its libraries, and what means nothing.
#include "models/code_address.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <thread>
#include <vector>

#include "models/symbol_name.hpp"
#include "support/random.hpp"

namespace am::models::code_address_test {

using namespace testing;

int constant_data = 7;

[[gnu::noinline]] void in_the_program() { asm volatile(""); }

Code as_code(std::uintptr_t address) { return reinterpret_cast<Code>(address); }
Code as_code(void* address) { return as_code(reinterpret_cast<std::uintptr_t>(address)); }
std::uintptr_t address_of(Code code) { return reinterpret_cast<std::uintptr_t>(code); }

TEST(CodeAddress, FunctionsOfTheProgramAndOfItsLibrariesComeBack) {
  const CodeWord word = word_of(&in_the_program);
  EXPECT_NE(word, 0);
  EXPECT_EQ(code_of(word), &in_the_program);
  const Code in_a_library = as_code(dlsym(RTLD_DEFAULT, "qsort"));
  ASSERT_NE(in_a_library, nullptr);
  EXPECT_NE(word_of(in_a_library) >> code_offset_bits, word >> code_offset_bits);
  EXPECT_EQ(code_of(word_of(in_a_library)), in_a_library);
}

TEST(CodeAddress, AFunctionThatIsLoadedLaterIsFound) {
  static_cast<void>(word_of(&in_the_program));  // the list is made
  void* const library = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) GTEST_SKIP() << dlerror();
  const Code late = as_code(dlsym(library, "ns_sprintrr"));
  ASSERT_NE(late, nullptr);
  EXPECT_EQ(code_of(word_of(late)), late);
  EXPECT_EQ(code_of(word_of(&in_the_program)), &in_the_program);
}

TEST(CodeAddress, WhatIsNoFunctionHasNoWord) {
  int on_the_stack = 0;
  EXPECT_EQ(word_of(nullptr), 0);
  EXPECT_EQ(word_of(as_code(&constant_data)), 0);
  EXPECT_EQ(word_of(as_code(&on_the_stack)), 0);
  EXPECT_EQ(word_of(as_code(1)), 0);
  EXPECT_EQ(word_of(as_code(~std::uintptr_t{0})), 0);
  void* const made = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(made, MAP_FAILED);
  EXPECT_EQ(word_of(as_code(made)), 0);
  munmap(made, 4096);
}

TEST(CodeAddress, AWordOfAnotherBuildMeansNothing) {
  const CodeWord word = word_of(&in_the_program);
  for (unsigned bit = code_offset_bits; bit < 64; ++bit)
    EXPECT_EQ(code_of(word ^ (CodeWord{1} << bit)), nullptr) << bit;
  EXPECT_EQ(code_of(0), nullptr);
}

/// Whatever word comes: it means a byte of executable memory, whose word it is, or nothing.
TEST(CodeAddress, NoWordLeadsOutOfExecutableMemory) {
  test::Random random(test::seed());
  const CodeWord known = word_of(&in_the_program);
  for (int i = 0; i < 20000; ++i) {
    const CodeWord word = random.one_in(2) ? random() : (known ^ (random() >> (24 + random.below(40))));
    const Code code = code_of(word);
    if (code != nullptr) {
      EXPECT_EQ(word_of(code), word);
    }
  }
}

TEST(CodeAddress, TheEdgesOfTheProgramsCode) {
  static_cast<void>(word_of(&in_the_program));
  const CodeRange program = detail::code_table.load()->program;
  const CodeWord end = program.word + program.bytes;
  EXPECT_EQ(address_of(code_of(program.word)), program.begin);
  EXPECT_EQ(address_of(code_of(end - 1)), program.begin + program.bytes - 1);
  EXPECT_EQ(code_of(end), nullptr);
  EXPECT_EQ(code_of(program.word - 1), nullptr);
  EXPECT_EQ(word_of(as_code(program.begin + program.bytes)), 0);
}

TEST(CodeAddress, SeveralThreadsMayBeTheFirst) {
  detail::code_table.store(&detail::nothing_found_yet);
  std::vector<std::thread> threads;
  std::vector<CodeWord> words(4);
  for (CodeWord& word : words) threads.emplace_back([&word] { word = word_of(&in_the_program); });
  for (std::thread& thread : threads) thread.join();
  for (const CodeWord word : words) EXPECT_EQ(code_of(word), &in_the_program);
}

TEST(SymbolName, NamesWhatNobodyExportsAndSaysWhatIsNowhere) {
  const SymbolName function(reinterpret_cast<std::uintptr_t>(&in_the_program));
  EXPECT_THAT(function.text(), AllOf(HasSubstr("code_address_test"), HasSubstr("in_the_program")));
  const SymbolName data(reinterpret_cast<std::uintptr_t>(&constant_data));
  EXPECT_THAT(data.text(), HasSubstr("constant_data"));
  EXPECT_EQ(SymbolName(0x10).text(), "0x10, which is in no program or library");
}

}  // namespace am::models::code_address_test
