//! Definitions of the structs that stand for vectors and records.

use std::collections::HashSet;

use parloop_device::DType;
use parloop_ir::functions::{vector_definition, vector_maker, vector_type};
use parloop_ir::syntax::{RecordType, Target};

use super::dialect::Dialect;
use crate::lower::record::{record_type, record_zero};

/// The vector types that a text uses, for targets that have none of their own.
pub(super) fn vectors(target: Target, text: &str) -> String {
    if matches!(target, Target::OpenCl | Target::Ispc) {
        return String::new();
    }
    let words: HashSet<&str> =
        text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| word.starts_with("pl_")).collect();
    let is_used = |dtype: DType, lanes: u8| {
        words.contains(&*vector_type(dtype, lanes, target)) || words.contains(&*vector_maker(dtype, lanes, target))
    };
    let numbers = DType::ALL.into_iter().filter(|dtype| dtype.is_integer() || dtype.is_float());
    let all = numbers.flat_map(|dtype| [2, 3, 4, 8, 16].map(|lanes| (dtype, lanes)));
    all.filter(|&(dtype, lanes)| is_used(dtype, lanes)).map(|(dtype, lanes)| vector_definition(dtype, lanes, target)).collect()
}

/// The struct of a record. All gaps are members, so that every compiler places the fields where they belong; a record whose fields are not
/// where C would put them is packed. A record of zeros is a function, if the text uses it.
pub(super) fn record(dialect: &dyn Dialect, record: &RecordType, text: &str) -> String {
    let (name, zero) = (record_type(record.name()), record_zero(record.name()));
    let byte = dialect.scalar(DType::U8);
    let (mut members, mut end) = (String::new(), 0);
    let gap = |from: usize, to: usize| if from < to { format!("  {byte} pad_at_{from}[{}];\n", to - from) } else { String::new() };
    for field in record.fields() {
        members.push_str(&gap(end, field.offset));
        members.push_str(&format!("  {} {};\n", dialect.scalar(field.dtype), field.name));
        end = field.offset + field.dtype.size();
    }
    members.push_str(&gap(end, record.size()));
    let packed = if record.alignment() == 1 { " __attribute__ ((packed))" } else { "" };
    let definition = format!("typedef struct{packed}\n{{\n{members}}} {name};\n");
    if !text.contains(&*format!("{zero}()")) {
        return definition;
    }
    let nothing = if matches!(dialect.target(), Target::Cuda | Target::Hip) { "{}" } else { "{0}" };
    let words = dialect.routine();
    format!("{definition}{words}{name} {zero}(void)\n{{\n  {name} v = {nothing};\n  return v;\n}}\n")
}
