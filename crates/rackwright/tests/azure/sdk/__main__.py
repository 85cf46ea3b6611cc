"""Drives a running Rackwright with Azure's own SDKs, and holds every answer against the SDKs' models.

usage: python sdk --base https://127.0.0.1:PORT --ca FILE --client ID --secret-file FILE [--only PART ...]

Prints a line for each check and each mismatch, and fails if one of them failed. The server must be one that was just started by
`rackwright up --machines-per-rack 3`, as the checks count machines and act on them.
"""

import argparse
import pathlib
import sys

import acting
import entering
import key_sets
import neighbours
import reading
import tenants
import writing
from checks import Checks

PARTS = {
    "reading": reading.run,
    "writing": writing.run,
    "key_sets": key_sets.run,
    "tenants": tenants.run,
    "acting": acting.run,
    "failing": acting.failing,
    "neighbours": neighbours.run,
    "entering": entering.run,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", required=True)
    parser.add_argument("--ca", required=True)
    parser.add_argument("--client", required=True)
    parser.add_argument("--secret-file", required=True, type=pathlib.Path)
    parser.add_argument("--group", default="site1")
    # It breaks a simulated machine; RACKWRIGHT_HOME says whose.
    parser.add_argument("--rackwright", default="rackwright")
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS))
    options = parser.parse_args()
    options.secret = options.secret_file.read_text().strip()
    checks = Checks(options)
    for part in options.only:
        print(f"\n== {part}")
        PARTS[part](checks)
    checks.failed += checks.mismatches.tell(is_whole=options.only == list(PARTS))
    print(f"\n{checks.passed} checks passed, {checks.failed} failed")
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()
