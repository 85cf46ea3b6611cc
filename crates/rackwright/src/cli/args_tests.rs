//! What can be typed, what cannot, and what the help teaches.

use super::args::*;
use super::bmm::BmmCommand;
use super::output::Output;
use clap::{CommandFactory, Parser};
use expect_test::expect;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(line.split_whitespace())
}

fn name(line: &str) -> String {
    match parse(line).unwrap().command {
        Some(Command::Bmm(BmmCommand::Show { name })) => name.get().to_owned(),
        other => panic!("{other:?}"),
    }
}

fn without_trailing_blanks(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn the_grammar_contradicts_itself_nowhere() {
    Cli::command().debug_assert();
}

#[test]
fn a_name_is_given_with_or_without_its_flag_but_once() {
    assert_eq!(name("rackwright bmm show m1"), "m1");
    assert_eq!(name("rackwright bmm show -n m1"), "m1");
    assert_eq!(name("rackwright baremetalmachine show --name m1 --resource-group g"), "m1");
    for wrong in ["rackwright bmm show", "rackwright bmm show m1 -n m2", "rackwright bmm show ..", "rackwright bmm show a/b"] {
        assert_eq!(parse(wrong).unwrap_err().exit_code(), 2, "{wrong}");
    }
}

#[test]
fn global_options_stand_anywhere_and_a_server_needs_no_context() {
    let cli = parse("rackwright -o json bmm list -g site1").unwrap();
    assert_eq!((cli.global.output, cli.global.resource_group.as_deref()), (Output::Json, Some("site1")));
    assert!(parse("rackwright bmm list --server http://127.0.0.1:1 --context lab").is_err());
}

#[test]
fn every_action_takes_yes() {
    for line in [
        "bmm power-off m",
        "bmm start m",
        "bmm restart m",
        "bmm cordon m",
        "bmm uncordon m",
        "bmm manage m --reason r",
        "bmm unmanage m --reason r",
        "operation cancel 8f3c",
    ] {
        assert!(parse(&format!("rackwright {line} --yes")).is_ok(), "{line}");
    }
}

#[test]
fn the_help_teaches_commands_and_exit_codes() {
    let help = Cli::command().term_width(100).render_help().to_string();
    expect![[r#"
        A control plane for bare-metal sites

        Usage: rackwright [OPTIONS] [COMMAND]

        Commands:
          up            Start the control plane and a simulated site, and make them the current context
          serve         Start the control plane for the sites that files describe
          sim           The simulated site
          status        What runs, what waits, and what ends each wait
          bmm           Bare-metal machines: look at them, and act on them [alias: baremetalmachine]
          cluster       Clusters
          rack          Racks
          operation     Operations: what is being done, what was done, and stopping it
          activity-log  The activity log: what was asked, decided, refused and done, and by whom
          completions   The script that lets a shell complete our commands with the tab key. Changes nothing
          context       Contexts: which server commands talk to
          help          Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help (see more with '--help')
          -V, --version  Print version

        Global options:
          -o, --output <FORMAT>         How results are shown [default: table] [possible values: table,
                                        json, yaml, tsv]
              --query <EXPRESSION>      Which part of the result, as a JMESPath expression, such as
                                        `[].name`. As in `az`, it sees the JSON of `-o json`
          -g, --resource-group <GROUP>  The resource group to look in, instead of the context's
              --subscription <ID>       The subscription, instead of the context's
              --server <URL>            The server to talk to, without any context
              --context <NAME>          The context to use, instead of the current one

        Examples:
          rackwright up                                 start everything, with a simulated site
          rackwright status                             what runs and what waits, and why
          rackwright bmm list                           every machine
          rackwright bmm restart rack1compute01         restart one and follow it to the end
          rackwright operation list                     what is running now

        Exit codes:
          0    done
          1    failed: the operation, the server or this computer
          2    wrong usage
          3    there is nothing of that name
          4    refused by a rule; the message names it, its evidence and the remedy
          5    no server can be reached
          6    the operation was cancelled
          130  interrupted

        Environment:
          RACKWRIGHT_HOME  where contexts are kept, instead of the configuration directory
          NO_COLOR         if set, nothing is coloured
    "#]]
    .assert_eq(&help);
}

#[test]
fn an_action_says_whether_it_disrupts_and_shows_an_example() {
    let mut root = Cli::command();
    root.build();
    let restart = root.find_subcommand_mut("bmm").and_then(|bmm| bmm.find_subcommand_mut("restart")).unwrap();
    expect![[r#"
        Switch a machine off and on again and wait until its node has rejoined. Disruptive.

        Cordons the node first and lifts its own cordon at the end; cordons of others stay. A control-plane
        machine is refused while that would endanger the others' quorum.

        Example: rackwright bmm restart rack1compute01

        Usage: rackwright bmm restart [OPTIONS] <NAME|--name <NAME>>

        Arguments:
          [NAME]
                  Its name

        Options:
          -n, --name <NAME>
                  The same, as a flag

              --accept-control-plane-outage
                  Go on even if this machine has the control plane's only vote: the undercloud's API is down
                  meanwhile

              --no-wait
                  Do not follow the operation to its end

          -y, --yes
                  Ask nothing. Without a terminal nothing is asked anyway

          -h, --help
                  Print help (see a summary with '-h')

        Global options:
          -o, --output <FORMAT>
                  How results are shown

                  Possible values:
                  - table: For people
                  - json:  Exactly as the API answers
                  - yaml:  The same, as YAML
                  - tsv:   One line for each item, with tabs between its values and no headings

                  [default: table]

              --query <EXPRESSION>
                  Which part of the result, as a JMESPath expression, such as `[].name`. As in `az`, it sees
                  the JSON of `-o json`

          -g, --resource-group <GROUP>
                  The resource group to look in, instead of the context's

              --subscription <ID>
                  The subscription, instead of the context's

              --server <URL>
                  The server to talk to, without any context

              --context <NAME>
                  The context to use, instead of the current one
    "#]]
    .assert_eq(&without_trailing_blanks(&restart.clone().term_width(100).render_long_help().to_string()));
}
