//! Where updates come from, and the key that they must be signed with. Both are set when the program
//! is built, because whoever could change them later could replace the program.

use tauri::Url;

pub(super) struct Source {
    pub(super) key: String,
    pub(super) endpoint: Url,
}

impl Source {
    /// What this program was built with, or why it has no updates.
    pub(super) fn here() -> Result<Self, &'static str> {
        let key = given("EVERMOOR_UPDATE_KEY", option_env!("EVERMOOR_UPDATE_KEY"));
        let endpoint = given("EVERMOOR_UPDATE_URL", option_env!("EVERMOOR_UPDATE_URL"));
        Self::of(key, endpoint)
    }

    fn of(key: Option<String>, endpoint: Option<String>) -> Result<Self, &'static str> {
        let key = key.ok_or("This build has no key to check updates with.")?;
        let endpoint = endpoint.ok_or("This build does not know where updates are.")?;
        let endpoint = endpoint.parse();
        let endpoint = endpoint.map_err(|_| "This build has no valid address for updates.")?;
        Ok(Self { key, endpoint })
    }
}

/// A build for tests and development may also be told when it is started.
fn given(variable: &str, built_in: Option<&str>) -> Option<String> {
    let told = cfg!(debug_assertions).then(|| std::env::var(variable).ok()).flatten();
    told.or_else(|| built_in.map(str::to_owned)).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_key_or_an_address_there_are_no_updates_and_a_reason() {
        let (key, url) = (|| Some("key".to_owned()), || Some("https://x/latest.json".to_owned()));
        assert!(Source::of(key(), url()).is_ok());
        for (key, url) in [(None, url()), (key(), None), (key(), Some("nowhere".into()))] {
            assert!(Source::of(key, url).is_err_and(|reason| reason.starts_with("This build")));
        }
    }
}
