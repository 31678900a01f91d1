//! Values of environment variables.

use crate::error::{DeviceError, Result};

/// An environment variable as a boolean: `1` is true; `0`, the empty string and an unset variable are false.
///
/// ```
/// assert_eq!(parloop_device::flag_from_env("PARLOOP_NOT_SET")?, false);
/// # Ok::<(), parloop_device::DeviceError>(())
/// ```
///
/// # Errors
/// [`DeviceError::Variable`] for anything else.
pub fn flag_from_env(name: &'static str) -> Result<bool> {
    let Some(value) = std::env::var_os(name) else { return Ok(false) };
    flag(&value.to_string_lossy()).ok_or_else(|| DeviceError::Variable {
        name,
        value: value.to_string_lossy().into_owned(),
        expected: "0 or 1".into(),
    })
}

fn flag(value: &str) -> Option<bool> {
    match value {
        "" | "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_0_and_1_are_flags() {
        assert_eq!(
            ["", "0", "1", "yes", "true", "on", "2", " 1"].map(flag),
            [Some(false), Some(false), Some(true), None, None, None, None, None]
        );
    }
}
