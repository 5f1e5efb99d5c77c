#include "agent/profile/profile_file.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace memagent::profile {
namespace {

namespace fs = std::filesystem;

class ProfileFileTest : public testing::Test {
 protected:
  ProfileFileTest() {
    std::string folder = testing::TempDir() + "/profile_file_XXXXXX";
    folder_ = mkdtemp(folder.data());
  }
  ~ProfileFileTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string Read(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  static bool Append(ProfileFile& file, std::string_view text) {
    return file.Append(std::span<const char>(text));
  }

  fs::path folder_;
};

TEST_F(ProfileFileTest, CreatesAFileOnlyItsOwnerCanRead) {
  ProfileFile file;
  ASSERT_TRUE(file.Create(Path("a.memagent")));
  EXPECT_EQ(file.path(), Path("a.memagent"));
  ASSERT_TRUE(Append(file, "hello "));
  ASSERT_TRUE(Append(file, "world"));
  EXPECT_EQ(Read(Path("a.memagent")), "hello world");
  EXPECT_EQ(file.size_bytes(), 11u);
  struct stat facts = {};
  ASSERT_EQ(stat(Path("a.memagent").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(ProfileFileTest, ExistingFilesAreNeverOverwritten) {
  std::ofstream(Path("a.memagent")) << "precious";
  std::ofstream(Path("a.1.memagent")) << "precious";
  ProfileFile file;
  ASSERT_TRUE(file.Create(Path("a.memagent")));
  EXPECT_EQ(file.path(), Path("a.2.memagent"));
  EXPECT_EQ(Read(Path("a.memagent")), "precious");
  EXPECT_EQ(Read(Path("a.1.memagent")), "precious");
}

TEST_F(ProfileFileTest, SymbolicLinksAreNotFollowed) {
  fs::create_symlink(Path("target"), Path("a.memagent"));
  ProfileFile file;
  ASSERT_TRUE(file.Create(Path("a.memagent")));
  EXPECT_EQ(file.path(), Path("a.1.memagent"));
  EXPECT_FALSE(fs::exists(Path("target")));
}

TEST_F(ProfileFileTest, MissingFolderIsOneSentence) {
  ProfileFile file;
  EXPECT_FALSE(file.Create(Path("no/a.memagent")));
  EXPECT_EQ(file.problem(), FileProblem::kNoFolder);
  EXPECT_EQ(std::string_view(file.Sentence()),
            "Cannot write the profile " + Path("no/a.memagent") +
                ": its folder does not exist; create it, or name another place with output=.");
  EXPECT_FALSE(Append(file, "x"));
}

TEST_F(ProfileFileTest, FolderAndDeviceAreNotFiles) {
  ProfileFile folder;
  EXPECT_FALSE(folder.Create(folder_.string()));
  EXPECT_EQ(folder.problem(), FileProblem::kNotAFile);
  ProfileFile device;
  EXPECT_FALSE(device.Create("/dev/null"));
  EXPECT_EQ(device.problem(), FileProblem::kNotAFile);
}

TEST_F(ProfileFileTest, UnwritableFolderIsNotAllowed) {
  ProfileFile file;
  EXPECT_FALSE(file.Create("/proc/a.memagent"));  // refuses root too
  EXPECT_NE(file.problem(), FileProblem::kNone);
}

TEST_F(ProfileFileTest, ClosedFileIsOpenedAgainAndContinued) {
  ProfileFile file;
  ASSERT_TRUE(file.Create(Path("a")));
  ASSERT_TRUE(Append(file, "one"));
  file.Close();
  ASSERT_TRUE(Append(file, "two"));
  EXPECT_EQ(Read(Path("a")), "onetwo");
}

TEST_F(ProfileFileTest, AFileThatTookTheNameIsLeftAlone) {
  ProfileFile file;
  ASSERT_TRUE(file.Create(Path("a")));
  file.Close();
  fs::rename(Path("a"), Path("b"));
  std::ofstream(Path("a")) << "other";
  EXPECT_FALSE(Append(file, "x"));
  EXPECT_EQ(file.problem(), FileProblem::kReplaced);
  EXPECT_EQ(Read(Path("a")), "other");
}

TEST_F(ProfileFileTest, RewriteReplacesInOneStep) {
  ProfileFile file;
  ASSERT_TRUE(file.Create(Path("a.memagent")));
  ASSERT_TRUE(Append(file, "long old contents"));
  ASSERT_TRUE(file.BeginRewrite());
  ASSERT_TRUE(Append(file, "new"));
  EXPECT_EQ(Read(Path("a.memagent")), "long old contents");
  ASSERT_TRUE(file.EndRewrite());
  ASSERT_TRUE(Append(file, "er"));
  EXPECT_EQ(Read(Path("a.memagent")), "newer");
  EXPECT_EQ(file.size_bytes(), 5u);
  EXPECT_EQ(file.written_bytes(), 22u);
  EXPECT_EQ(file.rewrites(), 1u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(ProfileFileTest, RewriteDoesNotClobberAFileThatTookTheName) {
  ProfileFile file;
  ASSERT_TRUE(file.Create(Path("a")));
  ASSERT_TRUE(file.BeginRewrite());
  fs::remove(Path("a"));
  std::ofstream(Path("a")) << "other";
  EXPECT_FALSE(file.EndRewrite());
  EXPECT_EQ(file.problem(), FileProblem::kReplaced);
  EXPECT_EQ(Read(Path("a")), "other");
}

TEST_F(ProfileFileTest, LinkAtTheTemporaryNameIsNotWrittenThrough) {
  std::ofstream(Path("precious")) << "precious";
  ProfileFile file;
  ASSERT_TRUE(file.Create(Path("a")));
  ASSERT_TRUE(Append(file, "old"));
  fs::create_symlink(Path("precious"), Path("a.new"));
  fs::create_hard_link(Path("precious"), Path("a.new.1"));
  ASSERT_TRUE(file.BeginRewrite());
  ASSERT_TRUE(Append(file, "new"));
  ASSERT_TRUE(file.EndRewrite());
  EXPECT_EQ(Read(Path("a")), "new");
  EXPECT_EQ(Read(Path("precious")), "precious");
}

TEST_F(ProfileFileTest, SizeLimitEndsTheWritingWithoutASignal) {
  struct rlimit old = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  ProfileFile file;
  ASSERT_TRUE(file.Create(Path("a")));
  ASSERT_TRUE(Append(file, "12345678"));
  struct rlimit small = {10, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_FALSE(Append(file, "abcdefgh"));  // SIGXFSZ would kill this test
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  EXPECT_EQ(file.problem(), FileProblem::kSizeLimit);
  EXPECT_EQ(Read(Path("a")), "12345678");
  EXPECT_FALSE(Append(file, "x")) << "a problem ends the writing for good";
}

TEST_F(ProfileFileTest, HardCapEndsTheWriting) {
  ProfileFile file;
  ASSERT_TRUE(file.Create(Path("a")));
  const std::string big(kMaxProfileBytes + 1, 'x');
  EXPECT_FALSE(Append(file, big));
  EXPECT_EQ(file.problem(), FileProblem::kTooBig);
  EXPECT_FALSE(fs::exists(Path("a"))) << "a profile without a chunk can't be read";
}

TEST_F(ProfileFileTest, UmaskDoesNotTakeTheOwnersRights) {
  const mode_t old = umask(0777);
  ProfileFile file;
  const bool created = file.Create(Path("a"));
  umask(old);
  ASSERT_TRUE(created);
  struct stat facts = {};
  ASSERT_EQ(stat(Path("a").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(ProfileFileTest, LinkToADeviceIsNotAFile) {
  fs::create_symlink("/dev/null", Path("a.memagent"));
  ProfileFile file;
  EXPECT_FALSE(file.Create(Path("a.memagent")));
  EXPECT_EQ(file.problem(), FileProblem::kNotAFile);
}

TEST_F(ProfileFileTest, OpenedFileIsContinuedThoughItsNameIsGone) {
  ProfileFile file;
  ASSERT_TRUE(file.Create(Path("a")));
  ASSERT_TRUE(Append(file, "one "));
  file.Close();
  file.Open();
  fs::create_hard_link(Path("a"), Path("b"));
  fs::remove(Path("a"));
  EXPECT_TRUE(Append(file, "two"));
  EXPECT_EQ(Read(Path("b")), "one two");
}

TEST_F(ProfileFileTest, FullDiskLeavesWholeChunksOnly) {
  const std::string mount_point = Path("small");
  fs::create_directory(mount_point);
  if (mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "needs the right to mount a small tmpfs (root): " << std::strerror(errno);
  }
  {
    ProfileFile file;
    ASSERT_TRUE(file.Create(mount_point + "/a.memagent"));
    const std::string chunk(20 << 10, 'x');
    int stored = 0;
    while (Append(file, chunk)) ++stored;
    EXPECT_EQ(stored, 3);
    EXPECT_EQ(file.problem(), FileProblem::kDiskFull);
    EXPECT_EQ(fs::file_size(mount_point + "/a.memagent"), 3u * chunk.size());
  }
  EXPECT_EQ(umount(mount_point.c_str()), 0);
}

}  // namespace
}  // namespace memagent::profile
