"""Operations on elements as portable C: what each does for each type, as NumPy does it.

Nothing here knows about arrays or devices; `_elementwise` and `_reduction` put these expressions into kernels.
"""

from __future__ import annotations

from typing import NamedTuple

#: The types of elements in C, by NumPy's names. A truth value is a byte, 0 or 1.
C_TYPES = {
    "bool": "uint8_t",
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int32_t",
    "int64": "int64_t",
    "uint8": "uint8_t",
    "uint16": "uint16_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
    "float32": "float",
    "float64": "double",
    "complex64": "complex_single",
    "complex128": "complex_double",
}

_REAL = {"complex64": "float32", "complex128": "float64"}


def is_complex(dtype: str) -> bool:
    return dtype.startswith("complex")


def is_float(dtype: str) -> bool:
    return dtype.startswith("float")


def is_unsigned(dtype: str) -> bool:
    return dtype.startswith("uint") or dtype == "bool"


def real_of(dtype: str) -> str:
    """The type of the real and imaginary parts."""
    return _REAL.get(dtype, dtype)


def wide(dtype: str) -> str:
    """An unsigned type in which arithmetic wraps around, as it is not defined to do in the signed ones."""
    return "uint64_t" if dtype.endswith("64") else "uint32_t"


class Operation(NamedTuple):
    """An expression of the operands `a` (and `b`), each of its own type."""

    expression: str
    #: The type of the expression's value.
    result: str
    #: Functions that it calls.
    functions: str = ""


#: Complex numbers: C has them, OpenCL and CUDA have not.
COMPLEX = """
typedef struct { float re; float im; } complex_single;
typedef struct { double re; double im; } complex_double;
complex_single make_complex_single(float re, float im) { complex_single z; z.re = re; z.im = im; return z; }
complex_double make_complex_double(double re, double im) { complex_double z; z.re = re; z.im = im; return z; }
"""


def _make(dtype: str, re: str, im: str) -> str:
    return f"make_{C_TYPES[dtype]}({re}, {im})"


def convert(value: str, source: str, target: str) -> str:
    """A C expression: `value`, a name or a member, of type `source` as `target`."""
    if source == target:
        return value
    if is_complex(target):
        part = real_of(target)
        if is_complex(source):
            return _make(target, convert(f"{value}.re", real_of(source), part), convert(f"{value}.im", real_of(source), part))
        return _make(target, convert(value, source, part), "0")
    if target == "bool":
        return f"(uint8_t)({value}.re != 0 || {value}.im != 0)" if is_complex(source) else f"(uint8_t)({value} != 0)"
    if is_complex(source):
        return convert(f"{value}.re", real_of(source), target)
    if is_float(source) and not is_float(target):
        # By way of the widest integer: what a negative number becomes in an unsigned type is not defined otherwise.
        if target == "uint64":
            return f"({value} < 9223372036854775808.0f ? (uint64_t)(int64_t){value} : (uint64_t){value})"
        return f"({C_TYPES[target]})(int64_t){value}"
    return f"({C_TYPES[target]}){value}"


# arithmetic -----------------------------------------------------------------------------------------------------------------------

_FLOOR_DIVIDE = {
    "unsigned": "T op(T a, T b) { return b == 0 ? (T)0 : (T)(a / b); }",
    "signed": """T op(T a, T b) {
    if (b == 0) return 0;
    if (b == -1) return (T)(0 - (U)a);
    T q = (T)(a / b);
    if (a % b != 0 && (a < 0) != (b < 0)) q = (T)(q - 1);
    return q;
}""",
    "float": """T op(T a, T b) {
    if (b == 0) return a / b;
    T m = fmod(a, b);
    T d = (a - m) / b;
    if (m != 0 && (b < 0) != (m < 0)) d -= 1;
    if (d == 0) return copysign((T)0, a / b);
    T whole = floor(d);
    if (d - whole > (T)0.5f) whole += 1;
    return whole;
}""",
}

_REMAINDER = {
    "unsigned": "T op(T a, T b) { return b == 0 ? (T)0 : (T)(a % b); }",
    "signed": """T op(T a, T b) {
    if (b == 0 || b == -1) return 0;
    T m = (T)(a % b);
    if (m != 0 && (m < 0) != (b < 0)) m = (T)(m + b);
    return m;
}""",
    "float": """T op(T a, T b) {
    T m = fmod(a, b);
    if (b == 0) return m;
    if (m == 0) return copysign((T)0, b);
    if ((b < 0) != (m < 0)) m += b;
    return m;
}""",
}

_POWER = {
    "integer": """T op(T a, T b) {
    U result = 1, square = (U)a;
    for (T rest = b; rest > 0; rest = (T)(rest / 2)) {
        if (rest % 2 != 0) result *= square;
        square *= square;
    }
    return (T)result;
}""",
    "float": "T op(T a, T b) { return pow(a, b); }",
    "complex": """T times(T a, T b) { return make_T(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }
T inverse(T a) {
    if (fabs(a.re) >= fabs(a.im)) {
        const R ratio = a.im / a.re, scale = 1 / (a.re + a.im * ratio);
        return make_T(scale, -ratio * scale);
    }
    const R ratio = a.re / a.im, scale = 1 / (a.im + a.re * ratio);
    return make_T(ratio * scale, -scale);
}
T op(T a, T b) {
    if (b.re == 0 && b.im == 0) return make_T(1, 0);
    if (a.re == 0 && a.im == 0) {
        const R nothing = b.re > 0 ? (R)0 : (R)0 / a.re;
        return make_T(nothing, nothing);
    }
    if (b.im == 0 && b.re == floor(b.re) && fabs(b.re) < 100) {
        T result = make_T(1, 0), square = a;
        for (int rest = (int)fabs(b.re); rest > 0; rest /= 2) {
            if (rest % 2 != 0) result = times(result, square);
            square = times(square, square);
        }
        return b.re < 0 ? inverse(result) : result;
    }
    const R size = log(hypot(a.re, a.im)), angle = atan2(a.im, a.re);
    const R grown = exp(b.re * size - b.im * angle), turned = b.im * size + b.re * angle;
    return make_T(grown * cos(turned), grown * sin(turned));
}""",
}

_DIVIDE_COMPLEX = """T op(T a, T b) {
    const R re = fabs(b.re), im = fabs(b.im);
    if (re == 0 && im == 0) return make_T(a.re / re, a.im / re);
    if (re >= im) {
        const R ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
        return make_T((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale);
    }
    const R ratio = b.re / b.im, scale = 1 / (b.im + b.re * ratio);
    return make_T((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale);
}"""


def written(text: str, dtype: str) -> str:
    """The text of a function for one type: T is the type, U a wide unsigned one, R that of the parts of a complex number."""
    names = {"T": C_TYPES[dtype], "U": wide(dtype), "R": C_TYPES[real_of(dtype)], "make_T": f"make_{C_TYPES[dtype]}"}
    words, word = [], ""
    for character in text + " ":
        if character.isalnum() or character == "_":
            word += character
        else:
            words.append(names.get(word, word) + character)
            word = ""
    return "".join(words)


def _kind(dtype: str) -> str:
    return "complex" if is_complex(dtype) else "float" if is_float(dtype) else "unsigned" if is_unsigned(dtype) else "signed"


def _plain(symbol: str, dtype: str) -> Operation:
    """`+`, `-` or `*`."""
    if is_complex(dtype):
        if symbol == "*":
            return Operation(_make(dtype, "a.re * b.re - a.im * b.im", "a.re * b.im + a.im * b.re"), dtype)
        return Operation(_make(dtype, f"a.re {symbol} b.re", f"a.im {symbol} b.im"), dtype)
    if is_float(dtype):
        return Operation(f"a {symbol} b", dtype)
    if dtype == "bool":
        return Operation({"+": "a | b", "*": "a & b"}[symbol], dtype)
    unsigned = wide(dtype)
    return Operation(f"({C_TYPES[dtype]})(({unsigned})a {symbol} ({unsigned})b)", dtype)


def _function(text: str, dtype: str) -> Operation:
    return Operation("op(a, b)", dtype, written(text, dtype))


def _divide(dtype: str) -> Operation:
    return _function(_DIVIDE_COMPLEX, dtype) if is_complex(dtype) else Operation("a / b", dtype)


def _power(dtype: str) -> Operation:
    kind = _kind(dtype)
    return _function(_POWER[kind if kind in _POWER else "integer"], dtype)


def _extreme(symbol: str, dtype: str) -> Operation:
    """The smaller or the larger; not-a-number where either is."""
    if is_complex(dtype):
        before = f"(a.re {symbol} b.re || (a.re == b.re && a.im {symbol}= b.im))"
        return Operation(f"(a.re != a.re || a.im != a.im || (b.re == b.re && b.im == b.im && {before})) ? a : b", dtype)
    return Operation(f"(a {symbol} b{' || a != a' if is_float(dtype) else ''}) ? a : b", dtype)


def _bitwise(symbol: str, dtype: str) -> Operation:
    return Operation(f"({C_TYPES[dtype]})(a {symbol} b)", dtype)


# comparisons ----------------------------------------------------------------------------------------------------------------------

_SYMBOLS = {"less": "<", "less_equal": "<=", "equal": "==", "not_equal": "!=", "greater": ">", "greater_equal": ">="}


def _compare_complex(symbol: str) -> str:
    """By the real parts, then by the imaginary ones."""
    if symbol == "==":
        return "a.re == b.re && a.im == b.im"
    if symbol == "!=":
        return "a.re != b.re || a.im != b.im"
    return f"(a.re {symbol[0]} b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im {symbol} b.im)"


def _compare_mixed(symbol: str, signed_first: bool) -> str:
    """An int64 and a uint64, which no type holds both of."""
    signed, unsigned = ("a", "b") if signed_first else ("b", "a")
    equal = f"({signed} >= 0 && (uint64_t){signed} == {unsigned})"
    less = f"({signed} < 0 || (uint64_t){signed} < {unsigned})" if signed_first else f"({signed} > 0 && {unsigned} < (uint64_t){signed})"
    texts = {"==": equal, "!=": f"!{equal}", "<": less, "<=": f"({less} || {equal})", ">": f"!({less} || {equal})", ">=": f"!{less}"}
    return texts[symbol]


def _compare(name: str, first: str, second: str) -> Operation:
    symbol = _SYMBOLS[name]
    if first != second:
        text = _compare_mixed(symbol, first == "int64")
    elif is_complex(first):
        text = _compare_complex(symbol)
    else:
        text = f"a {symbol} b"
    return Operation(f"(uint8_t)({text})", "bool")


def binary(name: str, first: str, second: str) -> Operation:
    """What NumPy's function of that name does with `a` and `b` of these types, which are equal unless an int64 meets a uint64."""
    if name in _SYMBOLS:
        return _compare(name, first, second)
    kind = _kind(first)
    if name in ("add", "subtract", "multiply"):
        return _plain({"add": "+", "subtract": "-", "multiply": "*"}[name], first)
    if name in ("minimum", "maximum"):
        return _extreme({"minimum": "<", "maximum": ">"}[name], first)
    if name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        return _bitwise({"bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"}[name], first)
    if name == "divide":
        return _divide(first)
    if name == "power":
        return _power(first)
    return _function({"floor_divide": _FLOOR_DIVIDE, "remainder": _REMAINDER}[name][kind], first)


def unary(name: str, dtype: str) -> Operation:
    """What NumPy's function of that name does with `a` of this type."""
    c_type, unsigned = C_TYPES[dtype], wide(dtype)
    if name == "positive":
        return Operation("a", dtype)
    if name == "conjugate":
        return Operation(_make(dtype, "a.re", "-a.im"), dtype)
    if name == "invert":
        return Operation("(uint8_t)(a == 0)" if dtype == "bool" else f"({c_type})~a", dtype)
    if name == "negative":
        if is_complex(dtype):
            return Operation(_make(dtype, "-a.re", "-a.im"), dtype)
        return Operation("-a" if is_float(dtype) else f"({c_type})(0 - ({unsigned})a)", dtype)
    if is_complex(dtype):
        return Operation("hypot(a.re, a.im)", real_of(dtype))
    if is_float(dtype):
        return Operation("fabs(a)", dtype)
    return Operation("a" if is_unsigned(dtype) else f"(a < 0 ? ({c_type})(0 - ({unsigned})a) : a)", dtype)
