//! The files under `examples/`, and the page that explains their keys.

use super::*;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

#[test]
fn the_shipped_site_of_the_article_is_right_and_has_its_names() {
    let described = Described::read(&example("seed-000.toml")).unwrap_or_else(|trouble| panic!("{trouble:?}"));
    let site = &described.site;
    assert_eq!((site.racks.len(), site.machines.len()), (4, 24));
    assert!(site.machines.iter().any(|machine| machine.name.as_str() == "rack1-compute01"));
    assert_eq!(plan::weaknesses(site), [], "the control plane is spread as it should be");
    assert_eq!(described.vendor(&site.machines[0].name), Some(sim::Vendor::Dell));
}

/// Every key that the documentation of site files lists.
fn documented_keys() -> Vec<String> {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/site-file.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let named = rows.filter_map(|row| row.split_once('`')).map(|(key, _)| key.to_owned());
    // A table within a table is no key of its own.
    named.filter(|key| !key.starts_with('[')).collect()
}

#[test]
fn the_documented_example_is_right_and_shows_every_key() {
    let described = Described::read(&example("site.toml")).unwrap_or_else(|trouble| panic!("{trouble:?}"));
    assert_eq!(described.site.machines.len(), 4);
    let text = std::fs::read_to_string(example("site.toml")).unwrap();
    let keys = documented_keys();
    assert!(keys.len() > 25, "{keys:?}");
    for key in keys {
        // On a line of its own, or among others within braces.
        let (alone, within) = (format!("{key} ="), format!(" {key} ="));
        let shows = |line: &str| line.trim_start_matches("# ").starts_with(&alone) || line.contains(&within);
        assert!(text.lines().any(shows), "`{key}` is not in the example");
    }
}
