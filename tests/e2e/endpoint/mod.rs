//! The endpoint on the wire, in every revision.

mod newer;
mod sessions;
mod sse;
