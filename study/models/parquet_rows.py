"""Reads the rows of a Parquet file, without columns of images, within the limits."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from study.base.budget import BUDGET
from study.base.errors import BadFile
from study.base.translation import t

_AT_ONCE = 1_000


def read_parquet(path: Path) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """Return the names of the columns and the rows.

    The numbers of rows and columns are checked before anything is decoded, because repeated values
    take almost no space in a file.

    Raises
    ------
    BadFile
        The file is damaged, has no rows, has a column twice, or exceeds the limits.
    """
    import pyarrow  # slow to import, and few files are Parquet
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            BUDGET.check_columns(path, file.metadata.num_columns)
            BUDGET.check_rows(path, file.metadata.num_rows)
            names = [
                column.name
                for column in file.schema_arrow
                if not _holds_bytes(column.type, pyarrow.types)
            ]
            rows = list(_rows(path, file, names))
    except MemoryError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError, TypeError) as error:
        raise BadFile(
            t("{name} is not a valid Parquet file, or it is damaged. Write it again.", name=path)
        ) from error
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise BadFile(f"{path} has columns given twice: {', '.join(repeated)}; keep one of each")
    if not rows:
        raise BadFile(f"{path} contains no rows; give a file with at least one")
    return tuple(names), rows


def _rows(path: Path, file: Any, names: list[str]) -> Iterator[dict[str, Any]]:
    n = 0
    for batch in file.iter_batches(batch_size=_AT_ONCE, columns=names, use_threads=False):
        n += batch.num_rows
        BUDGET.check_rows(path, n)
        for row in batch.to_pylist():
            BUDGET.check_depth(path, row)
            yield row


def _holds_bytes(kind: Any, types: Any) -> bool:
    """Return whether a column contains binary data such as images, which are not read."""
    if types.is_list(kind) or types.is_large_list(kind):
        return _holds_bytes(kind.value_type, types)
    if types.is_struct(kind):
        return any(_holds_bytes(kind.field(n).type, types) for n in range(kind.num_fields))
    return bool(types.is_binary(kind) or types.is_large_binary(kind))
