//! Which upstreams the user paused. Evermoor does not contact them and answers calls to them at once.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The paused upstreams. Saved in a file, so that a pause outlives the gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PausedUpstreams {
    /// All upstreams, including those that are added later.
    all: bool,
    upstreams: BTreeSet<String>,
}

impl PausedUpstreams {
    pub fn is(&self, upstream: &str) -> bool {
        self.all || self.upstreams.contains(upstream)
    }

    /// Pauses one upstream, or all.
    pub fn pause(&mut self, upstream: Option<&str>) {
        match upstream {
            None => self.all = true,
            Some(upstream) => {
                self.upstreams.insert(upstream.to_owned());
            }
        }
    }

    /// Resumes one upstream, or all. `configured` lists every upstream: if all were paused, the
    /// others stay paused.
    pub fn resume<'a>(
        &mut self,
        upstream: Option<&str>,
        configured: impl IntoIterator<Item = &'a str>,
    ) {
        let Some(upstream) = upstream else {
            *self = Self::default();
            return;
        };
        if std::mem::take(&mut self.all) {
            self.upstreams.extend(configured.into_iter().map(str::to_owned));
        }
        self.upstreams.remove(upstream);
    }

    /// Reads the file. A corrupt file pauses nothing.
    pub fn read(file: &[u8]) -> Self {
        serde_json::from_slice(file).unwrap_or_default()
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a flag and names are serializable")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [&str; 3] = ["a", "b", "c"];

    #[test]
    fn pausing_all_includes_later_upstreams() {
        let mut paused = PausedUpstreams::default();
        paused.pause(None);
        assert!(paused.is("a") && paused.is("later"));
        paused.resume(None, ALL);
        assert_eq!(paused, PausedUpstreams::default());
    }

    #[test]
    fn resuming_one_keeps_the_others_paused() {
        let mut paused = PausedUpstreams::default();
        paused.pause(None);
        paused.resume(Some("b"), ALL);
        assert_eq!(ALL.map(|name| paused.is(name)), [true, false, true]);
    }

    #[test]
    fn a_corrupt_file_pauses_nothing() {
        for file in [&b""[..], b"[]", b"{\"all\":3}", b"\xff"] {
            assert_eq!(PausedUpstreams::read(file), PausedUpstreams::default());
        }
    }

    proptest! {
        #[test]
        fn the_last_request_for_an_upstream_wins_and_is_read_back(
            requests in prop::collection::vec((any::<bool>(), prop::option::of(0_usize..3)), 0..12),
        ) {
            let (mut paused, mut wanted) = (PausedUpstreams::default(), [false; 3]);
            for (pause, which) in requests {
                let upstream = which.map(|which| ALL[which]);
                if pause { paused.pause(upstream) } else { paused.resume(upstream, ALL) }
                match which {
                    Some(which) => wanted[which] = pause,
                    None => wanted = [pause; 3],
                }
                prop_assert_eq!(ALL.map(|name| paused.is(name)), wanted);
            }
            prop_assert_eq!(PausedUpstreams::read(&paused.to_bytes()), paused);
        }
    }
}
