//! The wire between a machine and the install face: it can be cut, it can stall, and it can lose the end of every answer.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    Whole,
    /// Every connection breaks, and none is made.
    Cut,
    /// Connections stay, and nothing passes.
    Stalled,
}

pub struct Wire {
    pub port: u16,
    inner: Arc<Inner>,
}

struct Inner {
    state: AtomicU8,
    /// Bytes towards the machine after which a connection ends; 0 for none.
    longest: AtomicU64,
    /// Bytes towards the machine in a second, of each connection; 0 for as many as there are.
    rate: AtomicU64,
    /// Bytes that have gone towards the machine.
    passed: AtomicU64,
    ends: Mutex<Vec<TcpStream>>,
}

impl Wire {
    /// A wire that leads to a port of this computer.
    pub fn to(target: u16) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
        let port = listener.local_addr().expect("it is bound").port();
        let [longest, rate, passed] = [(); 3].map(|()| AtomicU64::new(0));
        let inner = Arc::new(Inner { state: AtomicU8::new(State::Whole as u8), longest, rate, passed, ends: Mutex::default() });
        let shared = inner.clone();
        std::thread::spawn(move || {
            for machine in listener.incoming().flatten() {
                if shared.is(State::Cut) {
                    continue;
                }
                let Ok(house) = TcpStream::connect(("127.0.0.1", target)) else { continue };
                shared.connect(machine, house);
            }
        });
        Wire { port, inner }
    }

    pub fn set(&self, state: State) {
        self.inner.state.store(state as u8, Ordering::SeqCst);
        if state == State::Cut {
            for end in self.inner.ends.lock().expect("nobody panicked").drain(..) {
                let _ = end.shutdown(Shutdown::Both);
            }
        }
    }

    /// Ends every connection after so many bytes towards the machine, as a proxy does that truncates.
    pub fn truncate_after(&self, bytes: u64) {
        self.inner.longest.store(bytes, Ordering::SeqCst);
    }

    /// Lets no more bytes pass in a second, so that there is a middle of the way to do something in.
    pub fn slow_down_to(&self, bytes: u64) {
        self.inner.rate.store(bytes, Ordering::SeqCst);
    }

    /// How many bytes have gone towards the machine.
    pub fn passed(&self) -> u64 {
        self.inner.passed.load(Ordering::SeqCst)
    }
}

impl Inner {
    fn is(&self, state: State) -> bool {
        self.state.load(Ordering::SeqCst) == state as u8
    }

    fn connect(self: &Arc<Inner>, machine: TcpStream, house: TcpStream) {
        let ends = [machine.try_clone(), machine.try_clone(), house.try_clone(), house.try_clone()];
        let [Ok(kept), Ok(to_machine), Ok(kept_too), Ok(from_house)] = ends else { return };
        self.ends.lock().expect("nobody panicked").extend([kept, kept_too]);
        let (up, down) = (self.clone(), self.clone());
        std::thread::spawn(move || up.carry(machine, house, None));
        std::thread::spawn(move || {
            let longest = down.longest.load(Ordering::SeqCst);
            down.carry(from_house, to_machine, Some(if longest == 0 { u64::MAX } else { longest }));
        });
    }

    fn dawdle(&self, count: u64) {
        let rate = self.rate.load(Ordering::SeqCst);
        if let Some(millis) = (count * 1_000).checked_div(rate) {
            std::thread::sleep(Duration::from_millis(millis));
        }
    }

    /// Carries bytes until either end is gone. `most` is of the way to the machine, where bytes are counted too.
    fn carry(&self, mut from: TcpStream, mut to: TcpStream, most: Option<u64>) {
        let (mut buffer, mut left) = (vec![0; 64 * 1024], most.unwrap_or(u64::MAX));
        while left > 0 {
            while self.is(State::Stalled) {
                std::thread::sleep(Duration::from_millis(20));
            }
            let room = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            match from.read(&mut buffer[..room]) {
                Ok(count @ 1..) if to.write_all(&buffer[..count]).is_ok() => {
                    left -= count as u64;
                    if most.is_some() {
                        self.passed.fetch_add(count as u64, Ordering::SeqCst);
                        self.dawdle(count as u64);
                    }
                }
                _ => break,
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }
}
