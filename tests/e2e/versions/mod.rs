//! Between the eras: every row of the translation, with an upstream that speaks one revision only.

#[cfg(unix)]
mod content;
#[cfg(unix)]
mod input;
#[cfg(target_os = "linux")]
mod matrix;
#[cfg(unix)]
mod session_editor;
#[cfg(unix)]
mod setting;
#[cfg(unix)]
mod stateless_editor;
#[cfg(unix)]
mod tasks;
