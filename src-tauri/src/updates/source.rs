//! Where updates come from and the key that signs them. Both are set at build time, because anyone
//! who could change them later could replace the program.

use tauri::Url;

pub(super) struct Source {
    pub(super) key: String,
    pub(super) endpoint: Url,
}

impl Source {
    /// The source that this program was built with, or why it has none.
    pub(super) fn built_in() -> Result<Self, &'static str> {
        let key = given("EVERMOOR_UPDATE_KEY", option_env!("EVERMOOR_UPDATE_KEY"));
        let endpoint = given("EVERMOOR_UPDATE_URL", option_env!("EVERMOOR_UPDATE_URL"));
        Self::of(key, endpoint)
    }

    fn of(key: Option<String>, endpoint: Option<String>) -> Result<Self, &'static str> {
        let key = key.ok_or("This build has no key to verify updates.")?;
        let endpoint = endpoint.ok_or("This build has no address for updates.")?;
        let endpoint = endpoint.parse();
        let endpoint = endpoint.map_err(|_| "This build has an invalid address for updates.")?;
        Ok(Self { key, endpoint })
    }
}

/// The built-in value. A debug build also reads the environment, for tests and development.
fn given(variable: &str, built_in: Option<&str>) -> Option<String> {
    let from_env = cfg!(debug_assertions).then(|| std::env::var(variable).ok()).flatten();
    from_env.or_else(|| built_in.map(str::to_owned)).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_a_key_or_an_address_says_why_it_has_no_updates() {
        let (key, url) = (|| Some("key".to_owned()), || Some("https://x/latest.json".to_owned()));
        assert!(Source::of(key(), url()).is_ok());
        for (key, url) in [(None, url()), (key(), None), (key(), Some("nowhere".into()))] {
            assert!(Source::of(key, url).is_err_and(|reason| reason.starts_with("This build")));
        }
    }
}
