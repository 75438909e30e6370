//! The address of a server, which may contain references to secrets.
//!
//! A reference may stand for a part of the path or query, a user name or a password, but never for
//! the host or port. So changing a secret cannot redirect the connection to another server.

use url::Url;

use crate::security::redaction::known::percent_encode;
use crate::security::secret_ref;
use crate::security::secret_ref::{SecretRef, Template};

/// An http or https address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamUrl {
    /// The address with its references.
    template: Template,
    /// The address with a placeholder for each reference.
    placeholder: Url,
}

/// Why an address is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUrl {
    #[error("`{address}` is not a valid server address: {why}.")]
    NoAddress { address: String, why: String },
    #[error("The host and port of an address cannot come from a secret.")]
    Elsewhere,
    #[error(transparent)]
    Reference(#[from] secret_ref::InvalidSecretRef),
}

impl InvalidUrl {
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NoAddress { .. } => {
                "Write an http or https address, such as \"http://127.0.0.1:3001/mcp\"."
            }
            Self::Elsewhere => "Write out the host and port; use references only after them.",
            Self::Reference(bad) => bad.remedy(),
        }
    }
}

impl UpstreamUrl {
    pub fn parse(text: &str) -> Result<Self, InvalidUrl> {
        let template = Template::parse(text)?;
        let with = |value: &str| -> Result<Url, InvalidUrl> {
            let filled = template.fill(|_| Ok::<_, InvalidUrl>(value.to_owned()))?;
            let wrong = |why: String| InvalidUrl::NoAddress { address: text.to_owned(), why };
            let url = Url::parse(filled.reveal()).map_err(|error| wrong(error.to_string()))?;
            match url.scheme() {
                "http" | "https" if url.has_host() => Ok(url),
                scheme => Err(wrong(format!("`{scheme}` is not http or https"))),
            }
        };
        if template.is_plain() {
            let placeholder = with("")?;
            return Ok(Self { template, placeholder });
        }
        // A letter is valid in a host, a digit also in a port: if the origin differs, a reference
        // stands for a part of it.
        let (placeholder, other) = (with("x"), with("1"));
        match (placeholder, other) {
            (Ok(placeholder), Ok(other)) if placeholder.origin() == other.origin() => {
                Ok(Self { template, placeholder })
            }
            (Err(bad @ InvalidUrl::NoAddress { .. }), Err(_)) => Err(bad),
            _ => Err(InvalidUrl::Elsewhere),
        }
    }

    pub fn template(&self) -> &Template {
        &self.template
    }

    /// The address with placeholders; use only its scheme, host and port.
    pub fn placeholder(&self) -> &Url {
        &self.placeholder
    }

    /// The address for display: without user name, password or query, and with "…" for references.
    pub fn shown(&self) -> String {
        let mut shown = self.placeholder.clone();
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
        shown.set_query(None);
        let marked = self.template.fill(|_| Ok::<_, ()>("…".into()));
        let path = marked.ok().and_then(|text| Url::parse(text.reveal()).ok());
        match path {
            Some(marked) if !self.template.is_plain() => {
                shown.set_path(marked.path());
                shown.to_string().replace("%E2%80%A6", "…")
            }
            Some(_) | None => shown.to_string(),
        }
    }

    /// The address to connect to. Secrets are percent-encoded, so that none can change the structure
    /// of the address.
    pub fn fill<E>(
        &self,
        mut value: impl FnMut(&SecretRef) -> Result<String, E>,
    ) -> Result<Url, E> {
        let filled = self.template.fill(|reference| Ok(percent_encode(&value(reference)?)))?;
        Ok(Url::parse(filled.reveal()).unwrap_or_else(|_| self.placeholder.clone()))
    }
}

impl std::fmt::Display for UpstreamUrl {
    /// The normalised address, or the text as written if it has references.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.template.is_plain() {
            true => self.placeholder.fmt(f),
            false => f.write_str(self.template.as_written()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filled(text: &str, value: &str) -> String {
        let address = UpstreamUrl::parse(text).unwrap();
        address.fill(|_| Ok::<_, ()>(value.to_owned())).unwrap().to_string()
    }

    #[test]
    fn a_secret_may_be_part_of_the_path_the_query_or_the_credentials() {
        let key = filled("https://x.example/mcp?key=${env:KEY}&a=1", "a&b=c d");
        assert_eq!(key, "https://x.example/mcp?key=a%26b%3Dc%20d&a=1");
        assert_eq!(
            filled("https://x.example/${keyring:a}/mcp", "../y"),
            "https://x.example/..%2Fy/mcp"
        );
        assert_eq!(
            filled("https://me:${keyring:a}@x.example/", "p@ss"),
            "https://me:p%40ss@x.example/"
        );
    }

    #[test]
    fn a_secret_cannot_be_part_of_the_origin() {
        for text in [
            "https://${env:HOST}/mcp",
            "https://x.${env:HOST}/mcp",
            "https://x:${env:PORT}/mcp",
            "${env:URL}",
            "http${env:S}://x/mcp",
        ] {
            let bad = UpstreamUrl::parse(text).unwrap_err();
            assert!(!bad.remedy().is_empty(), "{bad}");
        }
        assert!(matches!(
            UpstreamUrl::parse("https://x/${keyring:a b}"),
            Err(InvalidUrl::Reference(_))
        ));
    }

    #[test]
    fn a_displayed_address_has_no_secret_and_no_query() {
        let shown = |text: &str| UpstreamUrl::parse(text).unwrap().shown();
        assert_eq!(shown("https://me:pw@x.example/mcp?key=${env:KEY}"), "https://x.example/mcp");
        assert_eq!(shown("https://x.example/${keyring:a}/mcp"), "https://x.example/…/mcp");
    }

    proptest! {
        #[test]
        fn no_secret_changes_the_origin(value in ".*") {
            let address = UpstreamUrl::parse("https://x.example:8443/a/${keyring:k}?b=${keyring:k}").unwrap();
            let url = address.fill(|_| Ok::<_, ()>(value.clone())).unwrap();
            prop_assert_eq!(url.origin(), address.placeholder().origin());
            let query: Vec<(String, String)> = url.query_pairs().into_owned().collect();
            prop_assert_eq!(query, [("b".to_owned(), value)]);
        }
    }
}
