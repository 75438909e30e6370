//! Replays the seeds of the fuzz targets, and every input that fuzzing found and that was kept.

#[path = "../../../../fuzz/targets.rs"]
mod targets;

use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn no_seed_breaks_a_promise() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
    let names = |folder: &Path| -> BTreeSet<String> {
        let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
    };
    let targets: BTreeSet<String> = targets::ALL.iter().map(|(name, _)| (*name).into()).collect();
    assert_eq!(names(&seeds), targets, "each target has seeds");
    for (name, target) in targets::ALL {
        for seed in names(&seeds.join(name)) {
            target(&std::fs::read(seeds.join(name).join(seed)).unwrap());
        }
    }
}
