//! If setup is killed at any moment, an editor's file is either old or new.

use std::time::Duration;

use evermoor_tests::Scene;
use evermoor_tests::oracle::random::Dice;
use evermoor_tests::scene::machine::Machine;

#[tokio::test]
async fn a_file_is_old_or_new_whenever_setup_is_killed() {
    let scene = Scene::new();
    let machine = Machine::new(&scene);
    let old = format!("{{\n  // mine\n  \"padding\": \"{}\"\n}}\n", "x".repeat(1 << 20));
    let path = machine.write(".cursor/mcp.json", &old);
    machine.set_up(&["cursor"]).await;
    let new = std::fs::read_to_string(&path).unwrap();
    assert!(new.contains("\"evermoor\""));
    let (mut seen_old, mut dice) = (0, Dice::new(7));
    for _ in 0..30 {
        std::fs::write(&path, &old).unwrap();
        let mut child = machine.typed(&["setup", "cursor"]).spawn().unwrap();
        let after = Duration::from_micros(dice.roll() % 60_000);
        let ended = tokio::time::timeout(after, child.wait()).await;
        if ended.is_err() {
            child.kill().await.unwrap();
        }
        let now = std::fs::read_to_string(&path).unwrap();
        assert!(now == old || now == new, "neither old nor new");
        seen_old += usize::from(now == old);
    }
    assert!(seen_old > 0, "some were killed before they were done");
    machine.set_up(&["cursor"]).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), new);
    machine.set_up(&["cursor", "--undo"]).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), old);
}
