//! `evermoor serve --takeover`: a gateway takes the place of another, and nobody notices.

mod attempts;
mod calls;
mod hammer;
mod history;
mod sessions;
mod stateless;
