//! A range of ports for one fake, so that tests can run in parallel.

use std::net::{Ipv4Addr, TcpListener};

use super::settings::PORTS;

/// A range that is reserved while this value lives.
#[derive(Debug)]
pub struct Range {
    pub first: u16,
    /// The port below the range. Binding it reserves the range.
    _claim: TcpListener,
}

/// Below the ephemeral ports, above the usual service ports.
const LOWEST: u16 = 15_000;
const BLOCKS: u16 = 480;

impl Range {
    pub fn claim() -> Self {
        let from = u16::try_from(std::process::id() % u32::from(BLOCKS)).expect("it is below");
        let blocks = (from..BLOCKS).chain(0..from);
        blocks.into_iter().find_map(Self::block).expect("some range is free")
    }

    fn block(number: u16) -> Option<Self> {
        let base = LOWEST + number * (PORTS + 1);
        let claim = bind(base)?;
        // A foreign process in the range would be found by a port scan.
        let free = (base + 1..=base + PORTS).all(|port| bind(port).is_some());
        free.then_some(Self { first: base + 1, _claim: claim })
    }
}

fn bind(port: u16) -> Option<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok()
}
