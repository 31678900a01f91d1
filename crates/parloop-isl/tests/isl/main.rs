//! Tests sets against their text, enumeration of small boxes and islpy, and from several threads.

mod affine;
mod brute;
mod oracle;
mod sets;
mod text;
mod threads;
