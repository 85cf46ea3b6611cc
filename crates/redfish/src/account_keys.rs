//! Accounts that are opened by a public key: made, brought to what they should be, and removed.
//!
//! A BMC that offers keys links an account to a collection of them. One that does not is told apart from one that has none.

use std::collections::BTreeMap;

use model::{Delivery, Fault, FaultClass};
use serde_json::json;

use crate::accounts::{Account, NewAccount, read_account};
use crate::bmc::Bmc;
use crate::content::{Field, Sent};
use crate::document::{self, text};
use crate::line::Deadline;
use crate::listing::{Member, not_offered, unread};

/// An account as it should be, wherever it begins.
#[derive(Clone, Debug)]
pub struct WantedAccount {
    /// Its password counts only if it is made.
    pub account: NewAccount,
    /// Where it is on its BMC, if it is there.
    pub path: Option<String>,
    /// The one public key that opens it, as OpenSSH writes it.
    pub key: String,
}

impl Bmc {
    /// Who may log in, each with the keys that open it; nothing in their place where the BMC offers none for it.
    ///
    /// All of them or a fault: whoever is not among them is not there.
    pub async fn observe_accounts_and_keys(&self) -> Result<Vec<(Account, Option<Vec<String>>)>, Fault> {
        let deadline = Deadline::of_call();
        let members = self.whole_book(deadline).await?;
        let mut accounts = Vec::new();
        for member in members {
            let keys = match keys_of(&member) {
                Some(path) => Some(self.read_keys(&path, deadline).await?.into_iter().map(|(_, key)| key).collect()),
                None => None,
            };
            accounts.extend(read_account(member).map(|account| (account, keys)));
        }
        Ok(accounts)
    }

    /// Asks for an account to be as it should: made if it is not there, with this role, and opened by this key alone. What is so
    /// already is not asked for again, so that a request that was cut off can be sent anew.
    pub async fn request_account(&self, wanted: &WantedAccount) -> Result<(), Fault> {
        let deadline = Deadline::of_call();
        self.require_machine(deadline).await?;
        if wanted.path.is_none() {
            self.request_account_create(&wanted.account).await?;
        }
        let member = self.find_account(&wanted.account.user, wanted.path.as_deref(), deadline).await?;
        self.bring_to_role(&member, wanted, deadline).await?;
        let collection = keys_of(&member).ok_or_else(|| not_offered("keys of accounts"))?;
        let known = self.read_keys(&collection, deadline).await?;
        if !known.iter().any(|(_, key)| key.trim() == wanted.key.trim()) {
            let content = Sent::json(&json!({ "KeyString": wanted.key, "KeyType": "SSH" }));
            self.line().post(&collection, content, deadline).await?;
        }
        for (path, _) in known.iter().filter(|(_, key)| key.trim() != wanted.key.trim()) {
            self.line().delete(path, deadline).await?;
        }
        Ok(())
    }

    /// Asks for the end of a user's account. One that has another user by now is left alone.
    pub async fn request_account_end(&self, account: &str, user: &str) -> Result<(), Fault> {
        let deadline = Deadline::of_call();
        self.require_machine(deadline).await?;
        self.find_account(user, Some(account), deadline).await?;
        self.request_account_delete(account).await
    }

    async fn bring_to_role(&self, member: &Member, wanted: &WantedAccount, deadline: Deadline) -> Result<(), Fault> {
        let role = wanted.account.role.id();
        let is_so = text(&member.document, "RoleId").as_deref() == Some(role) && document::flag(&member.document, "Enabled") != Some(false);
        if is_so {
            return Ok(());
        }
        let found = self.line().read(&member.path, deadline).await?;
        let fields = BTreeMap::from([("Enabled", Field::Flag(true)), ("RoleId", Field::Text(role))]);
        self.line().patch(&member.path, Sent::secret(&fields), &found, deadline).await.map(|_| ())
    }

    /// The account of a user, at its place if it has one.
    async fn find_account(&self, user: &str, path: Option<&str>, deadline: Deadline) -> Result<Member, Fault> {
        let members = self.whole_book(deadline).await?;
        let is_it =
            |member: &Member| text(&member.document, "UserName").as_deref() == Some(user) && path.is_none_or(|path| member.path == path);
        let gone = || Fault::new(FaultClass::Busy, Delivery::No, format!("the account of `{user}` is no longer where it was"));
        members.into_iter().find(is_it).ok_or_else(gone)
    }

    async fn whole_book(&self, deadline: Deadline) -> Result<Vec<Member>, Fault> {
        let book = self.read_book(deadline).await?;
        match book.members.unread {
            0 => Ok(book.members.members),
            some => Err(unread(&book.collection, some)),
        }
    }

    /// The keys of an account, each with where it is.
    async fn read_keys(&self, collection: &str, deadline: Deadline) -> Result<Vec<(String, String)>, Fault> {
        let listing = self.list(collection, deadline).await?;
        if listing.unread > 0 {
            return Err(unread(collection, listing.unread));
        }
        let keys = listing.members.into_iter().map(|member| (member.path, text(&member.document, "KeyString").unwrap_or_default()));
        Ok(keys.collect())
    }
}

fn keys_of(member: &Member) -> Option<String> {
    document::linked(&member.document, "Keys")
}
