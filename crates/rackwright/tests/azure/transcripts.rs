//! `docs/azure-cli.md`: what it shows from its transcripts on is what was typed and said here. With `UPDATE_EXPECT=1` it is written anew.

use std::fs;
use std::path::Path;

use crate::house::{House, client, extensions, repository};
use crate::page::{Line, SCENES, Scene};
use crate::said::Said;

const PAGE: &str = "docs/azure-cli.md";

/// What is above is written by people.
const BEGIN: &str = "## Transcripts\n";

/// Of the BMC that the scene of a replace exchanges.
const PASSWORD: &str = "came-with-it";

const BY_EXTENSION: &str = "They were made with the extension `networkcloud`.";
const WITHOUT: &str = "They were made without the extension `networkcloud`, of which no wheel was at hand: what would be `az networkcloud …` is said by \
    `az resource` and `az rest`, which send the same requests. Where `AZ_EXTENSION_WHL` names a wheel, the same test makes them with it.";

#[test]
fn the_page_shows_what_azures_clients_say() {
    let page = fs::read_to_string(repository(PAGE)).expect("the page is there");
    let (by_people, shown) = page.split_once(BEGIN).expect("the page has transcripts");
    let is_extended = extensions().is_some();
    let played = play(&House::open(), is_extended);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(repository(PAGE), format!("{by_people}{BEGIN}{played}")).expect("the page can be written");
    } else if shown.contains(BY_EXTENSION) == is_extended {
        assert!(shown == played, "{PAGE} does not show this; UPDATE_EXPECT=1 writes it:\n{played}");
    } else {
        println!("not compared: {PAGE} was made {} the extension networkcloud", if is_extended { "without" } else { "with" });
    }
}

/// All scenes, as they stand on the page.
fn play(house: &House, is_extended: bool) -> String {
    let said_by = if is_extended { BY_EXTENSION } else { WITHOUT };
    let mut machine = String::new();
    let mut text = format!(
        "\nOf `rackwright up --machines-per-rack 3 --speed 600`, made by `cargo test -p rackwright --test azure`. Times, ids and ports are put right.\n{said_by}\n"
    );
    for Scene { title, about, lines } in SCENES {
        let about = if about.is_empty() { String::new() } else { format!("\n{about}\n") };
        text += &format!(
            "\n### {title}\n{about}\n<!-- not run: the tests of Azure's clients run it -->\n```console\n# {}\n",
            title.to_lowercase()
        );
        for Line { networkcloud, without, code } in *lines {
            let line = if is_extended { networkcloud } else { without };
            let said = type_in(house, line, &machine);
            assert_eq!(said.code, *code, "{title}: {line}\n{}{}", said.out, said.err);
            if line.starts_with("machine=") {
                machine = said.fine().trim().to_owned();
            }
            assert!(!said.normalised().contains(PASSWORD), "nobody is told a password: {}", said.normalised());
            text += &format!("$ {line}\n{}", said.normalised());
        }
        text += "```\n";
    }
    text
}

/// A line in a shell that has what `az-env` printed, and the machine's id from before.
fn type_in(house: &House, line: &str, machine: &str) -> Said {
    let mut shell = house.command("sh".as_ref());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let rackwright = Path::new(env!("CARGO_BIN_EXE_rackwright")).parent().map(Path::to_owned);
    let programs = [client("venv/bin")].into_iter().chain(rackwright).chain(std::env::split_paths(&path));
    shell.env("PATH", std::env::join_paths(programs).expect("no path has a colon")).env("machine", machine);
    Said::of(shell.current_dir(repository("")).args(["-c", line]))
}
