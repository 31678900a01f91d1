//! Running a loop: which strategies there are, one of them made ready for a context, and its launches.

mod combine;
mod contributions;
mod direct;
mod distributed;
mod exchange;
mod job;
mod known;
mod letters;
pub mod options;
pub mod par_loop;
mod product;
pub mod report;
mod routes;
mod scheme;
mod staged;
mod strategy_cache;
mod tune;
mod written;
