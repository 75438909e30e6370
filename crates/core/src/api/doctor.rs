//! The checks of `evermoor doctor` and their results.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Check {
    /// The id used in `/api/doctor/{id}/fix`, such as `port` or `upstream.notes`.
    pub id: String,
    /// What was checked, in a word or two.
    pub title: String,
    pub state: CheckState,
    /// What was found, in one sentence.
    pub detail: String,
    /// What to do about it, in one sentence.
    #[serde(default)]
    pub remedy: Option<String>,
    /// Whether Evermoor can fix it without losing anything.
    #[serde(default)]
    pub fixable: bool,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum CheckState {
    Good,
    Bad,
    /// It could not be checked, or there is nothing to check.
    Skipped,
}

/// The answer of `/api/doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Checks {
    pub checks: Vec<Check>,
}

/// The answer of `/api/doctor/{id}/fix`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct FixResult {
    /// What was done, in one sentence.
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

    /// Marks it as fixable by Evermoor.
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
