//! Undoes imports: first the editors' files, then the configuration, then the secrets.

use evermoor_core::config::edit::ConfigEdit;
use evermoor_core::failure::Failure;
use evermoor_platform::fs::replace;
use evermoor_platform::keychain::Keychain;
use evermoor_platform::paths::Paths;
use evermoor_setup::UserEditors;

use super::record::{ImportJournal, ImportRecord, RedirectedFile};
use super::redirect;
use super::redirect::MakeGate;
use super::{config, mistake, unreplaced};

/// What is no longer needed once editors have their servers back.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Unneeded {
    pub upstreams: Vec<String>,
    pub secrets: Vec<String>,
    /// The editors whose token was created for entries that are gone.
    pub tokens: Vec<String>,
}

/// Restores the entries of all editors, or of one. Returns the files, and what is no longer needed.
pub fn editors(
    user_editors: &UserEditors,
    journal: &mut ImportJournal,
    only: Option<&str>,
    gate: MakeGate<'_>,
) -> Result<(Vec<RedirectedFile>, Unneeded), Failure> {
    let mut gone: Vec<RedirectedFile> = Vec::new();
    let wanted = |file: &RedirectedFile| only.is_none_or(|only| file.client == only);
    while let Some(index) = journal.record.editors.iter().rposition(wanted) {
        let file = journal.record.editors[index].clone();
        redirect::restore(user_editors, &file, gate)?;
        journal.note(|record| drop(record.editors.remove(index)))?;
        redirect::remove_copy(&file.copy);
        gone.push(file);
    }
    let unneeded = match only {
        None => {
            let ImportRecord { upstreams, secrets, .. } = &journal.record;
            let tokens = journal.record.spare_tokens();
            Unneeded { upstreams: upstreams.clone(), secrets: secrets.clone(), tokens }
        }
        Some(_) => unneeded(&journal.record, &gone),
    };
    journal.note(|record| record.tokens.retain(|id| !unneeded.tokens.contains(id)))?;
    Ok((gone, unneeded))
}

/// What was imported from these files and is used by no other editor.
fn unneeded(record: &ImportRecord, gone: &[RedirectedFile]) -> Unneeded {
    let left = |all: &[String], of: fn(&RedirectedFile) -> &Vec<String>| {
        let came = |name: &&String| gone.iter().any(|file| of(file).contains(name));
        let used = |name: &&String| record.editors.iter().any(|other| of(other).contains(name));
        all.iter().filter(|name| came(name) && !used(name)).cloned().collect()
    };
    Unneeded {
        upstreams: left(&record.upstreams, |file| &file.upstreams),
        secrets: left(&record.secrets, |file| &file.secrets),
        tokens: record.spare_tokens(),
    }
}

/// Restores the configuration exactly. If the user changed it since, or some upstreams stay, only
/// removes the upstreams that are no longer needed.
pub fn configuration(
    paths: &Paths,
    journal: &mut ImportJournal,
    unneeded: &Unneeded,
) -> Result<(), Failure> {
    let stays = |name: &String| !unneeded.upstreams.contains(name);
    let record = &journal.record;
    let all = !record.upstreams.iter().any(stays);
    if let Some(now) = replace::content(&paths.config).map_err(unreplaced)? {
        let wanted = match &record.config {
            Some(written) if all && written.after.as_bytes() == now => {
                written.before.as_ref().map(|text| text.clone().into_bytes())
            }
            Some(_) | None => Some(without(config(paths)?.1, &unneeded.upstreams)?.into_bytes()),
        };
        if wanted.as_ref() != Some(&now) {
            replace::replace(&paths.config, Some(&now), wanted.as_deref()).map_err(unreplaced)?;
        }
    }
    journal.note(|record| {
        record.upstreams.retain(stays);
        record.config = None;
    })
}

/// Deletes the secrets from the keychain and returns those that existed.
pub async fn secrets(
    keychain: &Keychain,
    journal: &mut ImportJournal,
    unneeded: &Unneeded,
) -> Result<Vec<String>, Failure> {
    let mut gone = Vec::new();
    for name in &unneeded.secrets {
        let deleted = keychain.delete(name).await;
        let deleted = deleted
            .map_err(|error| crate::config::secrets::keychain_failure(&error, Some(name)))?;
        journal.note(|record| record.secrets.retain(|known| known != name))?;
        gone.extend(deleted.then(|| name.clone()));
    }
    Ok(gone)
}

fn without(mut edit: ConfigEdit, upstreams: &[String]) -> Result<String, Failure> {
    for upstream in upstreams {
        // The user may have removed it already.
        let _ = edit.remove_upstream(upstream);
    }
    edit.done().map(|(text, _)| text).map_err(|found| mistake(&found))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(client: &str, upstreams: &[&str]) -> RedirectedFile {
        let upstreams: Vec<String> = upstreams.iter().map(|&name| name.to_owned()).collect();
        RedirectedFile {
            client: client.into(),
            location: evermoor_setup::ConfigLocation::of("file".into()),
            copy: "copy".into(),
            names: Vec::new(),
            gateway_entries: Vec::new(),
            over_stdio: false,
            secrets: upstreams.clone(),
            upstreams,
        }
    }

    #[test]
    fn what_another_editor_still_uses_is_kept() {
        let record = ImportRecord {
            upstreams: ["a", "b", "c"].map(String::from).into(),
            secrets: ["a", "b"].map(String::from).into(),
            config: None,
            editors: vec![file("zed", &["b"])],
            tokens: ["cursor", "zed"].map(String::from).into(),
        };
        let left = unneeded(&record, &[file("cursor", &["a", "b", "known before"])]);
        let all = |name: &str| vec![name.to_owned()];
        let expected = Unneeded { upstreams: all("a"), secrets: all("a"), tokens: all("cursor") };
        assert_eq!(left, expected);
    }
}
