"""The packages whose functions computed the tables of a run."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property, partial
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any

from analysis.registry import STATISTICS
from analysis.report.methods.sources import installed_package
from analysis.results import Results
from analysis.statistics.statistic import Statistic

PROGRAM = "analysis"
TRANSLATION_MODULE = f"{PROGRAM}.translation"
"""The module that translates messages, which does not compute anything."""
ALWAYS_NAMED = frozenset({"numpy", "pandas"})
"""Packages that every table uses: each one is a data frame."""


def packages_used(results: Results) -> tuple[str, ...]:
    """Return the installed packages whose functions took part in computing a table with rows."""
    used = set(ALWAYS_NAMED)
    for statistic in STATISTICS:
        if results.has(statistic.name):
            used |= modules_called(statistic.compute)
    return tuple(sorted(filter(None, map(installed_package, used)), key=str.lower))


@cache
def modules_called(function: Callable[..., Any]) -> frozenset[str]:
    """Return the top-level modules of other packages that a function of this program can reach.

    The search follows the names in the code of functions and classes of this program. It does not
    follow the description of a table, which names the functions that present it.

    Examples
    --------
    >>> from analysis.statistics.comparison.paired_tests import tango_interval
    >>> sorted(modules_called(tango_interval))
    ['numpy', 'scipy']
    """
    waiting, ids_seen, modules = [function], set[int](), set[str]()
    while waiting:
        value: Any = waiting.pop()
        if id(value) in ids_seen:
            continue
        ids_seen.add(id(value))
        module = value.__name__ if isinstance(value, ModuleType) else _module_of(value)
        top = module.partition(".")[0]
        if module == TRANSLATION_MODULE:
            continue
        if top == PROGRAM:
            waiting += _referenced_objects(value)
            code = getattr(inspect.unwrap(value), "__code__", None) if callable(value) else None
            local = _local_imports(_code_names(code), is_own=False) if code else []
            modules |= {name.partition(".")[0] for name in local}
        elif top in sys.modules and top not in sys.stdlib_module_names:
            modules.add(top)
        elif isinstance(value, dict | tuple | list):
            waiting += value.values() if isinstance(value, dict) else value
    return frozenset(modules)


def _module_of(value: Any) -> str:
    """Return the module of a function or class, or that of the class of another value."""
    module = getattr(value, "__module__", None) or type(value).__module__
    return str(module)


def _referenced_objects(value: Any) -> Iterator[Any]:
    """Yield the objects that a function or class of this program refers to."""
    value = getattr(value, "__wrapped__", value)
    if isinstance(value, type):
        members = list(vars(value).values())
        yield from (_function_of(member) for member in members)
        yield from value.__bases__
    elif isinstance(value, FunctionType):
        yield from _globals_of(value)
    elif isinstance(value, partial):
        yield value.func


def _function_of(member: Any) -> Any:
    if isinstance(member, property):
        return member.fget
    if isinstance(member, cached_property):
        return member.func
    return getattr(member, "__func__", member)


def _globals_of(function: FunctionType) -> Iterator[Any]:
    names = set(_code_names(function.__code__))
    known = function.__globals__
    for name in names & known.keys():
        value = known[name]
        if isinstance(value, Statistic):
            continue
        if isinstance(value, ModuleType) and value.__name__.startswith(PROGRAM):
            yield from (vars(value)[other] for other in names & vars(value).keys())
        else:
            yield value
    for local in map(import_module, _local_imports(names, is_own=True)):
        yield from (vars(local)[other] for other in names & vars(local).keys())


def _local_imports(names: Iterable[str], *, is_own: bool) -> list[str]:
    """Return the modules that a function imports, which are the names with a dot."""
    return sorted(n for n in names if "." in n and n.startswith(f"{PROGRAM}.") is is_own)


def _code_names(code: CodeType) -> Iterator[str]:
    """Yield the names in the code of a function and of its inner functions."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_names(constant)
