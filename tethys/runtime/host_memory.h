// Host memory: how much freed memory the process keeps. A CPU plugin takes a program's temporaries from malloc at every
// run. By default they go back to the system each time, and their pages are cleared and mapped again: a fifth of a
// small model's step. Kept without limit, a stray block in the middle of the last run's temporaries makes the next run
// take new ones, several times over. So freed memory is kept, and given back when it is more than a run explains.
//
// malloc is jemalloc: a compiler on several threads spends a third of its time waiting for the one heap that glibc
// would have to be limited to, or else for heaps that it maps and unmaps. A sanitizer brings a malloc of its own, which
// keeps nothing.
//
//   wait_until_allocated(most, limit);       // before each run on a CPU: the last run's temporaries are free again
//   trim_freed_memory(needed, fresh);
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace tethys {

// Bytes of memory that the process holds; 0 if the system does not say.
int64_t resident_memory();

// Bytes of the machine's memory, or of the container's where that has less.
int64_t physical_memory();

// `cgroup` is what memory.max says: a number of bytes, or "max".
int64_t limit_of(std::string_view cgroup, int64_t physical);

// The most that may be resident before a run that needs `needed` bytes in all, `fresh` of which it will allocate: a
// quarter more than needed, and no more than leaves room for all that is fresh.
int64_t resident_limit(int64_t needed, int64_t fresh, int64_t physical);

// Bytes that malloc has given out and not got back; 0 where it does not say.
int64_t allocated_memory();

// Waits until those are at most `most`, and no longer than `limit`. Gives whether they are.
bool wait_until_allocated(int64_t most, std::chrono::milliseconds limit);

// Gives all free pages back to the system if more is resident than the limit. Gives whether it did.
bool trim_freed_memory(int64_t needed, int64_t fresh);

}  // namespace tethys
