//! C, for our CPU threads or for a plain call.

use parloop_device::DType;
use parloop_ir::syntax::{AddressSpace, MemoryKind, Target};

use super::dialect::Dialect;
use crate::lower::tree::{Axis, FunctionKind};

pub(super) struct C;

impl Dialect for C {
    fn target(&self) -> Target {
        Target::C
    }

    fn scalar(&self, dtype: DType) -> &'static str {
        dtype.c_name()
    }

    fn space(&self, _space: AddressSpace) -> &'static str {
        ""
    }

    fn table(&self) -> &'static str {
        "static "
    }

    fn head(&self, kind: &FunctionKind, shared: bool) -> String {
        match kind {
            FunctionKind::Launched(_) | FunctionKind::Task(_) if shared => "GPUKERN void".into(),
            FunctionKind::Launched(_) | FunctionKind::Task(_) => "void".into(),
            FunctionKind::Called => "static inline void".into(),
        }
    }

    fn routine(&self) -> &'static str {
        "static inline "
    }

    fn axis(&self, axis: Axis) -> String {
        // Lowering gives these axes variables of their own.
        match axis {
            Axis::Group(axis) => format!("gid{axis}"),
            Axis::Local(axis) => format!("lid{axis}"),
        }
    }

    fn barrier(&self, _memory: MemoryKind) -> &'static str {
        ";"
    }

    fn takes_alignment(&self) -> bool {
        true
    }

    fn integer_suffix(&self, dtype: DType) -> &'static str {
        match dtype {
            DType::I64 => "l",
            DType::U32 => "u",
            DType::U64 => "ul",
            _ => "",
        }
    }

    fn special(&self, value: f64, _dtype: DType) -> String {
        if value.is_nan() {
            "NAN".into()
        } else if value < 0.0 {
            "-INFINITY".into()
        } else {
            "INFINITY".into()
        }
    }

    fn has_complex(&self) -> bool {
        true
    }

    fn unroll(&self) -> Option<&'static str> {
        Some("#pragma GCC unroll 16")
    }

    fn independent(&self) -> Option<&'static str> {
        // GCC would write short loops out before it vectorises, and then does not.
        Some("#pragma GCC ivdep\n#pragma GCC unroll 1")
    }

    fn atomic_add(&self, dtype: DType) -> Option<String> {
        dtype.is_integer().then(|| "__atomic_fetch_add(at, value, __ATOMIC_RELAXED);".into())
    }

    fn compare_and_swap(&self, dtype: DType, _space: AddressSpace) -> Option<String> {
        (dtype.size() <= 8).then(|| "__atomic_compare_exchange(at, &old, &wanted, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)".into())
    }

    fn opening(&self, text: &str) -> String {
        let mut opening = "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n".to_owned();
        if text.contains("_Complex") {
            opening.push_str("#include <complex.h>\n#undef I\n#undef complex\n");
        }
        if text.contains("VECTORIZE_OVER") {
            opening.push_str(SERIAL_GROUPS);
        }
        opening
    }
}

/// By default, one thread runs all groups.
const SERIAL_GROUPS: &str = "\
#ifndef VECTORIZE_OVER
#define GPUKERN
#define VECTORIZE_OVER(INDEX, COUNT) for (int64_t INDEX = 0; INDEX < (int64_t)(COUNT); ++INDEX) {
#define END_VECTORIZE }
#endif
";
