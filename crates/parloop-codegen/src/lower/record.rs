//! Names of records in generated code.

use parloop_isl::Name;

/// The name of a record's struct.
pub(crate) fn record_type(name: &str) -> String {
    format!("pl_record_{name}")
}

/// The function that gives a record of zeros.
pub(crate) fn record_zero(name: &str) -> Name {
    format!("pl_zero_{name}").into()
}
