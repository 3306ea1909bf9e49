// kPlantedBug: whether a parser has the bug that a fuzzer must be able to find. Only `make fuzz` compiles the parsers a
// second time with it, and fails if the fuzzer finds nothing there: a fuzzer that cannot find a bug proves none away.
#pragma once

namespace tethys {

#ifdef TETHYS_PLANT_BUG
constexpr bool kPlantedBug = true;
#else
constexpr bool kPlantedBug = false;
#endif

}  // namespace tethys
