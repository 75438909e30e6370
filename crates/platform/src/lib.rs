//! The operating system: the only place for `cfg(target_os)` and for unsafe code.
//!
//! One module per capability. What can be decided without the system (paths, command lines, the
//! reading of another tool's output) is a pure function that takes the system as a parameter and
//! is tested on all of them; what cannot is a thin call.
//!
//! # Layout
//! - [`system`]: which of the three systems this is
//! - [`paths`]: where each kind of file belongs
//! - [`files`]: files that only their owner may read, and writes that never tear
//! - [`replace`]: replacing a file that belongs to another program
//! - [`lock`]: one instance only
//! - [`handover`]: giving sockets and the lock to another process
//! - [`login`]: what is started at login, [`startup::login::found`] as the system has it
//! - [`machine`]: what this machine is, and who uses it
//! - [`memory`]: the memory of this process
//! - [`process`]: starting programs that outlive us, or that must not
//! - [`child`]: starting an upstream's program, which must not outlive us
//! - [`clock`]: the time of day
//! - [`descriptors`]: how much may be open at once
//! - [`launch`]: launching an application of the desktop
//! - [`run`]: running a program of the system for what it prints
//! - [`open`]: a page in the browser
//! - [`port`]: who holds a port
//! - [`facts`]: which program a process is, when it started, what it uses
//! - [`watch`]: noticing at once that a process ends
//! - [`reports`]: what the system wrote about crashes
//! - [`sleep`]: when the machine sleeps and wakes
//! - [`secrets`]: secrets in the keychain of the system
//! - [`disk`]: how much of it is free
//! - [`service`]: a gateway that the system starts at login
//! - [`signals`]: when the system asks us to stop

pub mod clock;
pub mod crash_reports;
pub mod fs;
pub mod handover;
pub mod keychain;
pub mod paths;
pub mod process;
pub mod sleep;
pub mod startup;
pub mod system;
