"""YAML and JSON text as located documents: safe types only, every refusal with its place."""

import json
import re
from typing import Any

import yaml
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.resolver import Resolver

from fluid_build.contract.printable import escaped
from fluid_build.contract.read.located import Builder, LocatedDocument, Mark, unreadable

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_NUMBER = 400
_TAG = "tag:yaml.org,2002:"
_COLLECTION_TAGS = (None, "!", f"{_TAG}map", f"{_TAG}seq")
_CORRECT = "Correct that part of the file."
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|[^\s,:{}\[\]"]+')
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_yaml(text: str, name: str) -> LocatedDocument:
    """Read one YAML document, with the scalar types that most YAML tools give (YAML 1.1).

    Dates stay text. ``name`` is the file's, for errors. Raises SourceUnreadableError.
    """
    reader = _YamlReader(name)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        raise _yaml_refusal(error, text, name) from None
    except yaml.reader.ReaderError as error:
        mark = _mark_of_offset(text, error.position)
        what = "it has a control character, which YAML doesn't allow"
        raise unreadable(name, mark, what, hint=_CORRECT) from None
    return reader.result()


def read_json(text: str, name: str) -> LocatedDocument:
    """Read one JSON document. ``name`` is the file's, for errors.

    Raises SourceUnreadableError, also for what only Python takes for JSON (NaN) and for text that
    is not Unicode (half of a surrogate pair).
    """
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        what = error.msg[:1].lower() + error.msg[1:]
        raise unreadable(name, Mark(error.lineno, error.colno), what, hint=_CORRECT) from None
    except RecursionError:
        raise unreadable(name, None, "it's nested too deeply", hint=_CORRECT) from None
    except ValueError:
        what = "it has a number that JSON doesn't allow, or one that is too long to read"
        raise unreadable(name, None, what, hint=_CORRECT) from None
    return _json_located(text, name)


def _json_located(text: str, name: str) -> LocatedDocument:
    builder = Builder(name)
    line, line_start, seen = 1, 0, 0
    for token in _JSON_TOKEN.finditer(text):
        passed = text.count("\n", seen, token.start())
        if passed:
            line += passed
            line_start = text.rindex("\n", seen, token.start()) + 1
        seen = token.start()
        mark = Mark(line, token.start() - line_start + 1)
        match token.group():
            case "{":
                builder.start({}, mark, None)
            case "[":
                builder.start([], mark, None)
            case "}" | "]":
                builder.end()
            case word:
                value = json.loads(word)
                if isinstance(value, str) and _SURROGATE.search(value):
                    what = "it has half of a surrogate pair, which isn't Unicode text"
                    raise unreadable(name, mark, what, hint=_CORRECT)
                if builder.expects_key:
                    builder.key(value, word, mark)
                else:
                    builder.scalar(value, mark)
    return builder.result()


def _refuse_constant(word: str) -> object:
    raise ValueError(word)


class _YamlReader:
    """Hands YAML's events to a builder, scalars resolved."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._builder = Builder(name)
        self._resolver: Any = Resolver()
        self._constructor = SafeConstructor()
        self._documents = 0

    def result(self) -> LocatedDocument:
        if not self._documents:
            hint = "Pass a contract; `fluid demo` writes an example."
            raise unreadable(self._name, None, "it's empty", hint=hint)
        return self._builder.result()

    def take(self, event: Any) -> None:
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    what = "a second document begins here"
                    hint = "Put each contract in its own file."
                    raise unreadable(self._name, _mark(event.start_mark), what, hint=hint)
            case yaml.MappingStartEvent():
                self._refuse_tag(event)
                self._builder.start({}, _mark(event.start_mark), event.anchor)
            case yaml.SequenceStartEvent():
                self._refuse_tag(event)
                self._builder.start([], _mark(event.start_mark), event.anchor)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._builder.end()
            case yaml.AliasEvent():
                self._builder.alias(str(event.anchor), _mark(event.start_mark))
            case yaml.ScalarEvent():
                self._scalar(event)

    def _refuse_tag(self, event: yaml.CollectionStartEvent) -> None:
        if event.tag not in _COLLECTION_TAGS:
            what = f"the tag `{escaped(str(event.tag))}` isn't allowed"
            raise unreadable(self._name, _mark(event.start_mark), what, hint="Remove the tag.")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        tag = event.tag
        if tag in (None, "!"):
            tag = self._resolver.resolve(yaml.ScalarNode, event.value, event.implicit)
        mark = _mark(event.start_mark)
        if self._builder.expects_key and tag == f"{_TAG}merge":
            self._builder.merge_key()
            return
        value = self._value(event, str(tag), mark)
        if self._builder.expects_key:
            self._builder.key(value, event.value, mark, event.anchor)
        else:
            self._builder.scalar(value, mark, event.anchor)

    def _value(self, event: yaml.ScalarEvent, tag: str, mark: Mark) -> object:
        text = event.value
        kind = tag.removeprefix(_TAG)
        if kind in ("str", "timestamp", "value", "merge"):
            return text
        if kind == "null":
            return None
        if kind not in ("bool", "int", "float"):
            what = f"the tag `{escaped(tag)}` isn't allowed"
            raise unreadable(self._name, mark, what, hint="Remove the tag.")
        if len(text) > _MAX_NUMBER:
            what = f"a number is longer than {_MAX_NUMBER} characters"
            raise unreadable(self._name, mark, what, hint="If it is text, put it in quotes.")
        construct = getattr(self._constructor, f"construct_yaml_{kind}")
        try:
            value: object = construct(yaml.ScalarNode(tag, text))
        except (ValueError, KeyError, IndexError, ConstructorError):
            what = f"`{escaped(text)}` doesn't match its tag"
            raise unreadable(self._name, mark, what, hint="Remove the tag.") from None
        return value


def _yaml_refusal(error: yaml.MarkedYAMLError, text: str, name: str) -> Exception:
    place = error.problem_mark or error.context_mark
    mark = _mark(place) if place is not None else None
    what = escaped(error.problem or error.context or "it isn't valid YAML", longest=200)
    lines = text.splitlines()
    tabbed = (
        mark is not None
        and mark.line <= len(lines)
        and re.match(r"[ ]*\t", lines[mark.line - 1]) is not None
    )
    hint = "Indent with spaces; YAML doesn't allow tabs there." if tabbed else _CORRECT
    return unreadable(name, mark, what, hint=hint)


def _mark(mark: Any) -> Mark:
    return Mark(mark.line + 1, mark.column + 1)


def _mark_of_offset(text: str, offset: int) -> Mark:
    return Mark(text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1)
