//! Between the eras: every row of the translation, with an upstream that speaks one revision only.

#[cfg(unix)]
mod content;
#[cfg(unix)]
mod input;
#[cfg(target_os = "linux")]
mod matrix;
#[cfg(unix)]
mod newer;
#[cfg(unix)]
mod older;
#[cfg(unix)]
mod tasks;
#[cfg(unix)]
mod world;
