//! Versions of apps, and the range that a preset supports.

use std::fmt;

use super::probe;
use super::probe::Probe;

/// A numeric version. A suffix such as `-beta` is ignored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AppVersion(Vec<u64>);

/// How to query an app's version, and which versions are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionCheck {
    pub ask: Probe,
    /// The JSON pointer to the version; `None` if the whole answer is the version.
    pub at: Option<String>,
    pub from: AppVersion,
    pub before: AppVersion,
    /// Other known values, such as "debug".
    pub also: Vec<String>,
}

/// How a version compares to the known range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionFit {
    Known,
    Older,
    /// Worth a remark, but not an error.
    Newer,
    /// It is not a version.
    Unreadable,
}

impl AppVersion {
    /// Parses two to four numbers separated by dots, with an optional suffix.
    pub fn parse(text: &str) -> Option<Self> {
        let end = text.find(|sign: char| !sign.is_ascii_digit() && sign != '.');
        let (numbers, rest) = text.split_at(end.unwrap_or(text.len()));
        let tail = rest.is_empty() || rest.starts_with(['-', '+']) && rest.len() < 40;
        if !tail || rest.contains(char::is_whitespace) {
            return None;
        }
        let parts: Result<Vec<u64>, _> = numbers.split('.').map(str::parse).collect();
        let mut parts = parts.ok().filter(|parts| (2..=4).contains(&parts.len()))?;
        // 12.3 and 12.3.0 are equal.
        while parts.last() == Some(&0) {
            parts.pop();
        }
        Some(Self(parts))
    }
}

impl fmt::Display for AppVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |index: usize| self.0.get(index).copied().unwrap_or(0);
        write!(f, "{}.{}.{}", part(0), part(1), part(2))
    }
}

impl VersionCheck {
    /// The version in an answer, as text.
    pub fn read(&self, status: u16, body: &[u8]) -> Option<String> {
        if !self.ask.expect.answers(status) {
            return None;
        }
        let text = match &self.at {
            Some(at) => probe::json(body)?.pointer(at)?.as_str()?.to_owned(),
            None => std::str::from_utf8(body).ok()?.trim().to_owned(),
        };
        (!text.is_empty() && text.len() < 80).then_some(text)
    }

    /// Compares a version to the known range.
    pub fn fit(&self, version: &str) -> VersionFit {
        if self.also.iter().any(|word| word == version) {
            return VersionFit::Known;
        }
        match AppVersion::parse(version) {
            None => VersionFit::Unreadable,
            Some(version) if version < self.from => VersionFit::Older,
            Some(version) if version >= self.before => VersionFit::Newer,
            Some(_) => VersionFit::Known,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::PresetSet;
    use super::*;
    use proptest::prelude::*;

    fn pieces() -> VersionCheck {
        PresetSet::bundled().get("pieces-os").unwrap().version.clone().unwrap()
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let parse = |text| AppVersion::parse(text).unwrap();
        assert!(parse("12.10.0") > parse("12.9.9"));
        assert_eq!(parse("12.3"), parse("12.3.0"));
        assert_eq!(parse("2025.2.4-beta.1").to_string(), "2025.2.4");
        for none in ["", "12", "v12.1", "12.1 or so", "1.2.3.4.5", "12..1", "<html>"] {
            assert_eq!(AppVersion::parse(none), None, "{none}");
        }
    }

    #[test]
    fn a_newer_version_is_newer_and_a_developers_build_is_known() {
        let check = pieces();
        assert_eq!(check.fit("12.3.10"), VersionFit::Known);
        assert_eq!(check.fit("debug"), VersionFit::Known);
        assert_eq!(check.fit("13.0.0"), VersionFit::Newer);
        assert_eq!(check.fit("11.9.9"), VersionFit::Older);
        assert_eq!(check.fit("unheard of"), VersionFit::Unreadable);
        assert_eq!(check.read(200, b" 12.3.10\n").as_deref(), Some("12.3.10"));
        assert_eq!(check.read(500, b"12.3.10"), None);
    }

    proptest! {
        #[test]
        fn the_range_includes_its_start_and_excludes_its_end(numbers in prop::collection::vec(0_u64..30, 3)) {
            let text = format!("{}.{}.{}", numbers[0], numbers[1], numbers[2]);
            let wanted = match numbers[0] {
                0..=11 => VersionFit::Older,
                12 => VersionFit::Known,
                _ => VersionFit::Newer,
            };
            prop_assert_eq!(pieces().fit(&text), wanted);
        }
    }
}
