//! Commands in hints, with the options that the person has to type again for them to mean the same.

use super::args::GlobalArgs;

/// The options that say where a command looks, as they were typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retyped {
    server: String,
    group: String,
}

/// Commands that ask no server, or say themselves which.
const WITHOUT_SERVER: [&str; 9] = ["up", "serve", "sim", "context", "completions", "init", "login", "vault", "--help"];

/// Commands that look for a name in a resource group. Whoever names a wrong group is sent to all clusters.
const WITH_GROUP: [&str; 2] = ["bmm", "rack"];

impl Retyped {
    pub fn of(global: &GlobalArgs) -> Retyped {
        let named = [("--server", &global.server), ("--context", &global.context), ("--subscription", &global.subscription)];
        let server = named.iter().filter_map(|(flag, value)| Some(format!(" {flag} {}", value.as_ref()?)));
        let group = global.resource_group.as_ref().map(|group| format!(" -g {group}"));
        Retyped { server: server.collect(), group: group.unwrap_or_default() }
    }

    /// The hint with these options in every command of ours that it quotes.
    pub fn within(&self, hint: &str) -> String {
        let parts = hint.split('`').enumerate().map(|(n, part)| if n % 2 == 1 { self.command(part) } else { part.to_owned() });
        parts.collect::<Vec<_>>().join("`")
    }

    fn command(&self, quoted: &str) -> String {
        let Some(noun) = quoted.strip_prefix("rackwright ").and_then(|rest| rest.split(' ').next()) else { return quoted.to_owned() };
        if WITHOUT_SERVER.contains(&noun) {
            return quoted.to_owned();
        }
        let group = if WITH_GROUP.contains(&noun) && !quoted.contains(" -g ") { self.group.as_str() } else { "" };
        format!("{quoted}{group}{}", self.server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_repeats_what_its_commands_need() {
        let retyped = Retyped { server: " --server http://127.0.0.1:1".to_owned(), group: " -g site2".to_owned() };
        for (hint, expected) in [
            ("did you mean `rack1compute01`?", "did you mean `rack1compute01`?"),
            ("next: `rackwright bmm show m1`", "next: `rackwright bmm show m1 -g site2 --server http://127.0.0.1:1`"),
            ("with `rackwright operation wait 8f` or not", "with `rackwright operation wait 8f --server http://127.0.0.1:1` or not"),
            ("`rackwright cluster list` names them", "`rackwright cluster list --server http://127.0.0.1:1` names them"),
            ("start it with `rackwright up`", "start it with `rackwright up`"),
            ("`rackwright login` makes one", "`rackwright login` makes one"),
            ("a ` alone", "a ` alone"),
        ] {
            assert_eq!(retyped.within(hint), expected);
        }
        assert_eq!(Retyped::default().within("next: `rackwright bmm show m1`"), "next: `rackwright bmm show m1`");
    }
}
