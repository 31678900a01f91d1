"""Queries for instructions: here the texts themselves."""

from __future__ import annotations

from typing import Any


def parse_match(expr: str | None) -> str | None:
    """The query that a text is."""
    return expr


def parse_stack_match(smatch: str | None) -> str | None:
    """The query that a text is."""
    return smatch


class Id(str):
    """Instructions of an id."""

    def __new__(cls, name: str) -> Id:
        return super().__new__(cls, f"id:{name}")


class Tagged(str):
    """Instructions of a tag."""

    def __new__(cls, tag: str) -> Tagged:
        return super().__new__(cls, f"tag:{tag}")


class Writes(str):
    """Instructions that write a variable."""

    def __new__(cls, name: str) -> Writes:
        return super().__new__(cls, f"writes:{name}")


class Reads(str):
    """Instructions that read a variable."""

    def __new__(cls, name: str) -> Reads:
        return super().__new__(cls, f"reads:{name}")


class Iname(str):
    """Instructions in an iname."""

    def __new__(cls, name: str) -> Iname:
        return super().__new__(cls, f"iname:{name}")


class ObjTagged(str):
    """Instructions of a tag that is an object: that of its class's name."""

    def __new__(cls, tag: object) -> ObjTagged:
        made = super().__new__(cls, f"tag:{type(tag).__name__}")
        made.tag = tag
        return made

    tag: object

    def update_persistent_hash(self, key_hash: Any, key_builder: Any) -> None:
        """Adds what it is to a key of a cache on disk, as pytools makes them."""
        key_builder.rec(key_hash, (type(self).__name__, self.tag))
