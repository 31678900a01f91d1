//! Transformations as lines that parse back to the same value.

use std::fmt;

use super::quoted;
use crate::parse::{SPECIAL_IN_MAP, plain};
use crate::step::{StepValue, TransformStep};

impl fmt::Display for StepValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepValue::None => f.write_str("None"),
            StepValue::Bool(true) => f.write_str("True"),
            StepValue::Bool(false) => f.write_str("False"),
            StepValue::Int(value) => write!(f, "{value}"),
            StepValue::Float(value) => write!(f, "{value:?}"),
            StepValue::Text(text) => {
                let special = |c: char| c.is_whitespace() || c.is_control() || SPECIAL_IN_MAP.contains(c) || c == ';';
                let bare = !text.is_empty() && !text.contains(special) && plain(text) == *self;
                f.write_str(&if bare { text.clone() } else { quoted(text) })
            }
            StepValue::List(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
            StepValue::Map(entries) => {
                let entries: Vec<String> = entries.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                write!(f, "{{{}}}", entries.join(", "))
            }
        }
    }
}

impl fmt::Display for TransformStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.args.iter().try_for_each(|value| write!(f, " {value}"))?;
        self.keywords.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}
