//! Logging in a device that has no browser: it shows a short code, and somebody who is logged in already says that it is theirs.
//!
//! The device then is that somebody. What waits is in memory: a restart makes devices ask again.

use std::collections::BTreeMap;
use std::net::IpAddr;

use access::attempts::{Buckets, Pace, network_of};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::{Span, Timestamp};

use crate::{Caller, Gate, GateError, lock, random};

/// How long somebody has to type the code.
pub const DEVICE_CODE_LIFE: Span = Span::minutes(15);

/// How often a device is told to ask, and how often it may.
pub const DEVICE_POLL_EVERY: Span = Span::seconds(2);
pub const DEVICE_POLL_LEAST: Span = Span::seconds(1);

/// Devices that wait at once: each takes a few hundred bytes, and anybody may begin.
pub const DEVICES_MAX: usize = 1_000;

/// Devices that may begin from one address: twenty at once and two a minute, so that no single one takes all places.
pub const DEVICE_BEGINNINGS: Pace = Pace { burst: 20, every: Span::seconds(30) };

/// Letters of the short code: none that are taken for another, and no vowels that would make words.
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
const CODE_LETTERS: usize = 8;

/// What a device is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceCode {
    /// The device's own, which nobody else sees.
    pub device: String,
    /// What a person types: `BCDF-GHJK`.
    pub user: String,
}

/// What becomes of a device that asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceState {
    Waiting,
    /// It asks more often than it may.
    Hasty,
    /// It is who this is.
    Approved(Caller),
    /// There is no such code, or it has expired, or it was used.
    Gone,
}

/// Why a device gets no code.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    #[error("{DEVICES_MAX} devices are waiting for somebody to say whose they are")]
    TooMany,
    #[error("too many devices began to log in from this address; try again in {0}")]
    TooManyFromThere(Span),
    #[error(transparent)]
    Gate(#[from] GateError),
}

#[derive(Debug)]
pub(crate) struct Devices {
    /// By the codes that they have for themselves.
    waiting: BTreeMap<String, Device>,
    begun: Buckets<IpAddr>,
}

impl Default for Devices {
    fn default() -> Devices {
        Devices { waiting: BTreeMap::new(), begun: Buckets::new(DEVICE_BEGINNINGS, access::attempts::BUCKETS_MAX) }
    }
}

#[derive(Debug)]
struct Device {
    user: String,
    expires_at: Timestamp,
    asked_at: Option<Timestamp>,
    /// Whose it is.
    approved: Option<Caller>,
}

impl Devices {
    fn forget_expired(&mut self, now: Timestamp) {
        self.waiting.retain(|_, device| now < device.expires_at);
    }
}

impl Gate {
    /// A code for a device. `from` is where it asks from.
    pub fn begin_device(&self, from: IpAddr) -> Result<DeviceCode, DeviceError> {
        let now = self.now();
        let mut devices = lock(&self.devices);
        devices.forget_expired(now);
        if devices.waiting.len() >= DEVICES_MAX {
            return Err(DeviceError::TooMany);
        }
        devices.begun.take(&network_of(from), now).map_err(DeviceError::TooManyFromThere)?;
        let code = DeviceCode { device: URL_SAFE_NO_PAD.encode(random::<32>()?.as_slice()), user: user_code()? };
        let device = Device { user: code.user.clone(), expires_at: now + DEVICE_CODE_LIFE, asked_at: None, approved: None };
        devices.waiting.insert(code.device.clone(), device);
        Ok(code)
    }

    /// The caller says that the device which shows this code is theirs. False if there is none.
    pub fn approve_device(&self, caller: &Caller, user_code: &str) -> bool {
        let typed: String = user_code.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_uppercase();
        let mut devices = lock(&self.devices);
        devices.forget_expired(self.now());
        let waiting = devices.waiting.values_mut().find(|device| device.approved.is_none() && device.user.replace('-', "") == typed);
        match waiting {
            Some(device) => {
                device.approved = Some(caller.clone());
                true
            }
            None => false,
        }
    }

    /// Whether a device was approved; if so, it has had its answer.
    pub fn ask_device(&self, device_code: &str) -> DeviceState {
        let now = self.now();
        let mut devices = lock(&self.devices);
        devices.forget_expired(now);
        let Some(device) = devices.waiting.get_mut(device_code) else { return DeviceState::Gone };
        if device.asked_at.replace(now).is_some_and(|before| now < before + DEVICE_POLL_LEAST) {
            return DeviceState::Hasty;
        }
        match device.approved.take() {
            Some(bearer) => {
                devices.waiting.remove(device_code);
                DeviceState::Approved(bearer)
            }
            None => DeviceState::Waiting,
        }
    }
}

fn user_code() -> Result<String, GateError> {
    let mut code = String::new();
    while code.len() < CODE_LETTERS + 1 {
        for byte in random::<16>()?.iter() {
            // Beyond the last whole multiple some letters would come more often than others.
            if usize::from(*byte) < 256 - 256 % LETTERS.len() && code.len() < CODE_LETTERS + 1 {
                code.push(char::from(LETTERS[usize::from(*byte) % LETTERS.len()]));
                if code.len() == CODE_LETTERS / 2 {
                    code.push('-');
                }
            }
        }
    }
    Ok(code)
}
