//! Which upstreams a person paused: nothing is asked of them, and their calls are answered at once.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What is paused. It outlives the gateway, as a small file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Paused {
    /// Everything, with what is added to the configuration later.
    all: bool,
    upstreams: BTreeSet<String>,
}

impl Paused {
    pub fn is(&self, upstream: &str) -> bool {
        self.all || self.upstreams.contains(upstream)
    }

    /// Pauses one upstream, or everything.
    pub fn pause(&mut self, upstream: Option<&str>) {
        match upstream {
            None => self.all = true,
            Some(upstream) => {
                self.upstreams.insert(upstream.to_owned());
            }
        }
    }

    /// Resumes one upstream, or everything. `others` are all that there are: if everything was
    /// paused, those stay so.
    pub fn resume<'a>(
        &mut self,
        upstream: Option<&str>,
        others: impl IntoIterator<Item = &'a str>,
    ) {
        let Some(upstream) = upstream else {
            *self = Self::default();
            return;
        };
        if std::mem::take(&mut self.all) {
            self.upstreams.extend(others.into_iter().map(str::to_owned));
        }
        self.upstreams.remove(upstream);
    }

    /// What a file says; nothing is paused by a file that makes no sense.
    pub fn read(file: &[u8]) -> Self {
        serde_json::from_slice(file).unwrap_or_default()
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a flag and names serialise")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [&str; 3] = ["a", "b", "c"];

    #[test]
    fn everything_is_paused_with_what_comes_later() {
        let mut paused = Paused::default();
        paused.pause(None);
        assert!(paused.is("a") && paused.is("later"));
        paused.resume(None, ALL);
        assert_eq!(paused, Paused::default());
    }

    #[test]
    fn one_is_resumed_while_the_others_stay_paused() {
        let mut paused = Paused::default();
        paused.pause(None);
        paused.resume(Some("b"), ALL);
        assert_eq!(ALL.map(|name| paused.is(name)), [true, false, true]);
    }

    #[test]
    fn a_file_that_makes_no_sense_pauses_nothing() {
        for file in [&b""[..], b"[]", b"{\"all\":3}", b"\xff"] {
            assert_eq!(Paused::read(file), Paused::default());
        }
    }

    proptest! {
        #[test]
        fn what_was_asked_last_of_an_upstream_holds_and_is_read_back(
            wishes in prop::collection::vec((any::<bool>(), prop::option::of(0_usize..3)), 0..12),
        ) {
            let (mut paused, mut wanted) = (Paused::default(), [false; 3]);
            for (pause, which) in wishes {
                let upstream = which.map(|which| ALL[which]);
                if pause { paused.pause(upstream) } else { paused.resume(upstream, ALL) }
                match which {
                    Some(which) => wanted[which] = pause,
                    None => wanted = [pause; 3],
                }
                prop_assert_eq!(ALL.map(|name| paused.is(name)), wanted);
            }
            prop_assert_eq!(Paused::read(&paused.to_bytes()), paused);
        }
    }
}
