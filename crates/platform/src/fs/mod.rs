//! Files: private ones, files that other programs own, locks, free space.

pub mod disk;
pub mod lock;
pub mod private;
pub mod replace;
