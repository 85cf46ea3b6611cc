"""Fails if there is an operation in the OpenAPI document that the run of `tools/fuzz` as this one never sent, and names it."""

import json
import os
import pathlib
import sys

METHODS = {"get", "put", "post", "patch", "delete", "head"}
# The stream of events never ends, and a backup is the whole store.
LEFT_OUT = {"GET /rackwright/v1/events", "POST /rackwright/v1/backup"}

paths = json.loads(pathlib.Path("docs/openapi.json").read_text())["paths"]
described = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods if method in METHODS}
who = sys.argv[1]
sent = set((pathlib.Path(os.environ["RACKWRIGHT_HOME"]) / f"sent-by-{who}").read_text().splitlines())
never = sorted(described - LEFT_OUT - sent)
for operation in never:
    print(f"never sent by {who}: {operation}")
sys.exit(bool(never))
