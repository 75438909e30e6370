//! Values that may be longer than the system's keychain allows for one secret.
//!
//! # Theory of operation
//! A value that fits is stored as any other. The store says how long a secret may be when one is too
//! long; the value is then cut into parts with names of their own, and the name itself gets an index.
//! The parts are written first and the index last, so a crash in between leaves the old value. The
//! new parts have other names than the old ones, which are removed at the end.

use super::{Keychain, KeychainError};

/// What an index starts with. No value that is stored this way may start with it.
const INDEX: &str = "evermoor-parts:";

/// Where the parts of a value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Index {
    /// Alternates between 0 and 1.
    series: u8,
    count: usize,
}

impl Keychain {
    /// The value under this name, which may be in several parts. `None` if there is none, or if a part
    /// is missing.
    pub async fn get_long(&self, name: &str) -> Result<Option<String>, KeychainError> {
        let Some(value) = self.get(name).await? else { return Ok(None) };
        let Some(index) = Index::parse(&value) else { return Ok(Some(value)) };
        let mut whole = String::new();
        for number in 0..index.count {
            match self.get(&index.part(name, number)).await? {
                Some(part) => whole.push_str(&part),
                None => return Ok(None),
            }
        }
        Ok(Some(whole))
    }

    /// Stores a value, in several parts if the system allows only shorter ones.
    pub async fn set_long(&self, name: &str, value: &str) -> Result<(), KeychainError> {
        let before = self.get(name).await?.and_then(|value| Index::parse(&value));
        match self.set(name, value).await {
            Err(KeychainError::TooLong(most)) => {
                let parts = parts(value, most);
                let series = before.map_or(0, |index| 1 - index.series);
                let index = Index { series, count: parts.len() };
                for (number, part) in parts.into_iter().enumerate() {
                    self.set(&index.part(name, number), part).await?;
                }
                self.set(name, &index.to_string()).await?;
            }
            other => other?,
        }
        self.remove_parts(name, before).await
    }

    /// Removes a value and its parts. Returns whether there was one.
    pub async fn delete_long(&self, name: &str) -> Result<bool, KeychainError> {
        let before = self.get(name).await?.and_then(|value| Index::parse(&value));
        let deleted = self.delete(name).await?;
        self.remove_parts(name, before).await?;
        Ok(deleted)
    }

    async fn remove_parts(&self, name: &str, index: Option<Index>) -> Result<(), KeychainError> {
        let Some(index) = index else { return Ok(()) };
        for number in 0..index.count {
            self.delete(&index.part(name, number)).await?;
        }
        Ok(())
    }
}

impl Index {
    fn parse(value: &str) -> Option<Self> {
        let (series, count) = value.strip_prefix(INDEX)?.split_once(':')?;
        let index = Self { series: series.parse().ok()?, count: count.parse().ok()? };
        (index.series <= 1 && index.count <= MOST_PARTS).then_some(index)
    }

    fn part(&self, name: &str, number: usize) -> String {
        format!("{name}#{}.{number}", self.series)
    }
}

impl std::fmt::Display for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{INDEX}{}:{}", self.series, self.count)
    }
}

/// An index with more parts was not written by Evermoor.
const MOST_PARTS: usize = 1_000;

/// Cuts a text into parts of at most `most` bytes, whether the store counts them in UTF-8 or in
/// UTF-16.
fn parts(text: &str, most: u32) -> Vec<&str> {
    let most = usize::try_from(most).unwrap_or(usize::MAX).max(4);
    let (mut parts, mut start, mut size) = (Vec::new(), 0, 0);
    for (at, character) in text.char_indices() {
        let length = character.len_utf8().max(2 * character.len_utf16());
        if size + length > most {
            parts.push(&text[start..at]);
            (start, size) = (at, 0);
        }
        size += length;
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::super::{KEYCHAIN_TIMEOUT, SecretStore};
    use super::*;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use tokio::sync::Mutex;

    /// A store like that of Windows: UTF-16, and at most `most` bytes. It breaks after some writes.
    #[derive(Clone)]
    struct Small {
        kept: Arc<Mutex<BTreeMap<String, String>>>,
        writes_left: Arc<Mutex<usize>>,
        most: u32,
    }

    impl SecretStore for Small {
        fn get(&self, name: &str) -> Result<Option<String>, KeychainError> {
            Ok(self.kept.blocking_lock().get(name).cloned())
        }

        fn set(&self, name: &str, value: &str) -> Result<(), KeychainError> {
            if value.encode_utf16().count() * 2 > usize::try_from(self.most).unwrap() {
                return Err(KeychainError::TooLong(self.most));
            }
            let mut left = self.writes_left.blocking_lock();
            *left = left.checked_sub(1).ok_or(KeychainError::Locked)?;
            self.kept.blocking_lock().insert(name.into(), value.into());
            Ok(())
        }

        fn delete(&self, name: &str) -> Result<bool, KeychainError> {
            Ok(self.kept.blocking_lock().remove(name).is_some())
        }

        fn list(&self) -> Result<Vec<String>, KeychainError> {
            Ok(self.kept.blocking_lock().keys().cloned().collect())
        }
    }

    fn small(most: u32) -> (Keychain, Small) {
        let (kept, writes_left) = (Arc::default(), Arc::new(Mutex::new(usize::MAX)));
        let store = Small { kept, writes_left, most };
        let opened = store.clone();
        let keychain = Keychain::with_store(move || Ok(Box::new(opened.clone())), KEYCHAIN_TIMEOUT);
        (keychain, store)
    }

    #[tokio::test]
    async fn a_value_that_is_too_long_for_one_secret_is_kept_in_parts() {
        let (keychain, store) = small(2_560);
        for value in ["x".repeat(10_000), "é𝄞".repeat(2_000), "short".into(), "y".repeat(3_000)]
        {
            keychain.set_long("a", &value).await.unwrap();
            assert_eq!(keychain.get_long("a").await.unwrap(), Some(value));
        }
        assert_eq!(store.kept.lock().await.len(), 4, "an index and three parts");
        assert!(keychain.delete_long("a").await.unwrap());
        assert!(store.kept.lock().await.is_empty());
        assert!(!keychain.delete_long("a").await.unwrap());
    }

    #[tokio::test]
    async fn a_write_that_is_cut_short_leaves_the_old_value() {
        let (keychain, store) = small(100);
        keychain.set_long("a", &"old".repeat(60)).await.unwrap();
        for writes in 0..5 {
            *store.writes_left.lock().await = writes;
            assert_eq!(keychain.set_long("a", &"new".repeat(60)).await, Err(KeychainError::Locked));
            assert_eq!(keychain.get_long("a").await.unwrap(), Some("old".repeat(60)), "{writes}");
        }
    }

    #[tokio::test]
    async fn a_value_with_a_missing_part_does_not_exist() {
        let (keychain, store) = small(100);
        keychain.set_long("a", &"x".repeat(500)).await.unwrap();
        store.kept.lock().await.remove("a#0.2");
        assert_eq!(keychain.get_long("a").await.unwrap(), None);
    }
}
