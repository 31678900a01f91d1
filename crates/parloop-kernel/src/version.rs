//! The version of parloop, as programs in files have it.

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
