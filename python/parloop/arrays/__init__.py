"""The Python array API standard for `parloop.Array`, on every device.

>>> import parloop.arrays as xp
>>> x = xp.linspace(0.0, 1.0, 5)
>>> xp.where(x > 0.4, xp.sin(x), 0.0).shape
(5,)
>>> xp.argsort(xp.asarray([3, 1, 2])).tolist()
[1, 2, 0]

Functions have the names of the standard (version 2024.12) and many of NumPy's. Results are arrays on the device of the arguments, also
where no axes are left; what is made of numbers is on `device=`, or on the `default_device()`. On a CPU NumPy does the work, in the memory
that both share; on other devices kernels do. A function that has none there raises `NoDeviceVersionError`.
"""

from __future__ import annotations

import math as _math

from . import fft as fft
from . import linalg as linalg
from . import random as random
from .._parloop import Array as Array
from .._parloop import Device as Device
from ._counting import bincount as bincount
from ._counting import histogram as histogram
from ._creation import arange as arange
from ._creation import array as array
from ._creation import asarray as asarray
from ._creation import copy as copy
from ._creation import empty as empty
from ._creation import empty_like as empty_like
from ._creation import eye as eye
from ._creation import from_dlpack as from_dlpack
from ._creation import full as full
from ._creation import full_like as full_like
from ._creation import identity as identity
from ._creation import linspace as linspace
from ._creation import meshgrid as meshgrid
from ._creation import ones as ones
from ._creation import ones_like as ones_like
from ._creation import tril as tril
from ._creation import triu as triu
from ._creation import zeros as zeros
from ._creation import zeros_like as zeros_like
from ._device import NoDeviceVersionError as NoDeviceVersionError
from ._device import default_device as default_device
from ._dtypes import __array_namespace_info__ as __array_namespace_info__
from ._dtypes import astype as astype
from ._dtypes import bool as bool
from ._dtypes import can_cast as can_cast
from ._dtypes import complex128 as complex128
from ._dtypes import complex64 as complex64
from ._dtypes import finfo as finfo
from ._dtypes import float32 as float32
from ._dtypes import float64 as float64
from ._dtypes import iinfo as iinfo
from ._dtypes import int16 as int16
from ._dtypes import int32 as int32
from ._dtypes import int64 as int64
from ._dtypes import int8 as int8
from ._dtypes import isdtype as isdtype
from ._dtypes import result_type as result_type
from ._dtypes import uint16 as uint16
from ._dtypes import uint32 as uint32
from ._dtypes import uint64 as uint64
from ._dtypes import uint8 as uint8
from ._elementwise import abs as abs
from ._elementwise import absolute as absolute
from ._elementwise import acos as acos
from ._elementwise import acosh as acosh
from ._elementwise import add as add
from ._elementwise import angle as angle
from ._elementwise import arccos as arccos
from ._elementwise import arccosh as arccosh
from ._elementwise import arcsin as arcsin
from ._elementwise import arcsinh as arcsinh
from ._elementwise import arctan as arctan
from ._elementwise import arctan2 as arctan2
from ._elementwise import arctanh as arctanh
from ._elementwise import asin as asin
from ._elementwise import asinh as asinh
from ._elementwise import atan as atan
from ._elementwise import atan2 as atan2
from ._elementwise import atanh as atanh
from ._elementwise import bitwise_and as bitwise_and
from ._elementwise import bitwise_invert as bitwise_invert
from ._elementwise import bitwise_left_shift as bitwise_left_shift
from ._elementwise import bitwise_not as bitwise_not
from ._elementwise import bitwise_or as bitwise_or
from ._elementwise import bitwise_right_shift as bitwise_right_shift
from ._elementwise import bitwise_xor as bitwise_xor
from ._elementwise import cbrt as cbrt
from ._elementwise import ceil as ceil
from ._elementwise import clip as clip
from ._elementwise import conj as conj
from ._elementwise import conjugate as conjugate
from ._elementwise import copysign as copysign
from ._elementwise import cos as cos
from ._elementwise import cosh as cosh
from ._elementwise import deg2rad as deg2rad
from ._elementwise import degrees as degrees
from ._elementwise import divide as divide
from ._elementwise import equal as equal
from ._elementwise import exp as exp
from ._elementwise import exp2 as exp2
from ._elementwise import expm1 as expm1
from ._elementwise import fabs as fabs
from ._elementwise import floor as floor
from ._elementwise import floor_divide as floor_divide
from ._elementwise import fmax as fmax
from ._elementwise import fmin as fmin
from ._elementwise import fmod as fmod
from ._elementwise import greater as greater
from ._elementwise import greater_equal as greater_equal
from ._elementwise import heaviside as heaviside
from ._elementwise import hypot as hypot
from ._elementwise import imag as imag
from ._elementwise import invert as invert
from ._elementwise import isclose as isclose
from ._elementwise import isfinite as isfinite
from ._elementwise import isinf as isinf
from ._elementwise import isnan as isnan
from ._elementwise import left_shift as left_shift
from ._elementwise import less as less
from ._elementwise import less_equal as less_equal
from ._elementwise import log as log
from ._elementwise import log10 as log10
from ._elementwise import log1p as log1p
from ._elementwise import log2 as log2
from ._elementwise import logaddexp as logaddexp
from ._elementwise import logical_and as logical_and
from ._elementwise import logical_not as logical_not
from ._elementwise import logical_or as logical_or
from ._elementwise import logical_xor as logical_xor
from ._elementwise import maximum as maximum
from ._elementwise import minimum as minimum
from ._elementwise import mod as mod
from ._elementwise import multiply as multiply
from ._elementwise import nan_to_num as nan_to_num
from ._elementwise import negative as negative
from ._elementwise import nextafter as nextafter
from ._elementwise import not_equal as not_equal
from ._elementwise import positive as positive
from ._elementwise import pow as pow
from ._elementwise import power as power
from ._elementwise import rad2deg as rad2deg
from ._elementwise import radians as radians
from ._elementwise import real as real
from ._elementwise import reciprocal as reciprocal
from ._elementwise import remainder as remainder
from ._elementwise import right_shift as right_shift
from ._elementwise import rint as rint
from ._elementwise import round as round
from ._elementwise import sign as sign
from ._elementwise import signbit as signbit
from ._elementwise import sin as sin
from ._elementwise import sinh as sinh
from ._elementwise import sqrt as sqrt
from ._elementwise import square as square
from ._elementwise import subtract as subtract
from ._elementwise import tan as tan
from ._elementwise import tanh as tanh
from ._elementwise import true_divide as true_divide
from ._elementwise import trunc as trunc
from ._manipulation import append as append
from ._manipulation import atleast_1d as atleast_1d
from ._manipulation import broadcast_arrays as broadcast_arrays
from ._manipulation import broadcast_shapes as broadcast_shapes
from ._manipulation import broadcast_to as broadcast_to
from ._manipulation import column_stack as column_stack
from ._manipulation import concat as concat
from ._manipulation import concatenate as concatenate
from ._manipulation import diagonal as diagonal
from ._manipulation import expand_dims as expand_dims
from ._manipulation import flip as flip
from ._manipulation import fliplr as fliplr
from ._manipulation import flipud as flipud
from ._manipulation import hstack as hstack
from ._manipulation import matrix_transpose as matrix_transpose
from ._manipulation import moveaxis as moveaxis
from ._manipulation import permute_dims as permute_dims
from ._manipulation import ravel as ravel
from ._manipulation import repeat as repeat
from ._manipulation import reshape as reshape
from ._manipulation import roll as roll
from ._manipulation import split as split
from ._manipulation import squeeze as squeeze
from ._manipulation import stack as stack
from ._manipulation import swapaxes as swapaxes
from ._manipulation import tile as tile
from ._manipulation import transpose as transpose
from ._manipulation import unstack as unstack
from ._manipulation import vstack as vstack
from ._products import dot as dot
from ._products import matmul as matmul
from ._products import outer as outer
from ._products import tensordot as tensordot
from ._products import vecdot as vecdot
from ._searching import argmax as argmax
from ._searching import argmin as argmin
from ._searching import argwhere as argwhere
from ._searching import digitize as digitize
from ._searching import extract as extract
from ._searching import flatnonzero as flatnonzero
from ._searching import interp as interp
from ._searching import nonzero as nonzero
from ._searching import searchsorted as searchsorted
from ._searching import take as take
from ._searching import take_along_axis as take_along_axis
from ._searching import unravel_index as unravel_index
from ._searching import where as where
from ._sets import isin as isin
from ._sets import unique as unique
from ._sets import unique_all as unique_all
from ._sets import unique_counts as unique_counts
from ._sets import unique_inverse as unique_inverse
from ._sets import unique_values as unique_values
from ._sorting import argsort as argsort
from ._sorting import sort as sort
from ._statistics import all as all
from ._statistics import allclose as allclose
from ._statistics import amax as amax
from ._statistics import amin as amin
from ._statistics import any as any
from ._statistics import array_equal as array_equal
from ._statistics import average as average
from ._statistics import count_nonzero as count_nonzero
from ._statistics import cumprod as cumprod
from ._statistics import cumsum as cumsum
from ._statistics import cumulative_prod as cumulative_prod
from ._statistics import cumulative_sum as cumulative_sum
from ._statistics import diff as diff
from ._statistics import max as max
from ._statistics import mean as mean
from ._statistics import min as min
from ._statistics import prod as prod
from ._statistics import ptp as ptp
from ._statistics import std as std
from ._statistics import sum as sum
from ._statistics import var as var

__array_api_version__ = "2024.12"

e = _math.e
pi = _math.pi
inf = _math.inf
nan = _math.nan
newaxis = None
