//! Locks are held briefly. Clippy checks that none is held across an `await` (`await_holding_lock`)
//! and bans the locks of the standard library.

use super::sources::{self, Source};

/// Calls that may take long or wait.
const SLOW: [&str; 9] = [
    "std::fs::",
    "files::",
    "File::",
    "blocking_lock",
    "blocking_recv",
    "blocking_send",
    "block_on",
    "thread::sleep",
    "rusqlite::",
];

#[test]
fn no_lock_is_held_over_a_file_or_a_wait() {
    for source in sources::all() {
        let code = source.code();
        assert_eq!(slow_under_a_lock(&code).first(), None, "{} holds a lock", source.path);
    }
    let held = "    let mut all = self.all.lock();\n    if all.is_empty() {\n        files::write(x);\n    }\n";
    assert_eq!(slow_under_a_lock(held).len(), 1);
    let given_back = held.replace("    if", "    drop(all);\n    if");
    assert_eq!(slow_under_a_lock(&given_back).len(), 0);
}

/// A tokio lock may be held across an `await`, so it only serializes work and protects no data that
/// others read.
#[test]
fn a_lock_that_is_held_over_an_await_only_takes_turns() {
    let users = ["crates/gateway/", "crates/client/", "crates/log/", "crates/cli/", "src-tauri/"];
    let mut found = 0;
    for source in sources::all().iter().filter(|source| source.is_in(&users)) {
        for kept in kept_by_locks_of_tokio(source) {
            assert!(kept.starts_with("()>"), "{} keeps more than a turn: {kept}", source.path);
            found += 1;
        }
    }
    assert!(found > 0);
}

/// The lines on which a guard is alive and something slow is called.
fn slow_under_a_lock(code: &str) -> Vec<&str> {
    let lines: Vec<&str> = code.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(guard) = guard(line) else { continue };
        let given_back = format!("drop({guard})");
        let scope = lines[at + 1..].iter();
        let scope = scope.take_while(|next| next.is_empty() || indent(next) >= indent(line));
        let scope = scope.take_while(|next| !next.contains(&given_back));
        found.extend(scope.filter(|next| SLOW.iter().any(|slow| next.contains(slow))));
    }
    found
}

/// The name of a guard that a line keeps until the end of its block.
fn guard(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("let ")?;
    let locks = [".lock();", ".read();", ".write();", ".lock());", ".read());", ".write());"];
    locks.iter().any(|lock| rest.ends_with(lock)).then_some(())?;
    let name = rest.split(" = ").next()?.rsplit(' ').next()?;
    Some(name.trim_end_matches(')'))
}

fn kept_by_locks_of_tokio(source: &Source) -> Vec<String> {
    let code = source.code();
    let imported = code.lines().any(|line| {
        line.starts_with("use tokio::sync::") && (line.contains("Mutex") || line.contains("RwLock"))
    });
    let locks: &[&str] = match imported {
        true => &[" Mutex<", "<Mutex<", " RwLock<", "<RwLock<"],
        false => &["tokio::sync::Mutex<", "tokio::sync::RwLock<"],
    };
    // A file may use both kinds of locks; then the other one is written with its path or imported
    // as such.
    let other = code.lines().find(|line| line.starts_with("use parking_lot::"));
    let others = |lock: &&&str| {
        let name = lock.trim_matches(|sign: char| !sign.is_alphabetic());
        other.is_some_and(|line| line.contains(name))
    };
    let locks = locks.iter().filter(|lock| !others(lock));
    let kept = locks.flat_map(|lock| code.split(lock).skip(1));
    kept.filter_map(|rest| rest.lines().next()).map(str::to_owned).collect()
}
