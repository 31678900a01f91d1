"""Devices that tests of more than one file run on. A device that is missing fails in CI, where all are installed, and skips elsewhere."""

import os

import pytest

import parloop as pl

DEVICES = ["cpu:1", "cpu:2", "opencl"]


def opened(name: str) -> pl.Context:
    """The context of that name."""
    try:
        return pl.Context(name)
    except pl.DeviceError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))
