//! `rackwright completions`: what shells need to complete our commands with the tab key.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory, ValueEnum, ValueHint};
use clap_complete::Shell;
use sim::FaultKind;

use super::args::Cli;
use super::screen::Screen;
use super::trouble::Trouble;

/// The script to stdout, where to put it to stderr.
pub fn run(screen: &mut Screen, shell: Shell) -> Result<(), Trouble> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut completed(), "rackwright", &mut script);
    screen.lines(&String::from_utf8_lossy(&script))?;
    screen.hint(&how_to_install(shell));
    Ok(())
}

/// The grammar, with what only a shell needs to know.
fn completed() -> Command {
    let kinds = || PossibleValuesParser::new(FaultKind::ALL.map(FaultKind::name));
    let with_kinds = |command: Command| command.mut_arg("kind", |arg| arg.value_parser(kinds()));
    let faults = |fault: Command| fault.mut_subcommand("add", with_kinds).mut_subcommand("clear", with_kinds);
    let command = Cli::command().mut_subcommand("sim", |sim| sim.mut_subcommand("fault", faults));
    without_files(command)
}

/// Shells offer files where nothing is said. Only a path is one; a machine's name is not.
fn without_files(command: Command) -> Command {
    let hinted = |arg: Arg| {
        let says_nothing = arg.get_action().takes_values() && arg.get_value_hint() == ValueHint::Unknown;
        if says_nothing { arg.value_hint(ValueHint::Other) } else { arg }
    };
    command.mut_args(hinted).mut_subcommands(without_files)
}

fn how_to_install(shell: Shell) -> String {
    let name = shell.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    let command = format!("rackwright completions {name}");
    match shell {
        Shell::Bash => format!(
            "`mkdir -p ~/.local/share/bash-completion/completions && {command} > ~/.local/share/bash-completion/completions/rackwright`, then open a new shell"
        ),
        Shell::Zsh => format!("`{command} > _rackwright` in a directory of your `fpath`, then open a new shell"),
        Shell::Fish => format!("`mkdir -p ~/.config/fish/completions && {command} > ~/.config/fish/completions/rackwright.fish`"),
        Shell::Elvish => format!("`{command} >> ~/.config/elvish/rc.elv`"),
        Shell::PowerShell => format!("`{command} >> $PROFILE`"),
        _ => "put it where your shell looks for completions".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen::tests::captured;
    use super::*;

    #[test]
    fn every_shell_gets_a_script_that_knows_our_commands_and_a_place_for_it() {
        for shell in Shell::value_variants() {
            let (mut screen, out, err) = captured();
            run(&mut screen, *shell).unwrap();
            assert!(out.text().contains("activity-log") && out.text().contains("power-off"), "{shell}");
            assert!(err.text().contains(&format!("rackwright completions {shell}")), "{shell}: {}", err.text());
        }
    }

    #[test]
    fn what_has_a_few_values_is_completed_by_them() {
        // The scripts of other shells know only the values of options, or none.
        for shell in [Shell::Bash, Shell::Zsh] {
            let (mut screen, out, _) = captured();
            run(&mut screen, shell).unwrap();
            assert!(out.text().contains("bmc-forgets-sessions") && out.text().contains("InProgress"), "{shell}");
        }
    }

    #[test]
    fn files_are_offered_for_files_only() {
        fn offered(command: &Command, found: &mut Vec<String>) {
            let arguments = command.get_arguments().filter(|arg| arg.get_value_hint() == ValueHint::AnyPath);
            found.extend(arguments.map(|arg| arg.get_id().to_string()));
            assert!(command.get_arguments().all(|arg| !arg.get_action().takes_values() || arg.get_value_hint() != ValueHint::Unknown));
            command.get_subcommands().for_each(|command| offered(command, found));
        }
        let mut found = Vec::new();
        offered(&completed(), &mut found);
        found.sort();
        found.dedup();
        let files = [
            "assertion_file",
            "bmc_password_file",
            "ca",
            "certificate",
            "configs",
            "data_dir",
            "dir",
            "file",
            "install_ca",
            "key",
            "key_file",
            "keys",
            "new_key_file",
            "secret_file",
            "simulator",
            "user_data",
        ];
        assert_eq!(found, files);
    }

    #[test]
    fn bash_itself_can_read_its_script() {
        let (mut screen, out, _) = captured();
        run(&mut screen, Shell::Bash).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("rackwright");
        std::fs::write(&file, out.text()).unwrap();
        let read = std::process::Command::new("bash").arg("-n").arg(&file).status().unwrap();
        assert!(read.success());
    }
}
