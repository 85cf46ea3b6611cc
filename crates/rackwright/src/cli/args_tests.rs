//! What can be typed, what cannot, and what the help teaches.

use super::args::*;
use super::bmm::BmmCommand;
use super::output::Output;
use super::vm::VmCommand;
use clap::{CommandFactory, Parser};
use expect_test::expect;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(line.split_whitespace())
}

fn name(line: &str) -> String {
    match parse(line).unwrap().command {
        Some(Command::Bmm(BmmCommand::Show(args))) => args.name().unwrap().to_owned(),
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
fn tenants_resources_are_typed_as_in_az() {
    let skips = |line: &str| match parse(line).unwrap().command {
        Some(Command::Vm(VmCommand::PowerOff { skip_shutdown, .. })) => skip_shutdown.is_true(),
        other => panic!("{other:?}"),
    };
    assert!(skips("rackwright virtualmachine power-off -n v --skip-shutdown True") && skips("rackwright vm power-off v --skip-shutdown"));
    assert!(!skips("rackwright vm power-off v --skip-shutdown False") && !skips("rackwright vm power-off v"));
    for right in [
        "vm show --ids /a /b",
        "bmm show --ids /a",
        "kubernetescluster agentpool list --kubernetes-cluster-name k",
        "agentpool show -n p --kubernetes-cluster-name k",
        "kubernetescluster update -n k --drain-policy hold --tags a=b",
        "baremetalmachine reimage -n m -g g --safeguard-mode None",
        "baremetalmachine replace -n m -g g --bmc-credentials password=p username=u --storage-policy Preserve --safeguard-mode All",
        "cluster inspect -n c --machine m1 m2 --rack r1",
        "bmm advise m --symptom stuck-provisioning --repaired ssd,nic",
    ] {
        assert!(parse(&format!("rackwright {right}")).is_ok(), "{right}");
    }
    for wrong in [
        "vm show",
        "vm show v --ids /a",
        "vm power-off v --skip-shutdown maybe",
        "agentpool list",
        "kubernetescluster update k --drain-policy maybe",
        "bmm reimage m --safeguard-mode none",
        "bmm replace m --storage-policy Keep",
        "bmm advise m --symptom tired",
        "bmm advise m --repaired paint",
        "vm create v --cpu-cores many --memory-size 1 --vm-image i --os-disk-size 1",
    ] {
        assert_eq!(parse(&format!("rackwright {wrong}")).unwrap_err().exit_code(), 2, "{wrong}");
    }
}

#[test]
fn a_truth_is_a_flag_or_a_word() {
    let evacuates = |line: &str| match parse(line).unwrap().command {
        Some(Command::Bmm(BmmCommand::Cordon { evacuate, force, .. })) => (evacuate.is_true(), force),
        other => panic!("{other:?}"),
    };
    assert_eq!(evacuates("rackwright bmm cordon m"), (false, false));
    assert_eq!(evacuates("rackwright bmm cordon m --evacuate"), (true, false));
    assert_eq!(evacuates("rackwright bmm cordon m --evacuate True --force"), (true, true));
    assert_eq!(evacuates("rackwright bmm cordon --evacuate=false -n m"), (false, false));
    assert_eq!(evacuates("rackwright bmm cordon --evacuate --force m"), (true, true));
    assert_eq!(parse("rackwright bmm cordon m --evacuate maybe").unwrap_err().exit_code(), 2);
}

#[test]
fn every_action_of_a_machine_can_be_previewed() {
    for line in ["power-off", "start", "restart", "cordon", "uncordon", "reimage", "replace", "validate"] {
        assert!(parse(&format!("rackwright bmm {line} m --preview")).is_ok(), "{line}");
    }
    assert!(parse("rackwright bmm manage m --reason r --preview").is_err());
}

#[test]
fn every_action_takes_yes() {
    for line in [
        "bmm power-off m",
        "bmm start m",
        "bmm restart m",
        "bmm cordon m",
        "bmm uncordon m",
        "bmm reimage m",
        "bmm replace m",
        "bmm validate m",
        "cluster inspect c",
        "bmm manage m --reason r",
        "bmm unmanage m --reason r",
        "vm create v --cpu-cores 1 --memory-size 1 --vm-image i --os-disk-size 1",
        "vm delete v",
        "vm start v",
        "vm power-off v",
        "vm restart v",
        "vm reimage v",
        "kubernetescluster restart-node k --node-name n",
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
          up                 Start the control plane and a simulated site, and make them the current context
          serve              Start the control plane for the sites that files describe
          sim                The simulated site: run it alone, and break things in it
          status             What runs, what waits, and what ends each wait
          top                A live view of racks, machines, operations and waits. Changes nothing
          bmm                Bare-metal machines: look at them, and act on them [alias: baremetalmachine]
          cluster            Clusters: the sites that are kept
          rack               Racks: where the machines of a site stand
          runtime            Runtimes: which versions a cluster can install on its machines
          vm                 Virtual machines of tenants: look at them, make them, and act on them [alias:
                             virtualmachine]
          kubernetescluster  Kubernetes clusters of tenants: their nodes, the machines that these are on,
                             and how they are drained
          agentpool          Pools of tenants' Kubernetes clusters: worker nodes that are alike
          operation          Operations: what is being done, what was done, and stopping it
          activity-log       The activity log: what was asked, decided, refused and done, and by whom
          sp                 Service principals: who programs log in as, with secrets or certificates
          role               Roles: which there are, and who has which
          lock               Locks: what keeps even an owner from deleting or changing something by mistake
          policy             Policies: what nobody may make or do, whatever role they have
          quota              Quotas: how much a subscription may have
          subscription       Subscriptions: which there are, and whether one may be changed
          signing-key        The keys that the server signs tokens with
          completions        The script that lets a shell complete our commands with the tab key. Changes
                             nothing
          login              Log in to a server, and make it the current context
          token              Print a token that other programs can show the server for an hour
          approve            Say that a device which shows a code is yours, so that it is logged in as you
          issuer             Issuers: who else is trusted to know people
          az-env             Write a profile for Azure's command line that knows this server, and print what
                             a shell must export to use it
          rest               Send any request to the server, as yourself, and show the answer as it comes
          init               Make a data directory with its first administrator, before a server is started
                             on it
          context            Contexts: which server commands talk to
          backup             Copy what a running server knows to a file, while it goes on
          restore            Put a backup into a data directory, before a server is started on it
          vault              The keys of a server's secrets: which there are, and new ones for them
          help               Print this message or the help of the given subcommand(s)

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
          rackwright bmm restart NAME --preview         what it would stop and move, and nothing is done
          rackwright vm list                            what tenants run, and on which machine
          rackwright operation list                     what is running now
          rackwright activity-log list --follow         who asked for what, and what came of it, as it
          happens
          rackwright top                                all of it, live

        Exit codes:
          0    done
          1    failed: the operation, the server or this computer
          2    wrong usage
          3    there is nothing of that name
          4    refused by a rule; the message names it, its evidence and the remedy
          5    no server can be reached
          6    the operation was cancelled
          7    not yet: what is asked about is still on its way (bmm verify)
          130  interrupted

        Environment:
          RACKWRIGHT_HOME    where contexts and data are kept, instead of the configuration and data
          directories
          RACKWRIGHT_SERVER  the server to talk to, for an account without contexts
          RACKWRIGHT_CA_FILE who signed its certificate, in PEM
          RACKWRIGHT_CLIENT_ID, RACKWRIGHT_CLIENT_SECRET
                             who to log in as, instead of what the context says
          RACKWRIGHT_TOKEN   a token to show the server, instead of a login
          RACKWRIGHT_MASTER_KEY
                             the master key of a server's secrets, in base64, instead of a key file
          NO_COLOR           if set, nothing is coloured
          CLICOLOR_FORCE     if set and not 0, colours without a terminal too
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

              --preview
                  Show what it would do, and do nothing. Exits with 4 if it would be refused

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

/// Every command that can be carried out, with the words that lead to it.
fn leaves(command: &clap::Command, path: &[&str], found: &mut Vec<(String, clap::Command)>) {
    for child in command.get_subcommands().filter(|child| child.get_name() != "help" && !child.is_hide_set()) {
        let path = [path, &[child.get_name()]].concat();
        if child.has_subcommands() {
            leaves(child, &path, found);
        } else {
            found.push((path.join(" "), child.clone()));
        }
    }
}

/// The words of an example as a shell would split them: quotes hold together, a redirection is the shell's own.
fn words(example: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in example.split(" > ").next().unwrap().chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, ' ') => words.push(String::new()),
            (_, c) => words.last_mut().unwrap().push(c),
        }
    }
    words
}

#[test]
fn every_command_teaches_with_an_example_that_works() {
    let mut root = Cli::command();
    root.build();
    let mut found = Vec::new();
    leaves(&root, &["rackwright"], &mut found);
    assert!(found.len() > 30, "{}", found.len());
    for (path, command) in found {
        let about = command.get_long_about().map(ToString::to_string).unwrap_or_default();
        let examples: Vec<&str> = about.lines().filter_map(|line| line.strip_prefix("Example: ")).collect();
        assert!(!examples.is_empty(), "`{path}` has no example");
        for example in examples {
            assert!(example.starts_with(&path), "`{path}`: {example}");
            assert!(Cli::try_parse_from(words(example)).is_ok(), "`{path}`: {example}");
        }
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            assert!(argument.get_help().is_some(), "`{path}` does not explain {}", argument.get_id());
        }
    }
}

#[test]
fn a_mistyped_command_is_understood() {
    let said = |line: &str| parse(line).unwrap_err().to_string();
    assert!(said("rackwright bmm restrat m1").contains("'restart'"));
    assert!(said("rackwright stauts").contains("'status'"));
    assert!(said("rackwright bmm list -o jsn").contains("'json'"));
    assert!(said("rackwright completions bsh").contains("'bash'"));
    assert!(said("rackwright bmm list --qurey x").contains("'--query'"));
}
