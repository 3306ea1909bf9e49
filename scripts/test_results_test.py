"""A crash, a failure outside of any case and a program without cases must all be counted."""
import json
import pathlib
import tempfile
import unittest

from test_results import count


class Count(unittest.TestCase):
    def count(self, programs, reports):
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder)
            rows = "".join(f'<testcase name="{name}" status="{status}"/>' for name, status in programs.items())
            (results / "ctest.xml").write_text(f"<testsuite>{rows}</testsuite>")
            for name, cases in reports.items():
                (results / f"{name}.json").write_text(json.dumps({"testsuites": [{"testsuite": cases}]}))
            return count(results, results / "ctest.xml")

    PASSED = {"result": "COMPLETED"}
    FAILED = {"result": "COMPLETED", "failures": [{}]}
    SKIPPED = {"result": "SKIPPED"}

    def test_cases_are_added_over_programs(self):
        reports = {"a": [self.PASSED, self.PASSED, self.SKIPPED], "b": [self.PASSED, self.FAILED, self.FAILED]}
        self.assertEqual(self.count({"a": "run", "b": "fail"}, reports), (3, 2, 1))

    def test_a_program_that_dies_counts_as_a_failure(self):
        self.assertEqual(self.count({"a": "fail"}, {}), (0, 1, 0))
        self.assertEqual(self.count({"a": "fail"}, {"a": [self.PASSED]}), (1, 1, 0))

    def test_a_program_without_cases_counts_as_one(self):
        self.assertEqual(self.count({"a": "run"}, {}), (1, 0, 0))


if __name__ == "__main__":
    unittest.main()
