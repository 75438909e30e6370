//! No local sockets on Windows.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

pub type LocalReader = ReadHalf<DuplexStream>;
pub type LocalWriter = WriteHalf<DuplexStream>;

/// Never exists.
#[derive(Debug)]
pub struct LocalListener(Infallible);

impl LocalListener {
    pub fn open(_: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn own(&mut self) {
        match self.0 {}
    }

    pub fn disown(&mut self) {
        match self.0 {}
    }

    pub fn is_in_place(&self) -> bool {
        match self.0 {}
    }

    pub async fn accept(&self) -> io::Result<(LocalReader, LocalWriter)> {
        match self.0 {}
    }
}

pub async fn connect(_: &Path) -> io::Result<(LocalReader, LocalWriter)> {
    Err(io::ErrorKind::Unsupported.into())
}
