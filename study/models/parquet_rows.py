"""Reads the rows of a Parquet file without its image columns, within the upload limits."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from study.base.budget import BUDGET
from study.base.errors import BadFile
from study.base.translation import t

_ROWS_PER_BATCH = 1_000


def read_parquet(path: Path) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """Return the column names and the rows.

    The numbers of rows and columns are checked before anything is decoded, because a small file
    may contain a value millions of times.

    Raises
    ------
    BadFile
        The file is damaged, has no rows, has two columns of the same name, or exceeds the limits.
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
                if not _is_binary(column.type, pyarrow.types)
            ]
            rows = list(_checked_rows(path, file, names))
    except MemoryError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError, TypeError) as error:
        raise BadFile(
            t("{name} is not a valid Parquet file, or it is damaged. Write it again.", name=path)
        ) from error
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise BadFile(f"{path} has repeated columns: {', '.join(repeated)}; keep one of each")
    if not rows:
        raise BadFile(f"{path} contains no rows; use a file with at least one row")
    return tuple(names), rows


def _checked_rows(path: Path, file: Any, names: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows, and check their number and nesting while the file is decoded."""
    n = 0
    for batch in file.iter_batches(batch_size=_ROWS_PER_BATCH, columns=names, use_threads=False):
        n += batch.num_rows
        BUDGET.check_rows(path, n)
        for row in batch.to_pylist():
            BUDGET.check_depth(path, row)
            yield row


def _is_binary(column_type: Any, types: Any) -> bool:
    """Return whether a column contains binary data such as images, which are not read."""
    if types.is_list(column_type) or types.is_large_list(column_type):
        return _is_binary(column_type.value_type, types)
    if types.is_struct(column_type):
        return any(
            _is_binary(column_type.field(n).type, types) for n in range(column_type.num_fields)
        )
    return bool(types.is_binary(column_type) or types.is_large_binary(column_type))
