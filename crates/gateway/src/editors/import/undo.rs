//! Undoing what importing did: first the editors, then the configuration, then the secrets.

use evermoor_core::config::edit::Edit;
use evermoor_core::failure::Failure;
use evermoor_platform::fs::replace;
use evermoor_platform::keychain::Keychain;
use evermoor_platform::paths::Paths;
use evermoor_setup::Desk;

use super::record::{Journal, Pointed, Record};
use super::redirect;
use super::redirect::MakeGate;
use super::{config, mistake, unreplaced};

/// What is not needed any more once editors have their servers back.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    pub upstreams: Vec<String>,
    pub secrets: Vec<String>,
    /// The editors whose token was made for entries that are gone.
    pub tokens: Vec<String>,
}

/// Gives their servers back to all editors, or to one, and says which they were and what is left over.
pub fn editors(
    desk: &Desk,
    journal: &mut Journal,
    only: Option<&str>,
    gate: MakeGate<'_>,
) -> Result<(Vec<Pointed>, Leftovers), Failure> {
    let mut gone: Vec<Pointed> = Vec::new();
    let wanted = |pointed: &Pointed| only.is_none_or(|only| pointed.client == only);
    while let Some(place) = journal.record.editors.iter().rposition(wanted) {
        let pointed = journal.record.editors[place].clone();
        redirect::back(desk, &pointed, gate)?;
        journal.note(|record| drop(record.editors.remove(place)))?;
        redirect::forget(&pointed.copy);
        gone.push(pointed);
    }
    let leftovers = match only {
        None => {
            let Record { upstreams, secrets, .. } = &journal.record;
            let tokens = journal.record.spare_tokens();
            Leftovers { upstreams: upstreams.clone(), secrets: secrets.clone(), tokens }
        }
        Some(_) => leftovers(&journal.record, &gone),
    };
    journal.note(|record| record.tokens.retain(|id| !leftovers.tokens.contains(id)))?;
    Ok((gone, leftovers))
}

/// What came with these editors' entries, and leads no other editor's here.
fn leftovers(record: &Record, gone: &[Pointed]) -> Leftovers {
    let left = |all: &[String], of: fn(&Pointed) -> &Vec<String>| {
        let came = |name: &&String| gone.iter().any(|pointed| of(pointed).contains(name));
        let used = |name: &&String| record.editors.iter().any(|other| of(other).contains(name));
        all.iter().filter(|name| came(name) && !used(name)).cloned().collect()
    };
    Leftovers {
        upstreams: left(&record.upstreams, |pointed| &pointed.upstreams),
        secrets: left(&record.secrets, |pointed| &pointed.secrets),
        tokens: record.spare_tokens(),
    }
}

/// The configuration byte for byte as it was, or without what was added if a person changed it since
/// or something of it stays.
pub fn configuration(
    paths: &Paths,
    journal: &mut Journal,
    leftovers: &Leftovers,
) -> Result<(), Failure> {
    let stays = |name: &String| !leftovers.upstreams.contains(name);
    let record = &journal.record;
    let all = !record.upstreams.iter().any(stays);
    if let Some(now) = replace::content(&paths.config).map_err(unreplaced)? {
        let wanted = match &record.config {
            Some(written) if all && written.after.as_bytes() == now => {
                written.before.as_ref().map(|text| text.clone().into_bytes())
            }
            Some(_) | None => Some(without(config(paths)?.1, &leftovers.upstreams)?.into_bytes()),
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

/// Takes the secrets out of the keychain, and says which were there.
pub async fn secrets(
    keychain: &Keychain,
    journal: &mut Journal,
    leftovers: &Leftovers,
) -> Result<Vec<String>, Failure> {
    let mut gone = Vec::new();
    for name in &leftovers.secrets {
        let deleted = keychain.delete(name).await;
        let deleted =
            deleted.map_err(|error| crate::config::secrets::unusable(&error, Some(name)))?;
        journal.note(|record| record.secrets.retain(|known| known != name))?;
        gone.extend(deleted.then(|| name.clone()));
    }
    Ok(gone)
}

fn without(mut edit: Edit, upstreams: &[String]) -> Result<String, Failure> {
    for upstream in upstreams {
        // A person may have taken it out already.
        let _ = edit.remove_upstream(upstream);
    }
    edit.done().map(|(text, _)| text).map_err(|found| mistake(&found))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointed(client: &str, upstreams: &[&str]) -> Pointed {
        let upstreams: Vec<String> = upstreams.iter().map(|&name| name.to_owned()).collect();
        Pointed {
            client: client.into(),
            spot: evermoor_setup::Spot::of("file".into()),
            copy: "copy".into(),
            names: Vec::new(),
            doors: Vec::new(),
            over_stdio: false,
            secrets: upstreams.clone(),
            upstreams,
        }
    }

    #[test]
    fn what_another_editor_still_uses_stays() {
        let record = Record {
            upstreams: ["a", "b", "c"].map(String::from).into(),
            secrets: ["a", "b"].map(String::from).into(),
            config: None,
            editors: vec![pointed("zed", &["b"])],
            tokens: ["cursor", "zed"].map(String::from).into(),
        };
        let left = leftovers(&record, &[pointed("cursor", &["a", "b", "known before"])]);
        let all = |name: &str| vec![name.to_owned()];
        let expected = Leftovers { upstreams: all("a"), secrets: all("a"), tokens: all("cursor") };
        assert_eq!(left, expected);
    }
}
