"""Made-up trees: what the include check must refuse, and what it must let pass."""
import pathlib
import tempfile
import unittest

from include_arrows import check

TABLE = """
tethys_folder(base USES fmt::fmt)
tethys_folder(values DEPENDS base)
tethys_folder(pjrt DEPENDS base values
              USES dl SYSTEM_INCLUDES ${TETHYS_DEPS}/include)
"""


class IncludeArrows(unittest.TestCase):
    def errors(self, table=TABLE, **files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "CMakeLists.txt").write_text(table)
            for name, text in files.items():
                path = root / "tethys" / name.replace("__", "/").replace("_h", ".h").replace("_cpp", ".cpp")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check(root)

    def test_downward_and_own_includes_pass(self):
        text = '#include "pjrt/client.h"\n#include "values/mesh.h"\n#include <vector>\n#include "xla/pjrt/c/pjrt_c_api.h"\n'
        self.assertEqual(self.errors(pjrt__client_cpp=text, values__mesh_h='#include "base/error.h"\n'), [])

    def test_an_upward_include_fails(self):
        wanted = "tethys/base/log.cpp: includes values/mesh.h, but base does not depend on values"
        self.assertEqual(self.errors(base__log_cpp='#include "values/mesh.h"\n'), [wanted])
        self.assertEqual(self.errors(base__log_cpp="  # include <values/mesh.h>\n"), [wanted])

    def test_plugin_headers_are_for_folders_that_declare_them(self):
        self.assertEqual(len(self.errors(values__a_h='#include "xla/ffi/api/ffi.h"\n')), 1)

    def test_heavy_headers_stay_out_of_headers(self):
        self.assertEqual(len(self.errors(base__json_h="#include <nlohmann/json.hpp>\n")), 1)
        self.assertEqual(self.errors(base__json_cpp="#include <nlohmann/json.hpp>\n"), [])

    def test_a_component_is_a_row_too(self):
        table = TABLE + "tethys_parquet_component(reader DEPENDS base\n                         PROGRAMS tethys values)\n"
        self.assertEqual(self.errors(table=table, reader__a_cpp='#include "base/error.h"\n'), [])
        self.assertEqual(len(self.errors(table=table, reader__a_cpp='#include "values/mesh.h"\n')), 1)
        self.assertEqual(len(self.errors(table=table, values__a_cpp='#include "reader/a.h"\n')), 1)

    def test_a_folder_without_a_row_fails(self):
        self.assertEqual(len(self.errors(extra__a_h="")), 1)

    def test_a_cycle_in_the_table_fails(self):
        cycle = "tethys_folder(a DEPENDS b)\ntethys_folder(b DEPENDS a)\n"
        self.assertEqual(len(self.errors(table=cycle, a__x_h="")), 1)
        self.assertEqual(len(self.errors(table="tethys_folder(a DEPENDS a)\n", a__x_h="")), 1)


if __name__ == "__main__":
    unittest.main()
