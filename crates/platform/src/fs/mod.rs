//! Files.
//!
//! - [`private`]: files that only their owner may read, written atomically
//! - [`foreign`]: reads a file whose path somebody else names
//! - [`replace`](mod@replace): replaces a file of another program
//! - [`lock`]: the lock that allows one gateway at a time
//! - [`disk`]: free space
//!
//! Depends on no other module of this crate.

pub mod disk;
pub mod foreign;
pub mod lock;
pub mod private;
pub mod replace;
