"""Passes statements to ClickHouse inside its package for Python, which shows C nothing to call. Each question is one JSON
document on a line, and so is the answer; the bytes of a result are written as hexadecimal digits."""

import json
import os
import sys

package, data = sys.argv[1:]
answers = os.fdopen(os.dup(1), "w", encoding="ascii")
# What the engine itself prints goes where nobody takes it for an answer.
os.dup2(2, 1)
# It looks for the libraries that came with it from where they are. The rest of the package is not needed.
os.chdir(package)
sys.path.insert(0, package)
import _chdb

connection = _chdb.connect(data)


def answer(question):
    try:
        return {"answer": bytes(connection.query(question["sql"], question["format"]).bytes()).hex()}
    except RuntimeError as error:
        return {"error": str(error)}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
