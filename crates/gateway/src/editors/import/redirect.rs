//! Redirects editors' entries to the upstreams that they became, and restores them.
//!
//! An editor with Evermoor's combined entry reaches every upstream through it, so its imported
//! entries are removed: with them it would see each tool twice. An editor without that entry keeps
//! its imported entries under their names, each redirected to its own upstream.

use std::path::{Path, PathBuf};

use evermoor_core::failure::{Code, Failure};
use evermoor_core::import::{EntryScope, ImportPlan};
use evermoor_platform::fs::{private, replace};
use evermoor_platform::paths::Paths;
use evermoor_setup::format::EntryChange;
use evermoor_setup::table::ConfigLanguage;
use evermoor_setup::{
    ConfigLocation, DesiredEntries, EditorSpec, EditorTransport, GatewayAccess, GatewayEntry,
    SetupChange, SetupError, UserEditors, client,
};

use super::record::{ImportJournal, RedirectedFile};

/// What was done to one editor's file, or why it was not changed.
pub struct RedirectReport {
    pub title: String,
    pub path: Option<PathBuf>,
    /// The backup of the file.
    pub backup: Option<PathBuf>,
    pub trouble: Option<SetupError>,
    /// How to make the editor notice the change.
    pub hint: String,
}

/// Returns the address and token for an editor's entries.
pub type MakeGate<'a> = &'a mut dyn FnMut(&'static EditorSpec) -> Result<GatewayAccess, Failure>;

/// The folder of file copies, in the data folder.
const COPY_FOLDER: &str = "import";

/// The imported entries of one editor in one file.
pub struct Entries {
    pub client: &'static EditorSpec,
    whose: EntryScope,
    pub location: ConfigLocation,
    /// One per entry, from its name to its upstream.
    gateway_entries: Vec<GatewayEntry>,
    upstreams: Vec<String>,
    secrets: Vec<String>,
}

/// The entries to redirect, by editor and file.
pub fn entries(user_editors: &UserEditors, plan: &ImportPlan) -> Vec<Entries> {
    let mut editors: Vec<Entries> = Vec::new();
    for adopted in &plan.adopted {
        for origin in &adopted.from {
            let Some(client) = client(&origin.editor) else { continue };
            let Some(location) = user_editors.location_for(client, &origin.whose) else { continue };
            let gateway_entry =
                GatewayEntry { name: origin.name.clone(), upstream: Some(adopted.name.clone()) };
            let is_it =
                |known: &Entries| known.client.id == client.id && known.location == location;
            let index = editors.iter().position(is_it).unwrap_or_else(|| {
                let (gateway_entries, upstreams, secrets) = (Vec::new(), Vec::new(), Vec::new());
                let (whose, location) = (origin.whose.clone(), location.clone());
                editors.push(Entries {
                    client,
                    whose,
                    location,
                    gateway_entries,
                    upstreams,
                    secrets,
                });
                editors.len() - 1
            });
            let entries = &mut editors[index];
            entries.gateway_entries.push(gateway_entry);
            entries.upstreams.push(adopted.name.clone());
            entries.secrets.extend(adopted.secrets.iter().map(|(name, _)| name.clone()));
        }
    }
    editors
}

impl Entries {
    /// What the editor's file should contain. With `one`, Evermoor's combined entry replaces all of
    /// them, and is added if it is missing.
    pub fn desired(&self, user_editors: &UserEditors, one: bool) -> DesiredEntries {
        let known = self.known(user_editors);
        let transport = self.transport(user_editors, &known);
        let names: Vec<String> =
            self.gateway_entries.iter().map(|gateway_entry| gateway_entry.name.clone()).collect();
        let others =
            known.iter().filter(|gateway_entry| !names.contains(&gateway_entry.name)).cloned();
        let all = GatewayEntry::for_all();
        let mut gateway_entries: Vec<GatewayEntry> = others.collect();
        let has_one = gateway_entries.contains(&all);
        if !one && !has_one {
            gateway_entries.extend(self.gateway_entries.iter().cloned());
            return DesiredEntries {
                gateway_entries,
                transport,
                take_over: true,
                drop: Vec::new(),
            };
        }
        if !has_one {
            gateway_entries.insert(0, all);
        }
        DesiredEntries { gateway_entries, transport, take_over: false, drop: names }
    }

    /// Evermoor's entries that the file already has.
    fn known(&self, user_editors: &UserEditors) -> Vec<GatewayEntry> {
        let record = user_editors.journal.record(&self.client.id, &self.location);
        record.map(|record| record.gateway_entries).unwrap_or_default()
    }

    /// Project files are shared with others, so they get no token.
    fn transport(&self, user_editors: &UserEditors, known: &[GatewayEntry]) -> EditorTransport {
        match self.whose {
            EntryScope::Person | EntryScope::UserInProject(_) => {
                user_editors.transport_at(self.client, &self.location, known)
            }
            EntryScope::Project(_) => EditorTransport::Stdio,
        }
    }
}

/// What redirecting the entries of an editor would change in its file.
pub struct RedirectPreview {
    pub title: String,
    pub path: PathBuf,
    /// The change as a diff without secrets, or why there can be none.
    pub diff: Result<String, SetupError>,
}

/// What [`all`] would change. Changes nothing.
pub fn preview(
    user_editors: &UserEditors,
    plan: &ImportPlan,
    one: bool,
    gate: impl Fn(&'static EditorSpec) -> GatewayAccess,
) -> Vec<RedirectPreview> {
    let preview = |entries: Entries| {
        let (client, access) = (entries.client, gate(entries.client));
        let desired = entries.desired(user_editors, one);
        let plan = user_editors.plan_at(client, &entries.location, &desired, &access);
        RedirectPreview {
            title: client.title.clone(),
            path: entries.location.path,
            diff: plan.map(|plan| plan.diff(&access)),
        }
    };
    entries(user_editors, plan).into_iter().map(preview).collect()
}

/// Redirects the entries of every editor.
pub fn all(
    paths: &Paths,
    user_editors: &UserEditors,
    plan: &ImportPlan,
    one: bool,
    gate: MakeGate<'_>,
    journal: &mut ImportJournal,
) -> Result<Vec<RedirectReport>, Failure> {
    let mut reports = Vec::new();
    for entries in entries(user_editors, plan) {
        let client = entries.client;
        let done = editor(paths, user_editors, &entries, one, &gate(client)?, journal)?;
        let (title, hint) = (client.title.clone(), client.notices.clone());
        reports.push(match done {
            Ok(done) => {
                let (path, backup) = (Some(done.path), done.backup);
                RedirectReport { title, path, backup, trouble: None, hint }
            }
            Err(refused) => {
                RedirectReport { title, path: None, backup: None, trouble: Some(refused), hint }
            }
        });
    }
    Ok(reports)
}

fn editor(
    paths: &Paths,
    user_editors: &UserEditors,
    entries: &Entries,
    one: bool,
    gate: &GatewayAccess,
    journal: &mut ImportJournal,
) -> Result<Result<SetupChange, SetupError>, Failure> {
    let (client, known) = (entries.client, entries.known(user_editors));
    let desired = entries.desired(user_editors, one);
    let plan = match user_editors.plan_at(client, &entries.location, &desired, gate) {
        Ok(plan) => plan,
        Err(refused) => return Ok(Err(refused)),
    };
    let Some(before) = plan.before.as_ref().filter(|_| plan.changes()) else {
        return Ok(user_editors.apply(&plan));
    };
    // Recorded first, so that it can be undone even if this is interrupted.
    let copy = save_copy(paths, before)?;
    let file = RedirectedFile {
        client: client.id.clone(),
        location: entries.location.clone(),
        copy: copy.clone(),
        names: entries
            .gateway_entries
            .iter()
            .map(|gateway_entry| gateway_entry.name.clone())
            .collect(),
        gateway_entries: known,
        over_stdio: desired.transport == EditorTransport::Stdio,
        upstreams: entries.upstreams.clone(),
        secrets: entries.secrets.clone(),
    };
    journal.note(|record| record.editors.push(file))?;
    let done = user_editors.apply(&plan);
    if done.is_err() {
        journal.note(|record| drop(record.editors.pop()))?;
        remove_copy(&copy);
    }
    Ok(done)
}

/// Keeps a copy of a file until the import is undone.
fn save_copy(paths: &Paths, content: &[u8]) -> Result<PathBuf, Failure> {
    let folder = paths.data.join(COPY_FOLDER);
    let named = |number: u32| folder.join(format!("{number}.before"));
    let free = (1..).map(named).find(|copy| !copy.exists()).unwrap_or_else(|| named(0));
    private::write_private(&free, content).map_err(|error| {
        let what = format!("Cannot write {}: {error}.", free.display());
        Failure::new(Code::Internal, what, "Free some disk space or correct its permissions.")
    })?;
    Ok(free)
}

/// Removes a copy.
pub(super) fn remove_copy(copy: &Path) {
    // Older versions kept it among the backups of `evermoor setup`, which stay.
    if let Some(folder) = copy.parent().filter(|folder| folder.ends_with(COPY_FOLDER)) {
        // Anything left over is removed with the data folder.
        let _ = std::fs::remove_file(copy);
        let _ = std::fs::remove_dir(folder);
    }
}

/// Restores the entries of an editor.
pub(super) fn restore(
    user_editors: &UserEditors,
    file: &RedirectedFile,
    gate: MakeGate<'_>,
) -> Result<(), Failure> {
    let Some(client) = client(&file.client) else { return Ok(()) };
    let (location, path) = (&file.location, &file.location.path);
    let failed = |refused: SetupError| {
        Failure::new(Code::Configuration, format!("{refused}."), "Correct this and try again.")
    };
    let before = replace::content(&file.copy).ok().flatten();
    let unchanged = is_unchanged(user_editors, client, file);
    if file.gateway_entries.is_empty() {
        match user_editors.undo_at(client, location) {
            Ok(_) | Err(SetupError::NotConnected { .. }) => {}
            Err(refused) => return Err(failed(refused)),
        }
    } else {
        let gate = gate(client)?;
        let gateway_entries = file.gateway_entries.clone();
        let transport =
            if file.over_stdio { EditorTransport::Stdio } else { EditorTransport::Http };
        let desired =
            DesiredEntries { gateway_entries, transport, take_over: true, drop: Vec::new() };
        let plan = user_editors.plan_at(client, location, &desired, &gate).map_err(failed)?;
        user_editors.apply(&plan).map_err(failed)?;
    }
    let Some(before) = before else { return Ok(()) };
    let now = replace::content(path).map_err(|error| failed(error.into()))?;
    let wanted = match unchanged {
        true => Some(before),
        false => with_entries_of(client, location, now.as_deref(), &before, &file.names),
    };
    match wanted {
        Some(wanted) if now.as_deref() != Some(&wanted) => {
            replace::replace(path, now.as_deref(), Some(&wanted))
                .map_err(|error| failed(error.into()))
        }
        Some(_) | None => Ok(()),
    }
}

fn is_unchanged(user_editors: &UserEditors, client: &EditorSpec, file: &RedirectedFile) -> bool {
    let record = user_editors.journal.record(&client.id, &file.location);
    let content = replace::content(&file.location.path).ok().flatten();
    match (record, content) {
        (Some(record), Some(content)) => {
            record.written == evermoor_setup::journal::checksum(&content)
        }
        (None, _) | (_, None) => false,
    }
}

/// The current file, with these entries as they were before.
fn with_entries_of(
    client: &EditorSpec,
    location: &ConfigLocation,
    now: Option<&[u8]>,
    before: &[u8],
    names: &[String],
) -> Option<Vec<u8>> {
    let ConfigLanguage::Of(format) = client.language else { return None };
    let (now, before) = (std::str::from_utf8(now?).ok()?, std::str::from_utf8(before).ok()?);
    let (tree, servers) = (format.read(before).ok()?, location.servers(client));
    let put = |name: &String| {
        let entry = servers.entry(&tree, name)?;
        Some(EntryChange::Put(name.clone(), entry.clone()))
    };
    let changes: Vec<EntryChange> = names.iter().filter_map(put).collect();
    format.edit(now, &servers, &changes, false).ok().map(String::into_bytes)
}
