//! Sets against their text, against enumeration of small boxes, against islpy, and from several threads.

mod affine;
mod brute;
mod oracle;
mod sets;
mod text;
mod threads;
