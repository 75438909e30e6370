//! All presets by name: the bundled ones and the user's.

use std::collections::BTreeMap;

use super::Preset;
use crate::config::ConfigError;
use crate::failure::{Code, Failure};

/// The bundled presets, by file name.
const BUNDLED: [(&str, &str); 4] = [
    ("figma", include_str!("../../../../presets/figma.toml")),
    ("intellij-idea", include_str!("../../../../presets/intellij-idea.toml")),
    ("pieces-os", include_str!("../../../../presets/pieces-os.toml")),
    ("sketch", include_str!("../../../../presets/sketch.toml")),
];

/// Presets by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetSet(BTreeMap<String, Preset>);

/// A preset file of the user that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadablePreset {
    /// The name of the preset.
    pub name: String,
    pub mistake: ConfigError,
}

impl PresetSet {
    /// The bundled presets.
    pub fn bundled() -> Self {
        let read = |(name, text): &(&str, &str)| {
            let preset = Preset::parse(name, text, |_| None);
            ((*name).to_owned(), preset.expect("bundled presets are tested"))
        };
        Self(BUNDLED.iter().map(read).collect())
    }

    /// Adds the user's files (name and text). They replace bundled presets of the same name. A file
    /// that cannot be read is reported and changes nothing.
    pub fn with<'f>(
        mut self,
        files: impl IntoIterator<Item = (&'f str, &'f str)>,
    ) -> (Self, Vec<UnreadablePreset>) {
        let ours = Self::bundled();
        let mut misread = Vec::new();
        for (name, text) in files {
            match Self::read(name, text, &ours) {
                Ok(preset) => drop(self.0.insert(name.to_owned(), preset)),
                Err(mistake) => misread.push(UnreadablePreset { name: name.to_owned(), mistake }),
            }
        }
        (self, misread)
    }

    /// Adds presets, replacing those of the same name.
    pub(super) fn and(mut self, presets: impl IntoIterator<Item = Preset>) -> Self {
        self.0.extend(presets.into_iter().map(|preset| (preset.name.clone(), preset)));
        self
    }

    pub(super) fn read(name: &str, text: &str, ours: &Self) -> Result<Preset, ConfigError> {
        if !is_name(name) {
            let what = format!("`{name}` is not a preset name.");
            let remedy = "Rename the file: up to 40 lowercase letters, digits and dashes.";
            return Err(ConfigError { line: None, what, remedy: remedy.into() });
        }
        Preset::parse(name, text, |base| ours.0.get(base))
    }

    /// The preset of this name, or the failure to report.
    pub fn get(&self, name: &str) -> Result<&Preset, Failure> {
        self.0.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            let what = format!("There is no preset `{name}`.");
            let remedy = format!(
                "Write one of these in config.toml: {}. Or add presets/{name}.toml next to it.",
                known.join(", ")
            );
            Failure::new(Code::Configuration, what, remedy)
        })
    }

    /// All presets, sorted by name.
    pub fn all(&self) -> impl Iterator<Item = &Preset> {
        self.0.values()
    }
}

/// Whether this is a valid preset name.
pub(crate) fn is_name(name: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=40).contains(&name.len()) && name.bytes().all(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = "title = \"Notes\"\n[find]\nports = 4000\nowner = true\n[[mcp]]\n\
                       transport = \"http\"\npath = \"/mcp\"\n[linux]\nprocesses = [\"notes\"]\n";

    fn mistake(text: &str) -> ConfigError {
        let (_, misread) = PresetSet::bundled().with([("mine", text)]);
        misread.into_iter().next().expect("a mistake").mistake
    }

    #[test]
    fn a_user_adds_a_preset_and_replaces_a_bundled_one() {
        let changed = "extends = \"pieces-os\"\n[find]\nports = \"45000-45001\"\n\
                       [[find.identity]]\nask = \"GET /.well-known/version\"\nbody = \"version\"\n";
        let (presets, misread) =
            PresetSet::bundled().with([("notes", NEW), ("pieces-os", changed)]);
        assert_eq!(misread, []);
        assert_eq!(presets.get("notes").unwrap().find.ports, 4000..=4000);
        let pieces = presets.get("pieces-os").unwrap();
        assert_eq!(pieces.find.ports, 45000..=45001);
        assert_eq!(pieces.title, "PiecesOS", "the rest stays");
        assert_eq!(pieces.tells.len(), 2);
        assert_eq!(presets.all().count(), 5);
    }

    #[test]
    fn an_invalid_file_is_reported_and_the_others_are_read() {
        let (presets, misread) = PresetSet::bundled().with([("bad", "title ="), ("notes", NEW)]);
        assert!(presets.get("notes").is_ok() && presets.get("bad").is_err());
        assert_eq!((misread.len(), misread[0].name.as_str()), (1, "bad"));
        let (_, misread) = PresetSet::bundled().with([("Bad Name", NEW)]);
        assert!(misread[0].mistake.remedy.contains("Rename"), "{misread:?}");
    }

    #[test]
    fn an_unknown_preset_is_reported_with_the_known_names() {
        let failure = PresetSet::bundled().get("pieces").unwrap_err();
        assert_eq!(failure.code, Code::Configuration);
        assert!(failure.remedy.contains("pieces-os"), "{failure}");
    }

    #[test]
    fn an_error_has_its_line_and_a_remedy() {
        for (old, new, line, says) in [
            ("ports = 4000", "ports = \"4000-9000\"", 3, "at most 100"),
            ("ports = 4000", "ports = \"9-4\"", 3, "39300-39333"),
            ("ports = 4000", "ports = 0", 3, "not a port"),
            ("owner = true", "", 2, "how to recognise the app"),
            ("path = \"/mcp\"", "path = \"//evil.example/mcp\"", 7, "own port"),
            ("path = \"/mcp\"", "path = \"http://x/mcp\"", 7, "own port"),
            ("transport = \"http\"", "transport = \"carrier pigeon\"", 6, "unknown variant"),
            ("[linux]", "[health]\nask = \"/health\"\n[linux]", 9, "GET /health"),
            ("[linux]", "[linux]\nurl = \"https://x\"", 9, "pieces://launch"),
            ("[linux]", "[linux]\nsnap = \"a; rm -rf\"", 9, "not an id"),
            ("[\"notes\"]", "[\"/bin/notes\"]", 9, "without a path"),
            ("[linux]", "[memory]\nnormal = \"3 GB\"\nalarm = \"2 GB\"\n[linux]", 10, "higher"),
            ("[linux]", "[lynux]", 8, "unknown field"),
        ] {
            let text = NEW.replacen(old, new, 1);
            let found = mistake(&text);
            assert_eq!(found.line, Some(line), "{new}: {found}");
            assert!(found.to_string().contains(says), "{new}: {found}");
        }
    }

    #[test]
    fn missing_required_parts_are_named() {
        assert!(mistake("[find]\nports = 1\nowner = true\n").what.contains("title"));
        assert!(
            mistake("title = \"A\"\n[find]\nports = 1\nowner = true\n").what.contains("endpoint")
        );
        let nameless = NEW.replace("processes = [\"notes\"]", "");
        assert!(mistake(&nameless).remedy.contains("processes"));
        let found = mistake("# mine\nextends = \"nothing\"\n");
        assert_eq!((found.line, found.what.contains("nothing")), (Some(2), true));
    }
}
