// The component that tethys/data/sources/parquet.cpp loads: this folder as a shared library on Arrow.
#include <arrow/util/config.h>

#include "data/sources/parquet.h"
#include "parquet_reader/rows.h"

extern "C" __attribute__((visibility("default"))) const char tethys_parquet_interface[] = TETHYS_PARQUET_INTERFACE;

extern "C" __attribute__((visibility("default")))
const tethys::ParquetComponent tethys_parquet{"Arrow " ARROW_VERSION_STRING, tethys::open_rows};
