"""Runs a test of faults to its end and writes the table with where it comes from."""

import datetime
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import traceback

from machines import Failed

PARTS = pathlib.Path(__file__).parent


def show_row(row, columns):
    print("  " + ", ".join(f"{title} {row[key]}" for key, title in columns.items() if key in row), flush=True)


def write(given, columns, rows, notes, failures, settings):
    """The program, the machine and the settings, the rows, and notes; as Markdown and as JSON."""
    version = subprocess.run([given.garson, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    commit = subprocess.run(
        ["git", "-C", PARTS, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    ).stdout.strip()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    facts = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit,
        "program": version,
        "machine": f"{os.cpu_count()} cores, {memory} GiB, Linux {'.'.join(platform.release().split('.')[:2])}",
        **settings,
    }
    lines = [f"{name}: {value}" for name, value in facts.items()] + [""]
    lines.append("| " + " | ".join(columns.values()) + " |")
    lines.append("|" + "---|" * len(columns))
    lines += ["| " + " | ".join("–" if row[key] is None else str(row[key]) for key in columns) + " |" for row in rows]
    if notes:
        lines += ["", *[f"- {note}" for note in notes]]
    print("\n" + "\n".join(lines), flush=True)
    given.results.mkdir(parents=True, exist_ok=True)
    (given.results / "results.md").write_text("\n".join(lines) + "\n")
    result = {**facts, "rows": rows, "notes": notes, "failures": failures}
    (given.results / "results.json").write_text(json.dumps(result, indent=2) + "\n")


def main(given, faults, make_run):
    """`make_run` returns an object with `all`, `report` and the list `failures`. Returns the exit status."""
    if given.list:
        for name, fault in faults.items():
            print(f"{name:26} {fault.__doc__}")
        return 0
    if given.check:
        return 0
    # An exception, so that nothing goes on; the calling script ends all processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run = make_run()
    # What was measured until a failure is still of use.
    try:
        run.all()
    except Failed as failure:
        run.failures.append(str(failure))
    except SystemExit:
        run.failures.append("interrupted")
    except Exception:
        run.failures.append(traceback.format_exc())
    run.report()
    for failure in run.failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    return 1 if run.failures else 0
