//! Transformations by name, as in text kernels and Python: `split_iname i 16 outer_tag=g.0`.
//!
//! This module has the values of such a step and how a transformation takes its arguments from it; `apply` has the table of names.

use parloop_isl::Name;

/// One transformation with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct TransformStep {
    /// The transformation.
    pub name: Name,
    /// Positional arguments.
    pub args: Vec<StepValue>,
    /// Keyword arguments.
    pub keywords: Vec<(Name, StepValue)>,
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum StepValue {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<StepValue>),
    /// Keys and values, in the order given.
    Map(Vec<(StepValue, StepValue)>),
}

/// Why the arguments of a step do not match the transformation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum StepError {
    #[error("`{step}` takes at most {most} arguments ({names}), but {found} were given")]
    TooMany { step: Name, most: usize, names: String, found: usize },
    #[error("`{step}` has no argument `{argument}`; it has {names}")]
    UnknownArgument { step: Name, argument: Name, names: String },
    #[error("`{step}`: argument `{argument}` was given twice")]
    GivenTwice { step: Name, argument: Name },
    #[error("`{step}`: argument `{argument}` is missing")]
    Missing { step: Name, argument: Name },
    #[error("`{step}`: argument `{argument}` must be {expected}, not {found}")]
    WrongType { step: Name, argument: Name, expected: &'static str, found: String },
}

/// The arguments of a step, taken one after the other by name.
#[derive(Debug)]
pub struct Arguments<'a> {
    step: &'a Name,
    values: Vec<(&'static str, Option<&'a StepValue>)>,
}

impl<'a> Arguments<'a> {
    /// Matches the given values with the argument names, in order.
    ///
    /// # Errors
    /// [`StepError::TooMany`], [`StepError::UnknownArgument`], [`StepError::GivenTwice`].
    pub fn of(step: &'a TransformStep, names: &[&'static str]) -> Result<Arguments<'a>, StepError> {
        if step.args.len() > names.len() {
            let (most, found) = (names.len(), step.args.len());
            return Err(StepError::TooMany { step: step.name.clone(), most, names: names.join(", "), found });
        }
        let given = step.args.iter().map(Some).chain(std::iter::repeat(None));
        let mut values: Vec<_> = names.iter().copied().zip(given).collect();
        for (name, value) in &step.keywords {
            let Some((_, place)) = values.iter_mut().find(|(known, _)| name == known) else {
                let (step, argument) = (step.name.clone(), name.clone());
                return Err(StepError::UnknownArgument { step, argument, names: names.join(", ") });
            };
            if place.replace(value).is_some() {
                return Err(StepError::GivenTwice { step: step.name.clone(), argument: name.clone() });
            }
        }
        Ok(Arguments { step: &step.name, values })
    }

    /// The value of an argument; `None` also for the value none.
    pub fn get(&self, name: &str) -> Option<&'a StepValue> {
        let given = self.values.iter().find(|(known, _)| *known == name).and_then(|(_, value)| *value);
        given.filter(|value| **value != StepValue::None)
    }

    fn need(&self, name: &str) -> Result<&'a StepValue, StepError> {
        self.get(name).ok_or_else(|| StepError::Missing { step: self.step.clone(), argument: name.into() })
    }

    /// The error for an argument of the wrong kind.
    pub fn wrong(&self, name: &str, expected: &'static str) -> StepError {
        let found = self.get(name).map_or_else(|| "nothing".to_owned(), StepValue::describe);
        StepError::WrongType { step: self.step.clone(), argument: name.into(), expected, found }
    }

    /// A required string.
    pub fn text(&self, name: &str) -> Result<&'a str, StepError> {
        self.need(name)?.as_text().ok_or_else(|| self.wrong(name, "text"))
    }

    /// An optional string.
    pub fn optional_text(&self, name: &str) -> Result<Option<&'a str>, StepError> {
        self.get(name).map(|value| value.as_text().ok_or_else(|| self.wrong(name, "text"))).transpose()
    }

    /// A required integer.
    pub fn int(&self, name: &str) -> Result<i64, StepError> {
        self.need(name)?.as_int().ok_or_else(|| self.wrong(name, "an integer"))
    }

    /// An optional integer.
    pub fn optional_int(&self, name: &str) -> Result<Option<i64>, StepError> {
        self.get(name).map(|value| value.as_int().ok_or_else(|| self.wrong(name, "an integer"))).transpose()
    }

    /// A bool, or its default.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool, StepError> {
        match self.get(name) {
            None => Ok(default),
            Some(StepValue::Bool(value)) => Ok(*value),
            Some(_) => Err(self.wrong(name, "true or false")),
        }
    }

    /// Required names: a list, or a string with commas.
    pub fn names(&self, name: &str) -> Result<Vec<Name>, StepError> {
        self.need(name)?.as_names().ok_or_else(|| self.wrong(name, "names, as a list or separated by commas"))
    }

    /// Optional names.
    pub fn optional_names(&self, name: &str) -> Result<Option<Vec<Name>>, StepError> {
        let wrong = || self.wrong(name, "names, as a list or separated by commas");
        self.get(name).map(|value| value.as_names().ok_or_else(wrong)).transpose()
    }

    /// Required keys and values.
    pub fn map(&self, name: &str) -> Result<&'a [(StepValue, StepValue)], StepError> {
        match self.need(name)? {
            StepValue::Map(entries) => Ok(entries),
            _ => Err(self.wrong(name, "keys with values")),
        }
    }
}

impl StepValue {
    /// The value as a string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            StepValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value as an integer.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            StepValue::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The value as names: a list, or a string with commas.
    pub fn as_names(&self) -> Option<Vec<Name>> {
        match self {
            StepValue::Text(text) => Some(text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(Name::from).collect()),
            StepValue::List(values) => values.iter().map(|value| value.as_text().map(|text| Name::from(text.trim()))).collect(),
            _ => None,
        }
    }

    /// In a few words, for messages.
    pub fn describe(&self) -> String {
        match self {
            StepValue::None => "nothing".into(),
            StepValue::Bool(value) => value.to_string(),
            StepValue::Int(value) => value.to_string(),
            StepValue::Float(value) => value.to_string(),
            StepValue::Text(text) => format!("`{text}`"),
            StepValue::List(_) => "a list".into(),
            StepValue::Map(_) => "keys with values".into(),
        }
    }
}

impl From<&str> for StepValue {
    fn from(text: &str) -> StepValue {
        StepValue::Text(text.to_owned())
    }
}

impl From<i64> for StepValue {
    fn from(value: i64) -> StepValue {
        StepValue::Int(value)
    }
}
