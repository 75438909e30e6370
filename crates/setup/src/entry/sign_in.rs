//! How an editor signs in to a server. Most find out by themselves; what an entry says is a client, or that
//! there is a sign-in at all.

use evermoor_core::config::edit::NewSignIn;

use crate::format::tree::Tree;

/// The names that products use for the same field.
const TABLE: [&str; 2] = ["oauth", "auth"];
const CLIENT: [&str; 4] = ["clientId", "client_id", "CLIENT_ID", "oauthClientId"];
const SECRET: [&str; 3] = ["clientSecret", "client_secret", "CLIENT_SECRET"];
const SCOPES: [&str; 3] = ["scopes", "scope", "SCOPES"];

/// The sign-in of an entry, if it has one. `neutral` rewrites the editor's variables.
pub(super) fn read(entry: &Tree, neutral: impl Fn(&str) -> String) -> Option<NewSignIn> {
    let any = |tree: &Tree, names: &[&str]| names.iter().find_map(|name| tree.get(name)).cloned();
    let text = |found: Option<Tree>| found.as_ref().and_then(Tree::as_text).map(&neutral);
    let table = any(entry, &TABLE);
    let is_off = |table: &Tree| {
        *table == Tree::Bool(false) || table.get("enabled") == Some(&Tree::Bool(false))
    };
    if table.as_ref().is_some_and(is_off) {
        return None;
    }
    // A text is a token, unless it names the protocol.
    let table = table.filter(|table| table.as_text().is_none_or(|text| text == "oauth"));
    // Some products write the fields of the table into the entry itself.
    let places = || table.iter().chain([entry]);
    let field = |names: &[&str]| places().find_map(|place| any(place, names));
    let (client_id, scopes) = (text(field(&CLIENT)), field(&SCOPES));
    if table.is_none() && client_id.is_none() && scopes.is_none() {
        return None;
    }
    // A secret belongs to a client.
    let client_secret = client_id.as_ref().and_then(|_| text(field(&SECRET)));
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let scopes = match &scopes {
        Some(Tree::List(items)) => {
            items.iter().filter_map(Tree::as_text).map(str::to_owned).collect()
        }
        Some(scopes) => scopes.as_text().map(words).unwrap_or_default(),
        None => Vec::new(),
    };
    Some(NewSignIn { client_id, client_secret, scopes })
}
