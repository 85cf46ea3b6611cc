//! The threads that answer clients, apart from those of the keepers: after a start every keeper looks at all its devices, and
//! whoever asks meanwhile should not stand in line behind ten thousand looks. Nor behind a rack of machines that are sent their images:
//! those have threads of their own, too.

use std::io;

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle, Runtime};

#[derive(Debug)]
pub struct Front {
    handle: Handle,
    /// Taken when the front is closed.
    runtime: Option<Runtime>,
}

impl Front {
    pub fn open() -> io::Result<Front> {
        Front::named("front")
    }

    /// The same for the install face.
    pub fn open_for_machines() -> io::Result<Front> {
        Front::named("install")
    }

    fn named(name: &str) -> io::Result<Front> {
        let runtime = Builder::new_multi_thread().thread_name(name).enable_all().build()?;
        Ok(Front { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    pub fn threads(&self) -> &Handle {
        &self.handle
    }

    /// Lets these threads, and no others, hear who comes to a listener.
    pub fn adopt(&self, listener: TcpListener) -> io::Result<TcpListener> {
        let listener = listener.into_std()?;
        let _here = self.handle.enter();
        TcpListener::from_std(listener)
    }
}

impl Drop for Front {
    /// Whatever still runs was given up by whoever waited for it; a runtime may not be waited for here.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
