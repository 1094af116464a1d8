"""Each worker starts importing the test modules at a different module."""

from importlib.util import find_spec

from tests.first_imports import _test_module_names, rotated


def test_each_worker_starts_with_a_different_module_and_imports_all() -> None:
    names = _test_module_names()
    orders = [rotated(names, number, 3) for number in range(3)]
    assert len({order[0] for order in orders}) == 3
    assert all(sorted(order) == sorted(names) for order in orders)


def test_names_are_those_of_existing_test_modules() -> None:
    assert __name__ in _test_module_names()
    assert find_spec(_test_module_names()[-1])
