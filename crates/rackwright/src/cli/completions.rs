//! `rackwright completions`: what shells need to complete our commands with the tab key.

use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;

use super::args::Cli;
use super::screen::Screen;
use super::trouble::Trouble;

/// The script to stdout, where to put it to stderr.
pub fn run(screen: &mut Screen, shell: Shell) -> Result<(), Trouble> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "rackwright", &mut script);
    screen.lines(&String::from_utf8_lossy(&script))?;
    screen.hint(&how_to_install(shell));
    Ok(())
}

fn how_to_install(shell: Shell) -> String {
    let name = shell.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    let command = format!("rackwright completions {name}");
    match shell {
        Shell::Bash => format!("`{command} > ~/.local/share/bash-completion/completions/rackwright`, then open a new shell"),
        Shell::Zsh => format!("`{command} > _rackwright` in a directory of your `fpath`, then open a new shell"),
        Shell::Fish => format!("`{command} > ~/.config/fish/completions/rackwright.fish`"),
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
