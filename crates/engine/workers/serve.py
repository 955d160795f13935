"""What every worker in Python has in common: Dissent's requests, one JSON document on a line each, and an answer to each.
Values and errors are spelled as Dissent spells them in its own files."""

import json
import math
import os
import signal
import sys


class Failure(Exception):
    """An error of the engine; `kind` is Dissent's word for its class."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def value(cell):
    """A value of Python's own types, as Dissent spells it."""
    if cell is None:
        return "null"
    if isinstance(cell, bool):
        return {"bool": cell}
    if isinstance(cell, int):
        return {"int": cell} if -(2**63) <= cell < 2**63 else {"decimal": str(cell)}
    if isinstance(cell, float):
        return {"real": cell if math.isfinite(cell) else "NaN" if cell != cell else "inf" if cell > 0 else "-inf"}
    if isinstance(cell, str):
        return {"text": cell}
    return {"blob": bytes(cell).hex()}


def parameter(sent):
    """The value of a parameter, of Python's own types."""
    if not isinstance(sent, dict):
        return None
    ((kind, inner),) = sent.items()
    if kind == "real":
        return float(inner)
    if kind == "blob":
        return bytes.fromhex(inner)
    return inner["text"] if kind == "other" else inner


class Statements:
    """Keeps the texts of prepared statements, for engines that keep none by themselves in Python."""

    def __init__(self):
        self.texts = {}

    def keep(self, number, sql):
        self.texts[number] = sql

    def text(self, number):
        if number not in self.texts:
            raise Failure("semantic", f"there is no prepared statement {number}")
        return self.texts[number]

    def close(self, number):
        self.texts.pop(number, None)


def within(limits, count):
    """Raises if a result has more rows than it may."""
    if count > limits["rows"]:
        raise Failure("limit", f"more than {limits['rows']} rows")


def serve(version, database):
    """Greets with the engine's version, then answers until the input ends. A database has `limits` and the methods `reset()`,
    `execute(sql)`, `prepare(number, sql)`, `run(number, values)` and `close(number)`. A result is
    `(columns, values)` or the number of rows that were changed."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What the engine itself prints goes where nobody takes it for an answer.
    os.dup2(2, 1)

    def say(told):
        print(json.dumps(told), file=answers, flush=True)

    def late(*_):
        raise Failure("limit", "it took too long")

    # An engine that lets Python look for signals is cut off so; one that does not is ended by Dissent.
    signal.signal(signal.SIGALRM, late)
    say({"ready": version})
    for line in sys.stdin:
        try:
            signal.setitimer(signal.ITIMER_REAL, database.limits["millis"] / 1000)
            told = answer(json.loads(line), database)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except Failure as failure:
            signal.setitimer(signal.ITIMER_REAL, 0)
            told = {"failed": {"class": failure.kind, "code": "", "message": str(failure)}}
        say(told)


def answer(request, database):
    result = 0
    if request["do"] == "reset":
        database.reset()
    elif request["do"] == "limit":
        database.limits = request["limits"]
    elif request["do"] == "execute":
        result = database.execute(request["sql"])
    elif request["do"] == "prepare":
        database.prepare(request["number"], request["sql"])
    elif request["do"] == "run":
        result = database.run(request["number"], [parameter(sent) for sent in request["values"]])
    elif request["do"] == "close":
        database.close(request["number"])
    if isinstance(result, int):
        return {"done": {"changed": result}}
    columns, values = result
    return {"rows": {"columns": columns, "values": values}}
