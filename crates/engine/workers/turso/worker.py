"""Turso behind Dissent's pipe: a database in memory."""

import importlib.metadata

import turso

from serve import Failure, Statements, serve, value, within

# What is in a message, and Dissent's word for such an error; the first that fits.
CLASSES = [
    ("syntax error", "syntax"),
    ("one statement at a time", "syntax"),
    ("malformed JSON", "runtime"),
    ("Internal error", "internal"),
    ("Corrupt", "internal"),
    ("Parse error", "semantic"),
    ("no such", "semantic"),
    ("Busy", "limit"),
]


class Turso:
    def __init__(self):
        self.limits = {"millis": 5_000, "rows": 20_000}
        self.reset()

    def reset(self):
        self.statements = Statements()
        self.connection = turso.connect(":memory:", isolation_level=None)

    def execute(self, sql):
        return self.answer(sql, ())

    def prepare(self, number, sql):
        asked(lambda: self.connection.cursor().execute(f"EXPLAIN {sql}"))
        self.statements.keep(number, sql)

    def run(self, number, values):
        return self.answer(self.statements.text(number), tuple(values))

    def close(self, number):
        self.statements.close(number)

    def answer(self, sql, values):
        cursor = self.connection.cursor()
        asked(lambda: cursor.execute(sql, values))
        if not cursor.description:
            return max(cursor.rowcount, 0)
        rows = asked(lambda: cursor.fetchmany(self.limits["rows"] + 1))
        within(self.limits, len(rows))
        return len(cursor.description), [value(cell) for row in rows for cell in row]


def asked(question):
    """What Turso answers. A panic is no Exception."""
    try:
        return question()
    except Failure:
        raise
    except BaseException as error:
        message = str(error)
        if not isinstance(error, Exception):
            raise Failure("internal", f"panic: {message}") from None
        if isinstance(error, turso.IntegrityError):
            raise Failure("constraint", message) from None
        known = (word for part, word in CLASSES if part in message)
        raise Failure(next(known, "runtime"), message) from None


if __name__ == "__main__":
    serve(importlib.metadata.version("pyturso"), Turso())
