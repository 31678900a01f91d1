//! Running a loop: which ways there are, one of them made ready for a context, and its launches.

mod combine;
mod distributed;
mod exchange;
mod job;
mod known;
mod letters;
pub mod options;
pub mod par_loop;
mod product;
mod remembered;
pub mod report;
mod scheme;
mod staged;
mod tune;
mod written;
