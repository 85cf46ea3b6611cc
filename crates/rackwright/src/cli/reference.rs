//! The page `docs/cli.md`, written from the grammar itself, so that it cannot be wrong about it.

use std::fmt::Write;

use clap::builder::StyledStr;
use clap::{Arg, Command, CommandFactory, Id};
use expect_test::expect_file;

use super::args::{AFTER_HELP, Cli};

const HEAD: &str = "# Command line

Every command of `rackwright`, its arguments, their defaults, and an example. A test writes this page from the commands
themselves (`UPDATE_EXPECT=1 cargo test -p rackwright reference`), so it says what they say.

Data goes to stdout, talk and progress to stderr. Without a terminal nothing is asked and nothing is coloured.
`rackwright` with nothing after it tells whether a server is there, and what to type next.

";

fn page() -> String {
    let mut root = Cli::command();
    root.build();
    let mut page = HEAD.to_owned();
    contents(&mut page, &root, "rackwright");
    write!(page, "\n## Everywhere\n\n```text\n{}\n```\n\n### Global options\n\n", AFTER_HELP.trim_end()).unwrap();
    arguments(&mut page, root.get_arguments());
    page.push_str(FORMATS);
    let everywhere: Vec<&Id> = root.get_arguments().map(Arg::get_id).collect();
    commands(&mut page, &root, "rackwright", &everywhere);
    page
}

const FORMATS: &str = "
`-o json` is what the API answers, of a list its items; `-o yaml` says the same. `-o tsv` has a line for each item, with the
columns of the table; of one thing, the line that a list would have of it. `--query` picks from the JSON, and its result is
shown in any of the four: in a table an object has a column for each name, in the order in which the query names them, a list
has `Column1`, `Column2` and so on, and anything else `Result`. In a line of `tsv` null is `None`, a list is the number of its
items, an object is empty, and a tab or a line break within a value becomes a blank. A query is at most 2000 bytes long.

<!-- setting: up --racks 1 --machines-per-rack 4 -->
```sh
rackwright bmm list --query \"[?properties.powerState=='Off'].name\" -o tsv
rackwright bmm list --query \"[].{name: name, rack: properties.rackId, slot: properties.rackSlot}\"
rackwright operation list --all --query \"length([?status=='Failed'])\"
```
";

fn contents(page: &mut String, command: &Command, path: &str) {
    for child in children(command) {
        let path = format!("{path} {}", child.get_name());
        if child.has_subcommands() {
            contents(page, child, &path);
        } else {
            let anchor = path.replace(' ', "-");
            writeln!(page, "- [`{path}`](#{anchor}): {}", text(child.get_about())).unwrap();
        }
    }
}

/// `everywhere` are the options of every command, which stand on the page once.
fn commands(page: &mut String, command: &Command, path: &str, everywhere: &[&Id]) {
    for child in children(command) {
        let path = format!("{path} {}", child.get_name());
        if child.has_subcommands() {
            commands(page, child, &path, everywhere);
        } else {
            one(page, child, &path, everywhere);
        }
    }
}

fn children(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|child| child.get_name() != "help" && !child.is_hide_set())
}

fn one(page: &mut String, command: &Command, path: &str, everywhere: &[&Id]) {
    let about = text(command.get_long_about().or(command.get_about()));
    let (examples, words): (Vec<&str>, Vec<&str>) = about.lines().partition(|line| line.starts_with("Example: "));
    let usage = command.clone().render_usage().to_string();
    write!(page, "\n## {path}\n\n{}\n\n", words.join("\n").trim_end()).unwrap();
    write!(page, "```text\n{usage}\n```\n\n").unwrap();
    arguments(page, command.get_arguments().filter(|argument| !everywhere.contains(&argument.get_id())));
    let examples: Vec<&str> = examples.iter().map(|example| example.trim_start_matches("Example: ")).collect();
    page.push_str("\nFor example:\n\n");
    needs(path).iter().for_each(|remark| writeln!(page, "<!-- {remark} -->").unwrap());
    write!(page, "```sh\n{}\n```\n", examples.join("\n")).unwrap();
}

/// The id that the examples give to an operation, and the restart that it stands for.
const RESTART: &str = "id 8f3c1a2b: rackwright bmm restart rack1compute01 --no-wait -o tsv --query id";

/// The users that the examples give to a key set.
const USERS: &str = r#"setup: echo '[{"azureUserName":"alice","userPrincipalName":"alice@example.com","sshPublicKey":{"keyData":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBvqyFZzF9gQZ7u0x3mRrT1yZ0Jb3uK7n2mR2uDk0l6J"}}]' > users.json"#;

/// What an example needs before it, so that it can be executed as it stands: remarks that docs/README.md explains. A setting
/// holds until the next one.
fn needs(path: &str) -> &'static [&'static str] {
    match path.trim_start_matches("rackwright ") {
        "up" | "sim serve" => &["setting: none"],
        "serve" => &["setting: sim --racks 1 --machines-per-rack 4", "setup: mv site1.toml site.toml"],
        // What `sim swap` exchanges, and `bmm replace` wipes, is not as it was for the commands that follow.
        "sim fault list" | "status" | "bmm verify" => &["setting: up --racks 1 --machines-per-rack 4"],
        "bmm reimage" => &["setup: rackwright bmm cordon rack1compute01 --evacuate"],
        "sim fault script" => &["setup: echo 'after 5m bmc-slow rack1compute01 for 10m' > night.txt"],
        "top" => &["keys: q"],
        "operation show" => &["setup: rackwright kubernetescluster update naks-01 --drain-policy wait", RESTART],
        "operation log" => &[
            "setting: up --racks 1 --machines-per-rack 4",
            "id 8f3c1a2b: rackwright bmm reimage rack1compute01 --safeguard-mode None --yes --no-wait -o tsv --query id",
            "setup: rackwright operation wait 8f3c1a2b",
        ],
        "operation cancel" => &["setup: rackwright sim fault add host-boots-slowly rack1compute01 --factor 100", RESTART],
        "activity-log show" => {
            &["id 0b0f8a52-6f3c-4a43-9c0e-2f2f4b8d9f10: rackwright activity-log list --max-events 1 -o tsv --query '[0].eventDataId'"]
        }
        "cluster baremetalmachinekeyset create" => &[USERS],
        "cluster bmckeyset create" | "cluster bmckeyset update" => {
            &["not run: its date will have passed one day; key-sets.md runs the same with another"]
        }
        "cluster baremetalmachinekeyset update" | "cluster baremetalmachinekeyset delete" | "cluster baremetalmachinekeyset show" => &[
            USERS,
            "setup: rackwright cluster baremetalmachinekeyset create ops --azure-group-id ID --expiration 2099-12-31T00:00:00Z --privilege-level Standard --user-list @users.json",
        ],
        "cluster bmckeyset delete" | "cluster bmckeyset show" => &[
            USERS,
            "setup: rackwright cluster bmckeyset create admins --azure-group-id ID --expiration $(date -ud +30days +%FT%TZ) --privilege-level ReadOnly --user-list @users.json",
        ],
        "sp add-secret" => &["setup: rackwright sp create pipeline"],
        "sp remove-secret" => &["id 5e9f1c58-7f3e-4d0b-8b5a-0d6b4e1f2a33: rackwright sp add-secret pipeline -o tsv --query secretId"],
        "sp add-certificate" | "sp remove-certificate" => {
            &["not run: it takes a certificate; the tests of Azure's clients log in with one"]
        }
        "policy put" => {
            &[r#"setup: echo '{"reason":"say whose it is","conditions":[{"field":"tags.owner","exists":false}]}' > owners.json"#]
        }
        "approve" => &["not run: it takes a device that shows a code"],
        "completions" => &["setup: mkdir -p ~/.local/share/bash-completion/completions"],
        "vault status" | "vault rotate-key" | "vault rotate-data-key" => &["not run: it takes a data directory whose server is stopped"],
        "login" => &["not run: it takes a server elsewhere; operating.md logs in to one of its own"],
        "init" => &["setting: none"],
        "context list" => &["setting: up --racks 1 --machines-per-rack 4"],
        "context use" => &["setup: sed -i 's/local\\b/lab/' ~/.config/rackwright/contexts.toml"],
        _ => &[],
    }
}

fn arguments<'a>(page: &mut String, arguments: impl Iterator<Item = &'a Arg>) {
    let shown: Vec<&Arg> = arguments.filter(|argument| !matches!(argument.get_id().as_str(), "help" | "version")).collect();
    if shown.is_empty() {
        page.push_str("It has no arguments of its own.\n");
        return;
    }
    page.push_str("| argument | what it says | unless given |\n|---|---|---|\n");
    for argument in shown {
        writeln!(page, "| {} | {} | {} |", names(argument), cell(&meaning(argument)), default(argument)).unwrap();
    }
}

/// `-o`, `--output FORMAT`, or `NAME` where it stands by its place.
fn names(argument: &Arg) -> String {
    let value = if argument.get_action().takes_values() {
        let names = argument.get_value_names().unwrap_or_default();
        names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    } else {
        String::new()
    };
    let short = argument.get_short().map(|short| format!("`-{short}`, ")).unwrap_or_default();
    match argument.get_long() {
        Some(long) => cell(&format!("{short}`{}`", format!("--{long} {value}").trim_end())),
        None => cell(&format!("`{value}`")),
    }
}

fn meaning(argument: &Arg) -> String {
    let help = text(argument.get_help());
    let values: Vec<String> = argument.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    let values =
        if values.is_empty() || !argument.get_action().takes_values() { String::new() } else { format!(" One of {}.", values.join(", ")) };
    format!("{}.{values}", help.trim_end_matches('.'))
}

fn default(argument: &Arg) -> String {
    let values = argument.get_default_values();
    match values {
        _ if !argument.get_action().takes_values() => String::new(),
        [] if argument.is_required_set() => "required".to_owned(),
        [] => String::new(),
        values => format!("`{}`", values.iter().map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(" ")),
    }
}

/// A bar within a cell would end it.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

fn text(styled: Option<&StyledStr>) -> String {
    styled.map(ToString::to_string).unwrap_or_default()
}

#[test]
fn the_reference_says_what_the_commands_say() {
    expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md")].assert_eq(&page());
}

#[test]
fn every_exit_code_is_documented() {
    use super::trouble::Exit;
    let exits =
        [Exit::Failed, Exit::Usage, Exit::NotFound, Exit::Refused, Exit::Unreachable, Exit::Canceled, Exit::NotYet, Exit::Interrupted];
    for exit in exits {
        let code = exit.code().to_string();
        assert!(AFTER_HELP.lines().any(|line| line.trim_start().starts_with(&format!("{code} "))), "{code}");
    }
}
