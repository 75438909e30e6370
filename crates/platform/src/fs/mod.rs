//! Files.
//!
//! - [`private`]: files that only their owner may read, written atomically
//! - [`replace`](mod@replace): replaces a file of another program
//! - [`lock`]: the lock that allows one gateway at a time
//! - [`disk`]: free space
//!
//! Depends on no other module of this crate.

pub mod disk;
pub mod lock;
pub mod private;
pub mod replace;
