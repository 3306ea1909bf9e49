"""What a run of ctest came to, counted in test cases."""
import json
import xml.etree.ElementTree as xml


def count(results, junit):
    """(passed, failed, skipped) from ctest's report and the programs' own, results/PROGRAM.json.

    A program that dies, or that is no GoogleTest, counts as one case."""
    passed = failed = skipped = 0
    for program in xml.parse(junit).getroot().iter("testcase"):
        died = program.get("status") != "run"
        report = results / (program.get("name") + ".json")
        failures = 0
        if report.exists():
            cases = [case for suite in json.loads(report.read_text())["testsuites"] for case in suite["testsuite"]]
            for case in cases:
                failures += "failures" in case
                skipped += case["result"] != "COMPLETED"
                passed += "failures" not in case and case["result"] == "COMPLETED"
        elif not died:
            passed += 1
        failed += failures or died
    return passed, failed, skipped
