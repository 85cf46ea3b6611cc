//! A script being played: its setting is made, its steps are done in order, and the first that fails is told.

use std::fs;
use std::time::{Duration, Instant};

use crate::console::Exchange;
use crate::matching::{self, Ids};
use crate::pages::Page;
use crate::script::{Script, Step, What};
use crate::server::Server;
use crate::shell::Shell;

/// What is awaited comes within this, or not at all.
const PATIENCE: Duration = Duration::from_secs(40);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Questions whose answer is 0 once every machine has been looked at.
const UNSEEN: [&str; 2] = [
    "rackwright bmm list -o tsv --query 'length([?!properties.powerState])'",
    "rackwright status -o tsv --query 'length(clusters[?machines.notLookedAt > `0`])'",
];

/// What a server that is ready still has to say comes within this.
const LAST_LINES: Duration = Duration::from_secs(2);

/// What is wrong with a step.
#[derive(Debug)]
pub struct Wrong {
    pub page: String,
    pub line: usize,
    pub problem: String,
    pub mend: Option<Mend>,
}

/// Lines of a page that should be others.
#[derive(Clone, Debug)]
pub struct Mend {
    /// The first line, and how many there are.
    pub at: usize,
    pub count: usize,
    pub lines: Vec<String>,
}

/// What is wrong with the script: the first thing, or everything if the page is to be written anew.
pub fn play(script: &Script, is_updating: bool) -> Vec<Wrong> {
    let mut session = Session { shell: Shell::new(), servers: Vec::new() };
    let mut wrongs = Vec::new();
    let wrong = |line, (problem, mend)| Wrong { page: script.page.clone(), line, problem, mend };
    if let Err(problem) = session.prepare(&script.setting) {
        return vec![wrong(0, (problem, None))];
    }
    if let Some(definition) = definition(&script.page) {
        session.shell.set_variable(&definition);
    }
    for step in &script.steps {
        if let Err(fault) = session.step(step, script.exit_code) {
            wrongs.push(wrong(step.line, fault));
            if !is_updating {
                break;
            }
        }
    }
    wrongs
}

/// What the overview of the errors says that `$MACHINES` stands for on the pages beside it.
fn definition(page: &str) -> Option<String> {
    let overview = page.starts_with("docs/errors/").then(|| Page::read("docs/errors/README.md"))?;
    overview.text.lines().find(|line| line.starts_with("MACHINES=")).map(str::to_owned)
}

type Fault = (String, Option<Mend>);

struct Session {
    shell: Shell,
    servers: Vec<Server>,
}

impl Session {
    /// Starts what the setting says. It runs fast unless it says how fast.
    fn prepare(&mut self, setting: &str) -> Result<(), String> {
        let (kind, arguments) = setting.split_once(' ').unwrap_or((setting, ""));
        let speed = if arguments.contains("--speed") { "" } else { "--speed 300" };
        match kind {
            "none" => Ok(()),
            "up" => self.start(&format!("rackwright up {speed} {arguments}")),
            "sim" => {
                self.start(&format!("rackwright sim serve {speed} {arguments}"))?;
                self.copy_site_files()
            }
            kind => Err(format!("there is no setting `{kind}`")),
        }
    }

    /// The files of the simulated site, for the page to use and to change.
    fn copy_site_files(&self) -> Result<(), String> {
        let written = self.shell.home().join(".local/share/rackwright/sim");
        for name in ["site1.toml", "site1-bmc-credentials.toml", "site1-kubeconfig.yaml"] {
            fs::copy(written.join(name), self.shell.folder().join(name)).map_err(|problem| format!("{name}: {problem}"))?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, exit_code: Option<i32>) -> Result<(), Fault> {
        let plain = |problem: String| (problem, None);
        match &step.what {
            What::Show(exchange) => self.show(exchange, exit_code),
            What::Run(command) if is_server(command) => self.start(command).map_err(plain),
            What::Run(command) => self.run(command).map_err(plain),
            What::Until(command) => {
                let done = || self.shell.run(command).1 == 0;
                until(done)
                    .then_some(())
                    .ok_or_else(|| (format!("`{command}` did not come true:\n{}", self.shell.run(command).0.join("\n")), None))
            }
            What::File { name, lines } => {
                fs::write(self.shell.folder().join(name), lines.join("\n") + "\n").map_err(|problem| (format!("{name}: {problem}"), None))
            }
            What::Said(shown) => self.await_said(step.line, shown),
            What::Stop(words) => self.stop(words).map_err(plain),
            What::Name { id, command } => match &self.shell.run(command) {
                (said, 0) if said.len() == 1 => {
                    self.shell.name(id, &said[0]);
                    Ok(())
                }
                (said, code) => Err(plain(format!("`{command}` does not tell an id, but ended with {code}:\n{}", said.join("\n")))),
            },
            What::Keys { command, keys } => match self.shell.type_keys(command, keys) {
                (_, 0) => Ok(()),
                (said, code) => Err(plain(format!("`{command}` ended with {code}:\n{}", said.join("\n")))),
            },
            What::Kill => {
                self.servers.clear();
                Ok(())
            }
        }
    }

    /// The last started is stopped first: a control plane before its world.
    fn stop(&mut self, words: &str) -> Result<(), String> {
        let (mut meant, others) =
            std::mem::take(&mut self.servers).into_iter().partition::<Vec<_>, _>(|server| server.line.contains(words));
        self.servers = others;
        if meant.is_empty() {
            return Err(format!("no server runs that was started by `{words}`"));
        }
        while let Some(mut server) = meant.pop() {
            if server.interrupt() != Some(0) {
                return Err(format!("a server did not stop well:\n{}", server.said().join("\n")));
            }
        }
        Ok(())
    }

    fn run(&mut self, command: &str) -> Result<(), String> {
        if self.shell.set_variable(command) {
            return Ok(());
        }
        match self.shell.run(command) {
            (_, 0) => Ok(()),
            (said, code) => Err(format!("`{command}` ended with {code}:\n{}", said.join("\n"))),
        }
    }

    /// Starts a server and waits until it is ready.
    fn start(&mut self, command: &str) -> Result<(), String> {
        let mut server = Server::start(command, self.shell.server(command));
        until(|| server.is_ready() || server.exit_code().is_some());
        if !server.is_ready() {
            return Err(format!("`{command}` did not start:\n{}", server.said().join("\n")));
        }
        self.keep(server)
    }

    /// Lets it run on. A person types the next command when every machine has been looked at.
    fn keep(&mut self, server: Server) -> Result<(), String> {
        let address = server.address();
        self.servers.push(server);
        if address.is_none() {
            return Ok(());
        }
        self.shell.api = address;
        until(|| UNSEEN.iter().all(|question| self.shell.run(question).0 == ["0"]))
            .then_some(())
            .ok_or_else(|| format!("some machines were not looked at:\n{}", self.shell.run("rackwright status").0.join("\n")))
    }

    fn show(&mut self, exchange: &Exchange, page_exit_code: Option<i32>) -> Result<(), Fault> {
        if self.shell.set_variable(&exchange.command) {
            return Ok(());
        }
        let (said, code) = match is_server(&exchange.command) {
            true => self.show_server(exchange).map_err(|problem| (problem, None))?,
            false => self.shell.run(&exchange.command),
        };
        let said = self.shell.generalize(&said);
        let mend = Mend { at: exchange.shown_at, count: exchange.shown.len(), lines: self.shell.with_ids_of_the_page(&said) };
        let Some(ids) = matching::fits(&exchange.shown, &said) else {
            let (shown, said) = (exchange.shown.join("\n"), said.join("\n"));
            return Err((format!("`{}` does not say what is shown.\nshown:\n{shown}\nsaid:\n{said}", exchange.command), Some(mend)));
        };
        self.learn(ids)?;
        let is_right = match exchange.shown.iter().any(|line| line.starts_with("error: ")) {
            true => code != 0 && page_exit_code.is_none_or(|wanted| wanted == code),
            false => code == 0,
        };
        let problem = || format!("`{}` says what is shown, but ends with {code}", exchange.command);
        is_right.then_some(()).ok_or_else(|| (problem(), None))
    }

    /// What a server says at its start, as far as it is shown; or all of it, with the exit code, if it ends.
    fn show_server(&mut self, exchange: &Exchange) -> Result<(Vec<String>, i32), String> {
        let mut server = Server::start(&exchange.command, self.shell.server(&exchange.command));
        until(|| server.is_ready() || server.exit_code().is_some());
        // What does not come is told by whoever compares.
        within(LAST_LINES, || matching::fits(&exchange.shown, &self.shell.generalize(&server.greeting())).is_some());
        let (said, code) = (server.greeting(), server.exit_code());
        if code.is_none() {
            self.keep(server)?;
        }
        Ok((said, code.unwrap_or(0)))
    }

    fn await_said(&mut self, line: usize, shown: &[String]) -> Result<(), Fault> {
        let said = |servers: &[Server]| servers.iter().rev().map(|server| self.shell.generalize(&server.said())).collect::<Vec<_>>();
        let find = |servers: &[Server]| said(servers).iter().find_map(|said| matching::fits_within(shown, said));
        until(|| find(&self.servers).is_some());
        match find(&self.servers) {
            Some(ids) => self.learn(ids),
            None => {
                let all: Vec<String> = said(&self.servers).concat();
                let problem = format!("no server says what is shown.\nshown:\n{}\nsaid:\n{}", shown.join("\n"), all.join("\n"));
                Err((problem, Some(Mend { at: line + 1, count: shown.len(), lines: all })))
            }
        }
    }

    fn learn(&mut self, ids: Ids) -> Result<(), Fault> {
        self.shell.learn(ids).map_err(|problem| (problem, None))
    }
}

/// Whether a command starts a server, which goes on while the page does.
fn is_server(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().skip_while(|word| word.contains('=')).collect();
    let asks = words.iter().any(|word| ["--check", "--help", "-h"].contains(word));
    let starts = matches!(words[..], ["rackwright", "up" | "serve", ..] | ["rackwright", "sim", "serve", ..]);
    starts && !asks && !command.contains(['|', ';'])
}

fn until(is_so: impl FnMut() -> bool) -> bool {
    within(PATIENCE, is_so)
}

fn within(patience: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let give_up_at = Instant::now() + patience;
    while Instant::now() < give_up_at {
        if is_so() {
            return true;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script;

    /// What is wrong with a page that has this text.
    fn wrongs(name: &str, text: &str) -> Vec<String> {
        let reading = script::read(&Page { name: name.to_owned(), text: text.to_owned() });
        assert!(reading.problems.is_empty(), "{:?}", reading.problems);
        reading.scripts.iter().flat_map(|script| play(script, false)).map(|wrong| format!("{}: {}", wrong.line, wrong.problem)).collect()
    }

    #[test]
    fn a_page_that_lies_is_found() {
        let page = |block: &str| format!("<!-- setting: none -->\n{block}\n");
        for (block, problem) in [
            ("```console\n$ echo yes\nno\n```", "3: `echo yes` does not say what is shown"),
            ("```console\n$ echo yes; false\nyes\n```", "3: `echo yes; false` says what is shown, but ends with 1"),
            ("```console\n$ echo error: none\nerror: none\n```", "3: `echo error: none` says what is shown, but ends with 0"),
            (
                "```console\n$ echo 00000001 00000001\n8f3c1a2b 8f3c1a2b\n\n$ echo 8f3c1a2b\n00000002\n\n$ echo 00000003\n8f3c1a2b\n```",
                "9: the page uses",
            ),
            ("```sh\nfalse\n```", "3: `false` ended with 1"),
            ("<!-- id 8f3c1a2b: false -->", "2: `false` does not tell an id, but ended with 1"),
            ("<!-- keys: q -->\n```sh\nfalse\n```", "4: `false` ended with 1"),
            ("<!-- stop: rackwright serve -->", "2: no server runs that was started by `rackwright serve`"),
            ("```console\n$ rackwright up --racks 0\n…\n```", "3: `rackwright up --racks 0` says what is shown, but ends with 2"),
        ] {
            let found = wrongs("page.md", &page(block));
            assert!(matches!(&found[..], [one] if one.starts_with(problem)), "{block}: {found:?}");
        }
        assert!(wrongs("page.md", &page("```sh\nA=b\ntest $A = b\n```")).is_empty());
        assert!(wrongs("page.md", &page("<!-- id 8f3c1a2b: echo 00000001 -->\n```sh\ntest 8f3c1a2b = 00000001\n```")).is_empty());
        assert!(wrongs("page.md", &page("<!-- keys: q -->\n```sh\nread -n 1 key && test $key = q\n```")).is_empty());
        assert!(wrongs("page.md", &page("```sh\ntest -d /etc/rackwright/ && test -d /var/lib/rackwright\n```")).is_empty());
    }

    #[test]
    fn the_page_of_an_error_must_name_the_right_exit_code() {
        let page = "HTTP status 409 · exit code 4\n<!-- setting: none -->\n```console\n$ echo error: no; exit 3\nerror: no\n```\n";
        assert!(wrongs("page.md", page)[0].ends_with("ends with 3"));
        assert!(wrongs("page.md", &page.replace("code 4", "code 3")).is_empty());
    }
}
