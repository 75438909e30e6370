//! A keychain that works, fails and hangs.

use super::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

/// A store in memory. Holding its lock simulates a password prompt.
#[derive(Clone, Default)]
struct Memory {
    kept: Arc<tokio::sync::Mutex<BTreeMap<String, String>>>,
}

impl SecretStore for Memory {
    fn get(&self, name: &str) -> Result<Option<String>, KeychainError> {
        Ok(self.kept.blocking_lock().get(name).cloned())
    }

    fn set(&self, name: &str, value: &str) -> Result<(), KeychainError> {
        self.kept.blocking_lock().insert(name.into(), value.into());
        Ok(())
    }

    fn delete(&self, name: &str) -> Result<bool, KeychainError> {
        Ok(self.kept.blocking_lock().remove(name).is_some())
    }

    fn list(&self) -> Result<Vec<String>, KeychainError> {
        Ok(self.kept.blocking_lock().keys().rev().cloned().collect())
    }
}

#[tokio::test]
async fn secrets_are_read_listed_and_deleted() {
    let memory = Memory::default();
    let keychain = Keychain::with_store(move || Ok(Box::new(memory.clone())), KEYCHAIN_TIMEOUT);
    keychain.set("b", "two").await.unwrap();
    keychain.set("a", "one").await.unwrap();
    assert_eq!(keychain.get("a").await.unwrap().as_deref(), Some("one"));
    assert_eq!(keychain.list().await.unwrap(), ["a", "b"]);
    assert!(keychain.delete("a").await.unwrap());
    assert!(!keychain.delete("a").await.unwrap());
    assert_eq!(keychain.get("a").await, Ok(None));
}

#[tokio::test]
async fn a_store_that_failed_is_reopened_and_one_that_works_is_reused() {
    let opened = Arc::new(AtomicU32::new(0));
    let counting = Arc::clone(&opened);
    let keychain = Keychain::with_store(
        move || match counting.fetch_add(1, Ordering::SeqCst) {
            0 => Err(KeychainError::Unavailable("not yet".into())),
            _ => Ok(Box::new(Memory::default())),
        },
        KEYCHAIN_TIMEOUT,
    );
    assert!(matches!(keychain.get("a").await, Err(KeychainError::Unavailable(_))));
    assert_eq!(keychain.get("a").await, Ok(None));
    assert_eq!(keychain.get("b").await, Ok(None));
    assert_eq!(opened.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_request_to_a_hanging_keychain_times_out_and_is_skipped_later() {
    let memory = Memory::default();
    let (opened, kept) = (Arc::new(AtomicU32::new(0)), Arc::clone(&memory.kept));
    let counting = Arc::clone(&opened);
    let keychain = Keychain::with_store(
        move || {
            counting.fetch_add(1, Ordering::SeqCst);
            Ok(Box::new(memory.clone()))
        },
        Duration::from_millis(20),
    );
    let prompt = kept.lock().await;
    assert_eq!(keychain.get("a").await, Err(KeychainError::NoReply));
    assert_eq!(keychain.set("a", "never").await, Err(KeychainError::NoReply));
    drop(prompt);
    let patient = Keychain { timeout: KEYCHAIN_TIMEOUT, ..keychain };
    assert_eq!(patient.get("a").await, Ok(None), "the request that timed out was not made");
    assert_eq!(opened.load(Ordering::SeqCst), 1);
}
