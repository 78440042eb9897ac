"""How the code reads, as far as it can be counted: sizes, and tests that can fail."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ("src", "tests", "bench", "docs", "examples")
CODE = {".py", ".js", ".css", ".jinja"}
LINES, BODY, MEDIAN, PARAMETERS = 400, 60, 10, 7
EXCEPTIONS = {
    "src/whybox/model.py open_model": "whybox.open: each is a keyword that a user says on its own",
    "tests/verdict/test_tree.py": "one table of facts and verdicts",
}
ASSERTIONS = {"raises", "warns", "fail", "fnmatch_lines", "fnmatch_lines_random", "wait_for"}
"""Calls that end a test where something is not so; a page's `wait_for` where it does not become so."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def trees() -> Mapping[str, ast.Module]:
    """Every module of the repository, parsed, by its path."""
    files = [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*.py"))]
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_bytes()) for path in files}


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def lines(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def parameters(function: Function) -> list[str]:
    """By name, without the object that a method belongs to."""
    told = function.args
    names = [each.arg for each in (*told.posonlyargs, *told.args, *told.kwonlyargs)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def test_no_module_is_long() -> None:
    files = [path for folder in SOURCES for path in (ROOT / folder).rglob("*") if path.suffix in CODE]
    long = {path.relative_to(ROOT).as_posix() for path in files if len(path.read_text("utf-8").splitlines()) > LINES}
    assert long - EXCEPTIONS.keys() == set()


def test_no_function_is_long() -> None:
    long = [f"{path} {each.name}" for path, tree in trees().items() for each in functions(tree) if lines(each) > BODY]
    assert long == []


@pytest.mark.parametrize("folder", ["src", "tests", "bench"])
def test_most_functions_are_short(folder: str) -> None:
    sizes = [lines(each) for path, tree in trees().items() if path.startswith(folder) for each in functions(tree)]
    assert median(sizes) <= MEDIAN


def test_no_function_takes_many_parameters() -> None:
    of_all = ((f"{path} {each.name}", parameters(each)) for path, tree in trees().items() for each in functions(tree))
    many = {place for place, names in of_all if len(names) > PARAMETERS}
    assert many - EXCEPTIONS.keys() == set()


def test_exceptions_are_still_needed() -> None:
    for place in EXCEPTIONS:
        path, _, name = place.partition(" ")
        found = [each for each in functions(trees()[path]) if each.name == name]
        long = len((ROOT / path).read_text("utf-8").splitlines()) > LINES
        assert long if not name else any(len(parameters(each)) > PARAMETERS for each in found), place


def test_every_test_can_fail() -> None:
    """Each asserts something: itself, or in a helper that it calls."""
    asserting = asserting_functions()
    mute = [
        f"{path}:{each.lineno} {each.name}"
        for path, tree in trees().items()
        for each in functions(tree)
        if each.name.startswith("test_") and path.startswith("tests/") and (path, each.name) not in asserting
    ]
    assert mute == []


def asserting_functions() -> set[tuple[str, str]]:
    """(path, name) of all functions of the tests that assert, or call one that does."""
    known = {(path, each.name): (path, each) for path, tree in trees().items() for each in functions(tree)}
    calls = {place: set(called(each)) for place, (_, each) in known.items()}
    found = {place for place, (_, each) in known.items() if asserts(each)}
    homes = {path: imported(tree) for path, tree in trees().items()}
    while True:
        more = {
            (path, name)
            for (path, name), names in calls.items()
            if any((path, each) in found or (homes[path].get(each, ""), each) in found for each in names)
        }
        if more <= found:
            return found
        found |= more


def asserts(function: Function) -> bool:
    raised = (each.exc for each in ast.walk(function) if isinstance(each, ast.Raise) and each.exc is not None)
    return (
        any(isinstance(each, ast.Assert) for each in ast.walk(function))
        or any("AssertionError" in ast.dump(each) for each in raised)
        or any(name in ASSERTIONS or name.startswith("assert_") for name in called(function))
    )


def called(function: Function) -> Iterator[str]:
    for each in ast.walk(function):
        match each:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                yield name


def imported(tree: ast.Module) -> Mapping[str, str]:
    """Names that come from other modules of the tests, each with the path of its module."""
    found = [each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom) and each.module]
    return {
        alias.name: f"{str(each.module).replace('.', '/')}.py"
        for each in found
        if str(each.module).startswith("tests")
        for alias in each.names
    }
