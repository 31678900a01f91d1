//! Descriptions of kernels, which the source is checked against.

use std::fmt;

use parloop_device::DType;

use crate::error::{KernelError, Result};
use crate::grid::Grid;
use crate::signature::{Param, ParamType, Pointee, Signature};

/// A kernel as its caller describes it; the description must agree with the source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelDescription {
    /// The name it is called by.
    pub name: String,
    /// Its name in the source, if different.
    pub c_name: Option<String>,
    /// Its parameters: types, and names where they are given.
    pub params: Option<Vec<DescribedParam>>,
    /// Its return type, if given: `Some(None)` is void.
    pub returns: Option<Option<DescribedParam>>,
    /// How many work items it is launched with.
    pub grid: Grid,
    /// Work items of a block.
    pub block: Option<u32>,
}

/// A described parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribedParam {
    /// Its name in calls; by default the name in the source.
    pub name: Option<String>,
    /// Its scalar type, or that of what it points at; `None` leaves it to the source.
    pub dtype: Option<DType>,
    /// The class whose object it is, if it is one.
    pub class: Option<String>,
    /// Whether it is a pointer; an object of a class is not.
    pub pointer: bool,
    /// Whether what it points at is only read; `None` leaves it to the source.
    pub constant: Option<bool>,
}

impl KernelDescription {
    /// Its name in the source.
    pub(crate) fn c_name(&self) -> &str {
        self.c_name.as_ref().unwrap_or(&self.name)
    }

    /// The signature under the described names, if description and source agree.
    pub(crate) fn check(&self, found: &Signature) -> Result<Signature> {
        let disagree =
            |what: String| KernelError::Description { kernel: self.name.clone(), what, source_says: found.to_string(), line: found.line };
        match (&self.returns, &found.returns) {
            (None, _) | (Some(None), None) => {}
            (Some(Some(described)), Some(returned)) if described.agrees(returned) => {}
            (Some(Some(described)), _) => return Err(disagree(format!("return type {described}"))),
            (Some(None), Some(_)) => return Err(disagree("return type void".into())),
        }
        let mut signature = found.clone();
        if let Some(described) = &self.params {
            if described.len() != found.params.len() {
                return Err(disagree(format!("{} arguments", described.len())));
            }
            for (index, (described, param)) in described.iter().zip(&mut signature.params).enumerate() {
                if !described.agrees(&param.ty) {
                    return Err(disagree(format!("argument {} as `{described}`", index + 1)));
                }
                if let Some(name) = &described.name {
                    param.name = name.clone();
                }
            }
            let repeated = |(index, param): (usize, &Param)| signature.position(&param.name) != Some(index);
            if let Some(index) = signature.params.iter().enumerate().position(repeated) {
                return Err(disagree(format!("two arguments `{}`", signature.params[index].name)));
            }
        }
        Ok(signature)
    }
}

impl DescribedParam {
    fn agrees(&self, ty: &ParamType) -> bool {
        if self.dtype.is_none() && self.class.is_none() && !self.pointer {
            // All is left to the source.
            return true;
        }
        match ty {
            ParamType::Scalar(dtype) => !self.pointer && self.class.is_none() && self.dtype.is_none_or(|described| described == *dtype),
            ParamType::Pointer { to, constant } => {
                let same_type = match (to, self.dtype, &self.class) {
                    (Pointee::Class(class), None, described) => {
                        !self.pointer && described.as_ref().is_none_or(|described| described == class)
                    }
                    (Pointee::Struct(name) | Pointee::Other(name), None, Some(class)) => self.pointer && name == class,
                    (Pointee::Class(_), Some(_), _) | (_, _, Some(_)) => false,
                    (Pointee::Scalar(dtype), Some(described), None) => self.pointer && *dtype == described,
                    (Pointee::Char, Some(described), None) => self.pointer && described.size() == 1,
                    _ => self.pointer,
                };
                same_type && self.constant.is_none_or(|described| described == *constant || !described)
            }
        }
    }
}

impl fmt::Display for DescribedParam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let constant = if self.constant == Some(true) { "const " } else { "" };
        let dtype = self.class.as_deref().unwrap_or(self.dtype.map_or("…", DType::c_name));
        let pointer = if self.pointer { " *" } else { "" };
        write!(f, "{constant}{dtype}{pointer}")
    }
}
