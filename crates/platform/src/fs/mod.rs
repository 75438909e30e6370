//! Files.
//!
//! - [`private`]: files that only their owner may read, written atomically
//! - [`foreign`]: reads a file whose path others name
//! - [`replace`](mod@replace): replaces a file of another program
//! - [`lock`]: the lock that allows one gateway at a time
//! - [`disk`]: free space
//! - `rename`: renames a file over one that another program may have open
//!
//! Depends on [`crate::system`].

pub mod disk;
pub mod foreign;
pub mod lock;
pub mod private;
mod rename;
pub mod replace;
