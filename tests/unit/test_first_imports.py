"""Each worker starts importing the test modules at a different module."""

from importlib.util import find_spec

from tests.first_imports import _modules, rotated


def test_each_worker_begins_with_another_module_and_imports_all() -> None:
    names = _modules()
    orders = [rotated(names, number, 3) for number in range(3)]
    assert len({order[0] for order in orders}) == 3
    assert all(sorted(order) == sorted(names) for order in orders)


def test_names_are_those_of_existing_modules() -> None:
    assert __name__ in _modules()
    assert find_spec(_modules()[-1])
