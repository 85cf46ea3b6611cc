//! The accounts of a BMC: who may log in, and changing that.
//!
//! Some BMCs make an account when asked to. Others have a fixed number of slots, of which an empty one is written to;
//! they are told by what their collection allows and shows. Passwords are wiped after use and never repeated.

use std::collections::BTreeMap;
use std::fmt;

use model::{Delivery, Fault, FaultClass};
use zeroize::Zeroizing;

use crate::bmc::Bmc;
use crate::content::{Field, Sent};
use crate::document::{self, flag, text};
use crate::line::Deadline;
use crate::listing::{Listing, Member, not_offered, offered, unread};

/// An account that may log in, or could if it were enabled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Where it is on its BMC.
    pub path: String,
    pub user: String,
    /// `Administrator`, `Operator`, `ReadOnly`, or a role of the maker.
    pub role: Option<String>,
    pub enabled: Option<bool>,
    pub locked: Option<bool>,
}

/// An account to be made.
#[derive(Clone)]
pub struct NewAccount {
    pub user: String,
    pub password: Zeroizing<String>,
    pub role: Role,
}

/// The standard's roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Administrator,
    Operator,
    ReadOnly,
}

/// The accounts and how there come to be more.
pub(crate) struct Book {
    pub collection: String,
    pub members: Listing<Member>,
    kind: BookKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BookKind {
    /// An account is made in the collection and deleted from it.
    Open,
    /// An account is written into an empty slot, and a slot is emptied.
    Slots,
}

impl Bmc {
    /// Who may log in. Empty slots are left out.
    pub async fn observe_accounts(&self) -> Result<Listing<Account>, Fault> {
        let deadline = Deadline::of_call();
        Ok(self.read_book(deadline).await?.members.map(read_account))
    }

    /// Asks for another password of the account at `account`.
    pub async fn request_password(&self, account: &str, password: &Zeroizing<String>) -> Result<(), Fault> {
        let deadline = Deadline::of_call();
        self.require_machine(deadline).await?;
        let found = self.line().read(account, deadline).await?;
        let content = Sent::secret(&BTreeMap::from([("Password", Field::Text(password.as_str()))]));
        self.line().patch(account, content, &found, deadline).await.map(|_| ())
    }

    /// Asks for a new account that may log in.
    pub async fn request_account_create(&self, account: &NewAccount) -> Result<(), Fault> {
        let deadline = Deadline::of_call();
        self.require_machine(deadline).await?;
        let fields = BTreeMap::from([
            ("Enabled", Field::Flag(true)),
            ("Password", Field::Text(account.password.as_str())),
            ("RoleId", Field::Text(account.role.id())),
            ("UserName", Field::Text(&account.user)),
        ]);
        let content = Sent::secret(&fields);
        let book = self.read_book(deadline).await?;
        let outcome = match book.kind {
            BookKind::Open => self.line().post(&book.collection, content, deadline).await,
            BookKind::Slots => {
                let slot = self.find_slot_for_account(&book, deadline).await?;
                let found = self.line().read(&slot, deadline).await?;
                self.line().patch(&slot, content, &found, deadline).await
            }
        };
        outcome.map(|_| ())
    }

    /// Asks for the end of the account at `account`. Where accounts are slots, the slot is emptied.
    pub async fn request_account_delete(&self, account: &str) -> Result<(), Fault> {
        let deadline = Deadline::of_call();
        self.require_machine(deadline).await?;
        let outcome = match self.read_book(deadline).await?.kind {
            BookKind::Open => self.line().delete(account, deadline).await,
            BookKind::Slots => {
                let found = self.line().read(account, deadline).await?;
                let fields = BTreeMap::from([("Enabled", Field::Flag(false)), ("UserName", Field::Text(""))]);
                self.line().patch(account, Sent::secret(&fields), &found, deadline).await
            }
        };
        outcome.map(|_| ())
    }

    async fn find_slot_for_account(&self, book: &Book, deadline: Deadline) -> Result<String, Fault> {
        let system = self.read_system_to_ask(deadline).await?;
        let reserved = self.quirks(&system, deadline).await?.reserved_account_slots;
        let is_reserved = |slot: &Member| reserved.contains(&slot.path.rsplit('/').next().unwrap_or_default());
        match book.members.members.iter().find(|slot| is_empty_slot(slot) && !is_reserved(slot)) {
            Some(slot) => Ok(slot.path.clone()),
            None if book.members.unread > 0 => Err(unread(&book.collection, book.members.unread)),
            None => {
                let detail = format!("{} has no empty slot for another account", book.collection);
                Err(Fault::new(FaultClass::Unsupported, Delivery::No, detail))
            }
        }
    }

    pub(crate) async fn read_book(&self, deadline: Deadline) -> Result<Book, Fault> {
        let collection = self.accounts(deadline).await?;
        let allow = offered(self.line().read(&collection, deadline).await, "accounts")?.allow;
        let members = self.list(&collection, deadline).await?;
        let kind = judge(allow.as_deref(), &members.members);
        Ok(Book { collection, members, kind })
    }

    async fn accounts(&self, deadline: Deadline) -> Result<String, Fault> {
        let service = self.line().root(deadline).await?.accounts.ok_or_else(|| not_offered("accounts"))?;
        let service = offered(self.line().get(&service, deadline).await, "accounts")?;
        document::linked(&service, "Accounts").ok_or_else(|| not_offered("accounts"))
    }
}

/// By what the collection allows; one that does not tell has slots if it shows an empty one.
fn judge(allow: Option<&str>, members: &[Member]) -> BookKind {
    let makes_accounts = match allow {
        Some(allow) => allow.contains("POST"),
        None => !members.iter().any(is_empty_slot),
    };
    if makes_accounts { BookKind::Open } else { BookKind::Slots }
}

fn is_empty_slot(slot: &Member) -> bool {
    text(&slot.document, "UserName").is_none()
}

pub(crate) fn read_account(member: Member) -> Option<Account> {
    let document = &member.document;
    Some(Account {
        user: text(document, "UserName")?,
        role: text(document, "RoleId"),
        enabled: flag(document, "Enabled"),
        locked: flag(document, "Locked"),
        path: member.path,
    })
}

impl Role {
    pub(crate) fn id(self) -> &'static str {
        match self {
            Role::Administrator => "Administrator",
            Role::Operator => "Operator",
            Role::ReadOnly => "ReadOnly",
        }
    }
}

impl fmt::Debug for NewAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewAccount").field("user", &self.user).field("role", &self.role).finish_non_exhaustive()
    }
}
