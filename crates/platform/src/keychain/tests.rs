//! A keychain that works, fails and hangs.

use super::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

/// A store in memory, of which a person may be typing the password.
#[derive(Clone, Default)]
struct Memory {
    kept: Arc<tokio::sync::Mutex<BTreeMap<String, String>>>,
}

impl Store for Memory {
    fn get(&self, name: &str) -> Result<Option<String>, StoreError> {
        Ok(self.kept.blocking_lock().get(name).cloned())
    }

    fn set(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.kept.blocking_lock().insert(name.into(), value.into());
        Ok(())
    }

    fn delete(&self, name: &str) -> Result<bool, StoreError> {
        Ok(self.kept.blocking_lock().remove(name).is_some())
    }

    fn list(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.kept.blocking_lock().keys().rev().cloned().collect())
    }
}

#[tokio::test]
async fn what_is_kept_is_found_listed_and_removed() {
    let memory = Memory::default();
    let keychain = Keychain::opened_by(move || Ok(Box::new(memory.clone())), PATIENCE);
    keychain.set("b", "two").await.unwrap();
    keychain.set("a", "one").await.unwrap();
    assert_eq!(keychain.get("a").await.unwrap().as_deref(), Some("one"));
    assert_eq!(keychain.list().await.unwrap(), ["a", "b"]);
    assert!(keychain.delete("a").await.unwrap());
    assert!(!keychain.delete("a").await.unwrap());
    assert_eq!(keychain.get("a").await, Ok(None));
}

#[tokio::test]
async fn a_store_that_failed_is_opened_anew_and_one_that_works_is_kept() {
    let opened = Arc::new(AtomicU32::new(0));
    let counting = Arc::clone(&opened);
    let keychain = Keychain::opened_by(
        move || match counting.fetch_add(1, Ordering::SeqCst) {
            0 => Err(StoreError::Missing("not yet".into())),
            _ => Ok(Box::new(Memory::default())),
        },
        PATIENCE,
    );
    assert!(matches!(keychain.get("a").await, Err(StoreError::Missing(_))));
    assert_eq!(keychain.get("a").await, Ok(None));
    assert_eq!(keychain.get("b").await, Ok(None));
    assert_eq!(opened.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn nobody_waits_for_a_keychain_that_hangs_and_it_is_not_asked_again_for_them() {
    let memory = Memory::default();
    let (opened, kept) = (Arc::new(AtomicU32::new(0)), Arc::clone(&memory.kept));
    let counting = Arc::clone(&opened);
    let keychain = Keychain::opened_by(
        move || {
            counting.fetch_add(1, Ordering::SeqCst);
            Ok(Box::new(memory.clone()))
        },
        Duration::from_millis(20),
    );
    let typing = kept.lock().await;
    assert_eq!(keychain.get("a").await, Err(StoreError::Silent));
    assert_eq!(keychain.set("a", "never").await, Err(StoreError::Silent));
    drop(typing);
    let patient = Keychain { patience: PATIENCE, ..keychain };
    assert_eq!(patient.get("a").await, Ok(None), "what nobody waited for was not done");
    assert_eq!(opened.load(Ordering::SeqCst), 1);
}
