#include "runtime/ledger.h"

#include <gtest/gtest.h>

namespace tethys {
namespace {

using pjrt::MemoryKind;

TEST(Ledger, CountsBySpaceAndKind) {
  Ledger ledger;
  ledger.add(MemoryKind::Default, ArrayKind::Parameter, 100);
  ledger.add(MemoryKind::Default, ArrayKind::Optimizer, 200);
  ledger.add(MemoryKind::PinnedHost, ArrayKind::Result, 50);
  ledger.remove(MemoryKind::Default, ArrayKind::Parameter, 30);
  EXPECT_EQ(ledger.live(MemoryKind::Default, ArrayKind::Parameter), 70);
  EXPECT_EQ(ledger.live(MemoryKind::Default), 270);
  EXPECT_EQ(ledger.live(MemoryKind::Device), 270);  // the same memory
  EXPECT_EQ(ledger.live(MemoryKind::PinnedHost), 50);
}

TEST(Ledger, KeepsTheMostOfEachKind) {
  Ledger ledger;
  ledger.add(MemoryKind::PinnedHost, ArrayKind::Residual, 30);
  ledger.add(MemoryKind::PinnedHost, ArrayKind::Residual, 20);
  ledger.remove(MemoryKind::PinnedHost, ArrayKind::Residual, 45);
  ledger.add(MemoryKind::PinnedHost, ArrayKind::Residual, 1);
  EXPECT_EQ(ledger.peak(MemoryKind::PinnedHost, ArrayKind::Residual), 50);
  EXPECT_EQ(ledger.peak(MemoryKind::Default, ArrayKind::Residual), 0);
}

TEST(Ledger, ThePeakHoldsWhatARunNeedsBesides) {
  Ledger ledger;
  ledger.add(MemoryKind::Default, ArrayKind::Parameter, 100);
  ledger.run(70);
  ledger.remove(MemoryKind::Default, ArrayKind::Parameter, 60);
  EXPECT_EQ(ledger.peak(), 170);
  ledger.add(MemoryKind::PinnedHost, ArrayKind::Parameter, 1000);  // host memory is not the device's
  EXPECT_EQ(ledger.peak(), 170);
}

}  // namespace
}  // namespace tethys
