//! What the doctor looked at, and what it found.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Check {
    /// Names it in `/api/doctor/{id}/fix`, such as `port` or `upstream.notes`.
    pub id: String,
    /// What was looked at, in a word or two.
    pub title: String,
    pub state: CheckState,
    /// What was found, in a sentence.
    pub detail: String,
    /// What to do about it, in a sentence.
    #[serde(default)]
    pub remedy: Option<String>,
    /// Whether Evermoor can put it right by itself, and nothing is lost by it.
    #[serde(default)]
    pub fixable: bool,
}

/// How it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum CheckState {
    Good,
    Bad,
    /// It could not be looked at, or there is nothing to look at.
    Skipped,
}

/// What `/api/doctor` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Checks {
    pub checks: Vec<Check>,
}

/// What `/api/doctor/{id}/fix` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Fixed {
    /// What was done, in a sentence.
    pub what: String,
}

impl Check {
    pub fn good(
        id: impl Into<String>,
        title: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self::of(id.into(), title.into(), CheckState::Good, detail.into())
    }

    pub fn skipped(
        id: impl Into<String>,
        title: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self::of(id.into(), title.into(), CheckState::Skipped, detail.into())
    }

    pub fn bad(
        id: impl Into<String>,
        title: impl Into<String>,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let found = Self::of(id.into(), title.into(), CheckState::Bad, detail.into());
        Self { remedy: Some(remedy.into()), ..found }
    }

    /// One that Evermoor can put right by itself.
    pub fn fixable(self) -> Self {
        Self { fixable: true, ..self }
    }

    pub fn is_bad(&self) -> bool {
        self.state == CheckState::Bad
    }

    fn of(id: String, title: String, state: CheckState, detail: String) -> Self {
        Self { id, title, state, detail, remedy: None, fixable: false }
    }
}
