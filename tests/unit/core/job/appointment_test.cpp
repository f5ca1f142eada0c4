// What AM_JOB says, and what may be a key file.
#include "core/job/appointment.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "host/descriptor.hpp"
#include "host/layout.hpp"
#include "support/check.hpp"

namespace am::core::appointment_test {

using test::error_of;
using namespace testing;

std::string refusal(const std::string& text) {
  return error_of([&] { static_cast<void>(parse_appointment(text)); });
}
std::string with_address(const std::string& address) {
  return "address=" + address + ",rank=1,size=4,key=/k";
}
std::string with_place(const std::string& rank, const std::string& size) {
  return "address=a:1,rank=" + rank + ",size=" + size + ",key=/k";
}

TEST(Appointment, IsReadInAnyOrder) {
  for (const std::string text : {"address=a.cluster:7000,rank=1,size=4,key=/run/job/key",
                                 "key=/run/job/key,size=4,rank=1,address=a.cluster:7000",
                                 "size=4,address=a.cluster:7000,key=/run/job/key,rank=1,",
                                 "key=/run/job/key,size=4,rank=1,address=a.cluster:7000,key_readers=any"}) {
    const auto [host, port, rank, size, key_file, readers] = parse_appointment(text);
    EXPECT_TRUE(host == "a.cluster" && port == 7000 && rank == 1 && size == 4) << text;
    EXPECT_EQ(key_file, "/run/job/key") << text;
    EXPECT_EQ(readers, text.ends_with("any") ? KeyReaders::any : KeyReaders::own) << text;
  }
}

TEST(Appointment, NeedsEachPartOnce) {
  const std::vector<std::string> parts = {"address=a:1", "rank=1", "size=4", "key=/k"};
  for (std::size_t left_out = 0; left_out < parts.size(); ++left_out) {
    const std::string name = parts[left_out].substr(0, parts[left_out].find('='));
    std::string missing;
    std::string empty;
    std::string twice = parts[left_out];
    for (std::size_t i = 0; i < parts.size(); ++i) {
      twice += "," + parts[i];
      empty += (i == 0 ? "" : ",") + (i == left_out ? name + "=" : parts[i]);
      if (i != left_out) missing += (missing.empty() ? "" : ",") + parts[i];
    }
    EXPECT_THAT(refusal(missing), AllOf(HasSubstr("does not say what " + name + " is"), HasSubstr(missing)));
    EXPECT_THAT(refusal(empty), HasSubstr("does not say what " + name + " is"));
    EXPECT_THAT(refusal(twice), HasSubstr("says twice what " + name + " is"));
    // An empty one first would be another way to leave it out.
    EXPECT_THAT(refusal(name + "=," + missing + "," + parts[left_out]), HasSubstr("says twice"));
  }
}

TEST(Appointment, IsNothingElse) {
  EXPECT_THAT(refusal(""), HasSubstr("does not say what address is"));
  const std::string right = with_address("a:1");
  for (const std::string text : {",", ",,", "address", "rank", "=", "=1", "nodes=4", "Rank=1", " rank=1",
                                 "rank =1", "port=7000", "keys=/k", "key"}) {
    EXPECT_THAT(refusal(text + "," + right), HasSubstr("is none of address=, rank=, size= and key=")) << text;
    if (text == ",") continue;  // one comma at the end does no harm
    EXPECT_THAT(refusal(right + "," + text), HasSubstr("is none of address=, rank=, size= and key=")) << text;
  }
  EXPECT_THAT(refusal(right + ",,"), HasSubstr("is none of"));
  EXPECT_THAT(refusal(right + ",key_readers=all"), HasSubstr("key_readers is any"));
  EXPECT_THAT(refusal(";rank=1"), HasSubstr("\";rank=1\" is none of"));
}

TEST(Appointment, SaysWhatItWasGivenAndHowItIsMeant) {
  EXPECT_THAT(refusal("rank=1"),
              AllOf(HasSubstr("AM_JOB="), HasSubstr("rank=1"), HasSubstr("for example AM_JOB=")));
}

TEST(Appointment, TakesNamesAndAddresses) {
  for (const std::string host : {"10.0.0.2", "localhost", "job-0.job.default.svc.cluster.local"})
    EXPECT_EQ(parse_appointment(with_address(host + ":7000")).host, host);
  for (const std::string host : {"::1", "fd00::2", "fe80::1%eth0", "::"})
    EXPECT_EQ(parse_appointment(with_address("[" + host + "]:7000")).host, host);
  for (const std::string address :
       {"a", ":", ":7000", "::1:7000", "fd00::2:7000", "[::1]", "[::1]7000", "[::1:7000", "::1]:7000",
        "[a]:7000", "[10.0.0.2]:7000", "[]:7000", "[:7000", "a:b:7000", "[::1]:x:7000", "[[::1]]x:7000"})
    EXPECT_THAT(refusal(with_address(address)), HasSubstr("is no address")) << address;
}

TEST(Appointment, TakesPortsThatThereAre) {
  for (const int port : {1, 65535})
    EXPECT_EQ(parse_appointment(with_address("a:" + std::to_string(port))).port, port);
  for (const std::string port : {"0", "00", "65536", "70000", "4294967297", "18446744073709551617", "-1",
                                 "+1", "1x", "x", " 1", "1 ", "0x10", "1.0", "http", ""})
    EXPECT_THAT(refusal(with_address("a:" + port)), HasSubstr("is no address: HOST:PORT")) << port;
}

TEST(Appointment, TakesRanksBelowItsSize) {
  for (const std::uint32_t size : {1u, std::uint32_t{host::max_nodes}}) {
    const Appointment last = parse_appointment(with_place(std::to_string(size - 1), std::to_string(size)));
    EXPECT_TRUE(last.rank == size - 1 && last.size == size) << size;
  }
  for (const std::string rank : {"4", "5", "-1", "4294967295", "4294967296", "x", "1x", " 1", "0x1"})
    EXPECT_THAT(refusal(with_place(rank, "4")), HasSubstr("rank is from 0 to 3")) << rank;
  EXPECT_THAT(refusal(with_place("1", "1")), HasSubstr("rank is from 0 to 0"));
  for (const std::string size : {"0", "-1", "x", "4294967297", "1e3"})
    EXPECT_THAT(refusal(with_place("0", size)),
                HasSubstr("size is from 1 to " + std::to_string(host::max_nodes)))
        << size;
  EXPECT_THAT(refusal(with_place("0", std::to_string(host::max_nodes + 1))), HasSubstr("size is from 1 to"));
}

/// Names of files may hold anything but commas.
TEST(Appointment, TakesKeyFilesAsTheyAreNamed) {
  for (const std::string file : {"/a=b", "key", "/with space", "/size:4"})
    EXPECT_EQ(parse_appointment("address=a:1,rank=0,size=2,key=" + file).key_file, file);
}

class KeyFile : public testing::Test {
 protected:
  KeyFile() {
    std::string folder = std::filesystem::temp_directory_path() / "am_appointment_test_XXXXXX";
    folder_ = mkdtemp(folder.data());
  }
  ~KeyFile() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name = "key") const { return folder_ / name; }
  void write(const std::string& content, mode_t mode = 0600) const {
    std::filesystem::remove(path());
    std::ofstream(path(), std::ios::binary) << content;
    ASSERT_EQ(chmod(path().c_str(), mode), 0);
  }
  [[nodiscard]] static std::string read(const std::string& file) {
    const std::vector<std::byte> key = read_key(file);
    return {reinterpret_cast<const char*>(key.data()), key.size()};
  }
  [[nodiscard]] std::string refused(const std::string& name = "key") const {
    return error_of([&] { static_cast<void>(read_key(path(name))); });
  }

  std::filesystem::path folder_;
};

const std::string secret = "sixteen bytes...";

TEST_F(KeyFile, IsReadAsItIs) {
  for (const std::string& key :
       {secret, std::string(32, '\0'), std::string(16, '\xff'), std::string("a secret\nof two lines"),
        secret + " ", secret + "\r", std::string(4096, 'x')}) {
    write(key);
    EXPECT_EQ(read(path()), key);
  }
  // But for one end of a line, which editors and echo put there. A key of random bytes may end so.
  write(secret + "\n");
  EXPECT_EQ(read(path()), secret);
  write(secret + "\n\n");
  EXPECT_EQ(read(path()), secret + "\n");
}

TEST_F(KeyFile, IsNeitherShortNorLong) {
  for (const std::string key : {"", "\n", "secret", "fifteen bytes..", "fifteen bytes..\n"}) {
    write(key);
    EXPECT_THAT(refused(), AllOf(HasSubstr("shorter than 16 bytes"), HasSubstr("/dev/urandom"))) << key;
  }
  for (const std::size_t size : {std::size_t{4097}, std::size_t{5000}, std::size_t{1} << 20}) {
    write(std::string(size, 'x'));
    EXPECT_THAT(refused(), HasSubstr("longer than 4096 bytes")) << size;
  }
}

TEST_F(KeyFile, HasToBeThere) {
  EXPECT_THAT(refused(), AllOf(HasSubstr(path()), HasSubstr("No such file"), HasSubstr("/dev/urandom")));
  EXPECT_THAT(error_of([] { static_cast<void>(read_key("")); }), HasSubstr("cannot be read"));
  write(secret);
  EXPECT_THAT(refused("key/inside"), HasSubstr("Not a directory"));
}

TEST_F(KeyFile, IsAFile) {
  EXPECT_THAT(refused("."), HasSubstr("is no file")) << "a folder";
  EXPECT_THAT(error_of([] { static_cast<void>(read_key("/dev/zero")); }), HasSubstr("is no file"))
      << "a device";
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_THAT(refused("fifo"), HasSubstr("is no file"))
      << "a pipe to which nobody writes: waiting would be for ever";
  const host::Descriptor writer(open(path("fifo").c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(::write(writer.get(), secret.data(), secret.size()), static_cast<ssize_t>(secret.size()));
  EXPECT_THAT(refused("fifo"), HasSubstr("is no file"));
  const host::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string place = path("socket");
  ASSERT_LT(place.size(), sizeof address.sun_path);
  place.copy(address.sun_path, place.size());
  ASSERT_EQ(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(refused("socket"), HasSubstr("cannot be read"));
}

/// As orchestrators of containers put secrets there.
TEST_F(KeyFile, MayBeBehindALink) {
  write(secret);
  std::filesystem::create_symlink("key", path("link"));
  EXPECT_EQ(read(path("link")), secret);
  std::filesystem::create_symlink("link2", path("link2"));
  EXPECT_THAT(refused("link2"), HasSubstr("cannot be read"));
}

/// A container that has a group of its own finds root's file readable for that group.
TEST_F(KeyFile, IsNobodyElsesToRead) {
  std::vector<mode_t> good = {0600, 0400, 0700, 0500};
  std::vector<mode_t> bad = {0620, 0610, 0604, 0602, 0601, 0644, 0666, 0777};
  (geteuid() == 0 ? good : bad).push_back(0640);
  for (const mode_t mode : good) {
    write(secret, mode);
    EXPECT_EQ(read(path()), secret) << std::oct << mode;
  }
  for (const mode_t mode : bad) {
    // Looked at before what it says: whoever may not give a key is not told how long it is.
    for (const std::string& key : {secret, std::string("short")}) {
      write(key, mode);
      EXPECT_THAT(refused(), AllOf(HasSubstr("may be read or written by others"), HasSubstr("chmod 600"),
                                   HasSubstr("key_readers=any")))
          << std::oct << mode;
    }
    // Where anybody may read it, nobody else writes it.
    write(secret, mode);
    EXPECT_THAT(error_of([&] { static_cast<void>(read_key(path(), KeyReaders::any)); }),
                HasSubstr((mode & (S_IWGRP | S_IWOTH)) != 0 ? "may be written by others" : "no error"))
        << std::oct << mode;
  }
}

TEST_F(KeyFile, BelongsToThisUser) {
  write(secret);
  constexpr uid_t nobody = 65534;
  if (chown(path().c_str(), nobody, nobody) != 0) GTEST_SKIP() << "this user cannot give files away";
  EXPECT_THAT(refused(), HasSubstr("belongs to another user"));
}

/// Root's, for the group of this process: as an ordinary user, which is tested from root only.
TEST_F(KeyFile, MayBeRootsForAGroup) {
  if (geteuid() != 0) GTEST_SKIP() << "this user cannot make root's files";
  constexpr uid_t somebody = 65534;
  constexpr gid_t group = 65533;
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  const auto as_somebody = [&](mode_t mode) {
    write(secret, 0600);
    EXPECT_EQ(chown(path().c_str(), 0, group), 0);
    EXPECT_EQ(chmod(path().c_str(), mode), 0);
    // Of this thread's process: only one thread is here.
    EXPECT_EQ(setegid(group), 0);
    EXPECT_EQ(seteuid(somebody), 0);
    std::string key;
    const std::string error = error_of([&] { key = read(path()); });
    EXPECT_EQ(seteuid(0), 0);
    EXPECT_EQ(setegid(0), 0);
    return key + error;
  };
  EXPECT_EQ(as_somebody(0640), secret + "no error");
  EXPECT_EQ(as_somebody(0440), secret + "no error");
  for (const mode_t mode : {0460u, 0450u, 0444u, 0664u, 0644u})
    EXPECT_THAT(as_somebody(mode), HasSubstr("may be read or written by others")) << std::oct << mode;
  EXPECT_THAT(as_somebody(0600), HasSubstr("Permission denied"));
}

}  // namespace am::core::appointment_test
