"""DataFusion behind Dissent's pipe: a session over tables in memory."""

import re

import pyarrow
from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext

from serve import Failure, Statements, serve, value, within

# As a machine of some cores has it, whatever this one has: what is split and put together again is worth testing, and a
# finding must not depend on where it was found.
PARTITIONS = 3

# What is in a message, and Dissent's word for such an error; the first that fits.
CLASSES = [
    ("SQL error", "syntax"),
    ("Internal error", "internal"),
    ("Resources exhausted", "limit"),
    ("Error during planning", "semantic"),
    ("Schema error", "semantic"),
    ("This feature is not implemented", "semantic"),
    ("Invalid or Unsupported Configuration", "semantic"),
]

# Wherever they stand: EXPLAIN ANALYZE runs what it explains.
FILES = re.compile(r"\b(COPY|EXTERNAL)\b", re.IGNORECASE)
CHANGES = re.compile(r"\s*(INSERT|UPDATE|DELETE)\b", re.IGNORECASE)


class DataFusion:
    def __init__(self):
        self.limits = {"millis": 5_000, "rows": 20_000, "memory_bytes": 256 << 20}
        self.reset()

    def reset(self):
        self.statements = Statements()
        config = SessionConfig().with_information_schema(True).with_target_partitions(PARTITIONS)
        runtime = RuntimeEnvBuilder().with_greedy_memory_pool(self.limits["memory_bytes"])
        self.context = SessionContext(config, runtime)

    def execute(self, sql):
        return self.answer(sql, {})

    def prepare(self, number, sql):
        # A change of rows would be made.
        if not CHANGES.match(sql):
            self.frame(sql, {})
        self.statements.keep(number, sql)

    def run(self, number, values):
        return self.answer(self.statements.text(number), {str(at): given for at, given in enumerate(values, 1)})

    def close(self, number):
        self.statements.close(number)

    def frame(self, sql, values):
        if FILES.search(sql):
            raise Failure("semantic", "Dissent lets no statement touch files")
        return asked(lambda: self.context.sql(sql, param_values=values) if values else self.context.sql(sql))

    def answer(self, sql, values):
        frame = self.frame(sql, values)
        columns = len(frame.schema())
        batches = asked(frame.collect)
        if columns == 0:
            return 0
        within(self.limits, sum(batch.num_rows for batch in batches))
        rows = [row for batch in batches for row in zip(*(cells(column) for column in batch.columns))]
        if CHANGES.match(sql) and columns == 1:
            return sum(count["int"] for (count,) in rows)
        return columns, [cell for row in rows for cell in row]


def asked(question):
    """What DataFusion answers. A panic is no Exception."""
    try:
        return question()
    except Failure:
        raise
    except BaseException as error:
        message = str(error).removeprefix("DataFusion error: ")
        if not isinstance(error, Exception):
            raise Failure("internal", f"panic: {message}") from None
        known = (word for part, word in CLASSES if part in message)
        raise Failure(next(known, "runtime"), message) from None


def cells(column):
    kind = kind_of(column.type)
    if kind is None:
        return [value(cell) for cell in column.to_pylist()]
    return ["null" if cell is None else spelled(kind, cell) for cell in texts(kind, column)]


def spelled(kind, text):
    return {"decimal": text} if kind == "decimal" else {"other": {"kind": kind, "text": text}}


def kind_of(ty):
    """Dissent's word for the family of a type; `None`: Python has a type of its own for it."""
    types = pyarrow.types
    if types.is_decimal(ty):
        return "decimal"
    if types.is_date(ty):
        return "date"
    if types.is_time(ty):
        return "time"
    if types.is_timestamp(ty):
        return "timestamp"
    if types.is_interval(ty) or types.is_duration(ty):
        return "interval"
    if types.is_nested(ty):
        return "array" if "list" in str(ty) else "any"
    return None


def texts(kind, column):
    if kind in ("date", "time", "timestamp", "decimal"):
        # Python's own dates end with the year 9999.
        found = column.cast(pyarrow.string()).to_pylist()
        if kind in ("time", "timestamp"):
            return [text and re.sub(r"\.?0+(?=Z?$)", "", text) if text and "." in text else text for text in found]
        return found
    return [None if cell is None else listed(cell) for cell in column.to_pylist()]


def listed(cell):
    if cell is None:
        return "NULL"
    if isinstance(cell, list):
        return f"[{', '.join(listed(item) for item in cell)}]"
    return str(cell)


if __name__ == "__main__":
    database = DataFusion()
    ((told,),) = (batch.to_pylist()[0].values() for batch in database.context.sql("SELECT version()").collect())
    serve(re.search(r"\d+\.\d+\.\d+", told).group(), database)
