// parallel_for: the items 0 … count-1 over several threads, claimed one by one in order.
//
//   parallel_for(files.size(), 0, [&](int worker, int64_t i) { counts[worker].add(files[i]); });
#pragma once

#include <cstdint>
#include <functional>

namespace tethys {

// `threads`, or all the machine's if it is 0 or less.
int thread_count(int threads);

// Calls body(worker, index) with worker in [0, thread_count(threads)); the caller works too. If bodies throw, the rest
// is not begun and the exception of the lowest index is thrown: the same one whatever the number of threads.
void parallel_for(int64_t count, int threads, const std::function<void(int worker, int64_t index)>& body);

}  // namespace tethys
