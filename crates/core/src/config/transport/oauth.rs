//! How Evermoor signs in to an upstream: `auth = "oauth"` and the table `oauth`.
//!
//! Without the table, everything is discovered: the authorization server, the scopes, and how to
//! register. A token must not leave this computer in clear text, so the address is https or on this
//! machine, and it contains no secret, because the authorization server learns it.

use serde::Deserialize;
use toml::Spanned;
use url::Url;

use super::address::UpstreamUrl;
use super::http::template;
use crate::config::ConfigError;
use crate::config::tables::{UpstreamTable, line};
use crate::security::secret_ref::Template;

/// How Evermoor signs in to an upstream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OAuthOptions {
    pub grant: Grant,
    /// A client that the user registered. Without one, Evermoor registers itself.
    pub client: Option<ConfiguredClient>,
    /// The scopes to ask for; by default those that the server names.
    pub scopes: Vec<String>,
    /// The address of a document that describes Evermoor to servers that accept one.
    pub client_metadata_url: Option<Url>,
    /// The only authorization server that may be used.
    pub authorization_server: Option<Url>,
}

/// Who permits the access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grant {
    /// A user, in a browser that can come back to this computer.
    #[default]
    AuthorizationCode,
    /// A user, who enters a code in a browser on any device.
    DeviceCode,
    /// Nobody: the client has a secret of its own.
    ClientCredentials,
}

/// A client that the user registered with the authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredClient {
    pub id: String,
    pub secret: Option<Template>,
}

/// The table `oauth` of an upstream.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OAuthTable {
    client_id: Option<Spanned<String>>,
    client_secret: Option<Spanned<String>>,
    #[serde(default)]
    scopes: Vec<Spanned<String>>,
    client_metadata_url: Option<Spanned<String>>,
    authorization_server: Option<Spanned<String>>,
    #[serde(default)]
    grant: Grant,
}

impl Grant {
    /// Whether a user has to sign in.
    pub fn needs_a_person(self) -> bool {
        match self {
            Self::AuthorizationCode | Self::DeviceCode => true,
            Self::ClientCredentials => false,
        }
    }

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AuthorizationCode => "authorization-code",
            Self::DeviceCode => "device-code",
            Self::ClientCredentials => "client-credentials",
        }
    }
}

impl OAuthOptions {
    /// Reads the settings of an upstream at `url`; `None` if it does not use OAuth.
    pub(crate) fn read(
        text: &str,
        url: &UpstreamUrl,
        table: &UpstreamTable,
    ) -> Result<Option<Self>, ConfigError> {
        let wrong = |at: usize, what: &str, remedy: &str| ConfigError {
            line: Some(line(text, at)),
            what: what.to_owned(),
            remedy: remedy.to_owned(),
        };
        let Some(auth) = &table.auth else {
            return match &table.oauth {
                Some(oauth) => Err(wrong(
                    oauth.span().start,
                    "The table `oauth` has no effect without `auth`.",
                    "Add `auth = \"oauth\"`, or remove the table.",
                )),
                None => Ok(None),
            };
        };
        let start = auth.span().start;
        if auth.get_ref() != "oauth" {
            let what = format!("`{}` is not a valid value for `auth`.", auth.get_ref());
            return Err(wrong(start, &what, "Write \"oauth\", or remove it."));
        }
        let in_headers =
            table.headers.keys().any(|name| name.get_ref().eq_ignore_ascii_case("authorization"));
        if in_headers {
            let what = "The server has both `auth` and the header `Authorization`.";
            return Err(wrong(start, what, "Remove one of them."));
        }
        if !url.template().is_plain() {
            let what = "The `url` contains a secret. A sign-in would reveal it to the authorization server.";
            return Err(wrong(start, what, "Remove the secret from `url`, or remove `auth`."));
        }
        if !is_private(url.placeholder()) {
            let what = "A sign-in needs an https address.";
            return Err(wrong(start, what, "Write `https` in `url`, or remove `auth`."));
        }
        match &table.oauth {
            Some(oauth) => oauth.get_ref().read(text, oauth.span().start).map(Some),
            None => Ok(Some(Self::default())),
        }
    }
}

impl OAuthTable {
    fn read(&self, text: &str, start: usize) -> Result<OAuthOptions, ConfigError> {
        let wrong = |at: usize, what: String, remedy: &str| ConfigError {
            line: Some(line(text, at)),
            what,
            remedy: remedy.to_owned(),
        };
        let client = match (&self.client_id, &self.client_secret) {
            (Some(id), secret) => {
                if id.get_ref().is_empty() || !id.get_ref().bytes().all(is_visible) {
                    let what = "`client_id` is not one word of printable ASCII.".to_owned();
                    return Err(wrong(id.span().start, what, "Copy it from the server's page."));
                }
                let secret = secret.as_ref().map(|secret| self.secret(text, secret)).transpose()?;
                Some(ConfiguredClient { id: id.get_ref().clone(), secret })
            }
            (None, Some(secret)) => {
                let what = "`client_secret` has no `client_id`.".to_owned();
                return Err(wrong(secret.span().start, what, "Add the `client_id` it belongs to."));
            }
            (None, None) => None,
        };
        for scope in &self.scopes {
            let allowed = |byte: u8| is_visible(byte) && byte != b'"' && byte != b'\\';
            if scope.get_ref().is_empty() || !scope.get_ref().bytes().all(allowed) {
                let what = format!("\"{}\" is not a scope.", scope.get_ref());
                return Err(wrong(scope.span().start, what, "Write one scope per item."));
            }
        }
        let address = |setting: &Option<Spanned<String>>, name: &str| {
            let Some(written) = setting else { return Ok(None) };
            let url = Url::parse(written.get_ref()).ok().filter(is_private);
            url.map(Some).ok_or_else(|| {
                let what = format!("`{name}` is not an https address.");
                wrong(
                    written.span().start,
                    what,
                    "Write an address such as \"https://example.com\".",
                )
            })
        };
        let client_metadata_url = address(&self.client_metadata_url, "client_metadata_url")?;
        if let (Some(written), Some(url)) = (&self.client_metadata_url, &client_metadata_url)
            && (url.scheme() != "https" || url.path() == "/")
        {
            let what = "`client_metadata_url` is not the https address of a document.".to_owned();
            let remedy = "Write an address such as \"https://example.com/client.json\".";
            return Err(wrong(written.span().start, what, remedy));
        }
        let authorization_server = address(&self.authorization_server, "authorization_server")?;
        let has_secret = client.as_ref().is_some_and(|client| client.secret.is_some());
        if self.grant == Grant::ClientCredentials && !has_secret {
            let what = "The grant \"client-credentials\" needs a client of its own.".to_owned();
            return Err(wrong(start, what, "Add `client_id` and `client_secret`."));
        }
        Ok(OAuthOptions {
            grant: self.grant,
            client,
            scopes: self.scopes.iter().map(|scope| scope.get_ref().clone()).collect(),
            client_metadata_url,
            authorization_server,
        })
    }

    fn secret(&self, text: &str, written: &Spanned<String>) -> Result<Template, ConfigError> {
        let secret = template(text, written)?;
        if secret.is_plain() {
            return Err(ConfigError {
                line: Some(line(text, written.span().start)),
                what: "`client_secret` contains a secret, which does not belong in this file.".into(),
                remedy: "Store it in the keychain with `evermoor secret set NAME`, then write `${keyring:NAME}` instead.".into(),
            });
        }
        Ok(secret)
    }
}

fn is_visible(byte: u8) -> bool {
    byte.is_ascii_graphic()
}

/// Whether nobody on the network can read what is sent there.
fn is_private(url: &Url) -> bool {
    let on_this_machine = || match url.host() {
        Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "https" && url.has_host() || url.scheme() == "http" && on_this_machine()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, TransportConfig};

    fn parse_at(url: &str, entry: &str) -> Result<Option<OAuthOptions>, ConfigError> {
        let config = Config::parse(&format!("[upstreams.a]\nurl = \"{url}\"\n{entry}\n"))?;
        match config.upstreams[0].transport.clone() {
            TransportConfig::Http { reach, .. } => Ok(reach.oauth.map(|oauth| *oauth)),
            other @ (TransportConfig::Stdio(_)
            | TransportConfig::App { .. }
            | TransportConfig::Demo) => panic!("an address: {other:?}"),
        }
    }

    fn parse(entry: &str) -> Result<Option<OAuthOptions>, ConfigError> {
        parse_at("https://a.example/mcp", entry)
    }

    #[test]
    fn one_word_is_enough() {
        assert_eq!(parse("").unwrap(), None);
        assert_eq!(parse("auth = \"oauth\"").unwrap(), Some(OAuthOptions::default()));
        let local = parse_at("http://127.0.0.1:1/mcp", "auth = \"oauth\"");
        assert_eq!(local.unwrap(), Some(OAuthOptions::default()));
    }

    #[test]
    fn everything_that_is_discovered_can_be_written_instead() {
        let found = parse(
            "auth = \"oauth\"\n[upstreams.a.oauth]\nclient_id = \"evermoor\"\n\
             client_secret = \"${keyring:a}\"\nscopes = [\"read\", \"write\"]\n\
             client_metadata_url = \"https://b.example/client.json\"\n\
             authorization_server = \"https://c.example\"\ngrant = \"client-credentials\"",
        );
        let found = found.unwrap().unwrap();
        let client = found.client.unwrap();
        assert_eq!(client.id, "evermoor");
        assert_eq!(client.secret.unwrap().as_written(), "${keyring:a}");
        assert_eq!(found.scopes, ["read", "write"]);
        assert_eq!(found.client_metadata_url.unwrap().path(), "/client.json");
        assert_eq!(found.authorization_server.unwrap().host_str(), Some("c.example"));
        assert!(!found.grant.needs_a_person());
    }

    #[test]
    fn a_code_on_another_device_needs_a_person_and_no_client() {
        let found = parse("auth = \"oauth\"\noauth.grant = \"device-code\"").unwrap().unwrap();
        assert_eq!((found.grant, found.client), (Grant::DeviceCode, None));
        assert!(found.grant.needs_a_person());
    }

    #[test]
    fn a_mistake_is_reported_with_its_line_and_a_remedy() {
        let table = |setting: &str| format!("auth = \"oauth\"\n[upstreams.a.oauth]\n{setting}");
        for (entry, line, says) in [
            ("auth = \"basic\"".to_owned(), 3, "not a valid value"),
            ("oauth.client_id = \"x\"".to_owned(), 3, "no effect without `auth`"),
            (
                "auth = \"oauth\"\nheaders = { authorization = \"Bearer ${env:A}\" }".to_owned(),
                3,
                "both",
            ),
            (table("client_id = \"two words\""), 5, "one word"),
            (table("client_secret = \"${env:A}\""), 5, "no `client_id`"),
            (table("client_id = \"x\"\nclient_secret = \"hidden\""), 6, "does not belong"),
            (table("client_id = \"x\"\nclient_secret = \"${hidden\""), 6, "not closed"),
            (table("scopes = [\"a b\"]"), 5, "not a scope"),
            (table("client_metadata_url = \"https://x\""), 5, "address of a document"),
            (table("client_metadata_url = \"http://localhost/x\""), 5, "address of a document"),
            (table("authorization_server = \"http://x\""), 5, "not an https address"),
            (table("grant = \"password\""), 5, "unknown variant"),
            (table("grant = \"device_code\""), 5, "unknown variant"),
            (table("grant = \"client-credentials\"\nclient_id = \"x\""), 4, "client of its own"),
            (table("audience = \"x\""), 5, "unknown field"),
        ] {
            let mistake = parse(&entry).unwrap_err();
            assert_eq!(mistake.line, Some(line), "{entry}: {mistake}");
            assert!(mistake.what.contains(says) && !mistake.remedy.is_empty(), "{mistake}");
            assert!(!mistake.what.contains("hidden"), "{mistake}");
        }
    }

    #[test]
    fn a_token_is_never_sent_in_clear_text_and_no_secret_is_shown_to_the_authorization_server() {
        for (url, says) in [
            ("http://a.example/mcp", "needs an https address"),
            ("http://192.168.1.2/mcp", "needs an https address"),
            ("https://a.example/mcp?key=${env:A}", "contains a secret"),
        ] {
            let mistake = parse_at(url, "auth = \"oauth\"").unwrap_err();
            assert_eq!(mistake.line, Some(3));
            assert!(mistake.what.contains(says), "{mistake}");
        }
    }

    #[test]
    fn a_program_cannot_have_it() {
        let found = Config::parse("[upstreams.a]\ncommand = \"x\"\nauth = \"oauth\"\n");
        assert!(found.unwrap_err().remedy.contains("`url`"));
        let found = Config::parse("[upstreams.a]\npreset = \"pieces-os\"\nauth = \"oauth\"\n");
        assert!(found.unwrap_err().what.contains("`auth`"));
    }
}
