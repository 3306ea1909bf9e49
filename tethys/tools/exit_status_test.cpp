#include "tools/exit_status.h"

#include <gtest/gtest.h>

#include <new>

#include "base/error.h"
#include "pjrt/error.h"
#include "train/fit.h"

namespace tethys {
namespace {

TEST(ExitStatus, FollowsTheKindOfTheError) {
  EXPECT_EQ(exit_status_of(UserError("x")), 2);
  EXPECT_EQ(exit_status_of(InternalError("x")), 1);
  EXPECT_EQ(exit_status_of(pjrt::PjrtError(pjrt::ErrorCode::Internal, "x", "f", "p")), 1);
  EXPECT_EQ(exit_status_of(pjrt::PjrtError(pjrt::ErrorCode::ResourceExhausted, "x", "f", "p")), 3);
  EXPECT_EQ(exit_status_of(std::bad_alloc()), 3);
  EXPECT_EQ(exit_status_of(DoesNotFitError("x")), 3);
  EXPECT_EQ(exit_status_of(DiskError("x")), 1);
}

TEST(ExitStatus, MemoryThatThereIsNotComesWithWhatToLower) {
  EXPECT_EQ(message_of(UserError("x")), "x");
  EXPECT_NE(message_of(std::bad_alloc()).find("lower training.local_batch_size"), std::string::npos);
}

}  // namespace
}  // namespace tethys
