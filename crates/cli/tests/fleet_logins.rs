//! How machines log in to a real NATS server.

#![cfg(feature = "fleet")]

#[path = "support/machines.rs"]
mod machines;
#[path = "support/nats.rs"]
mod nats;
mod support;

use std::fs;

use data_encoding::BASE64URL_NOPAD;
use machines::{hunted, join, join_with};
use nats::Nats;
use nkeys::KeyPair;
use serde_json::{Value as Json, json};
use support::certificates;

#[test]
fn machines_log_in_as_other_clients_of_nats_do() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let Some(nats) = Nats::start(&["authorization { token: t0ken }"]) else { return };
    join_with(path, &nats.url("a"), "sqlite", "a", &[("NATS_TOKEN", "wrong")])
        .refused_with("refused the credentials");
    hunted(&join_with(path, &nats.url("a"), "sqlite", "token", &[("NATS_TOKEN", "t0ken")]));
    let Some(nats) = Nats::start(&["authorization { user: me, password: s3cret }"]) else { return };
    hunted(&join_with(
        path,
        &nats.url("a"),
        "sqlite",
        "user",
        &[("NATS_USER", "me"), ("NATS_PASSWORD", "s3cret")],
    ));
}

#[test]
fn machines_log_in_encrypted_and_with_certificates() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    if !certificates::make(path) {
        return;
    }
    let place = path.display();
    let tls = format!("tls {{ cert_file: \"{place}/server.pem\", key_file: \"{place}/server.key\" }}");
    let Some(nats) = Nats::start(&[&tls]) else { return };
    let url = format!("tls://localhost:{}/a", nats.port());
    let (ca, other) = (format!("{place}/ca.pem"), format!("{place}/other.pem"));
    join_with(path, &url, "sqlite", "b", &[("NATS_CA", &other)])
        .refused_with("cannot make an encrypted connection to the NATS server at tls://localhost");
    hunted(&join_with(path, &url, "sqlite", "tls", &[("NATS_CA", &ca)]));
    // One who checks nothing is not let in unencrypted either.
    let plain = format!("nats://127.0.0.1:{}/a", nats.port());
    assert_eq!(join(path, &plain, "sqlite", "c").code, Some(2));
    assert!(!path.join("b").exists() && !path.join("c").exists());

    let tls = tls.replace(" }", &format!(", ca_file: \"{ca}\", verify: true }}"));
    let Some(nats) = Nats::start(&[&tls]) else { return };
    let url = format!("tls://localhost:{}/a", nats.port());
    let own = [format!("{place}/server.pem"), format!("{place}/server.key"), format!("{place}/other.key")];
    let [certificate, key, other] = &own;
    join_with(path, &url, "sqlite", "d", &[("NATS_CA", &ca)])
        .refused_with("cannot make an encrypted connection to the NATS server at tls://localhost");
    let without_key = [("NATS_CA", ca.as_str()), ("NATS_CERT", certificate)];
    join_with(path, &url, "sqlite", "d", &without_key).refused_with("NATS_CERT needs NATS_KEY");
    let missing = [("NATS_CA", ca.as_str()), ("NATS_CERT", "missing.pem"), ("NATS_KEY", key)];
    join_with(path, &url, "sqlite", "d", &missing)
        .refused_with("cannot read missing.pem, which NATS_CERT names");
    let wrong = [("NATS_CA", ca.as_str()), ("NATS_CERT", certificate), ("NATS_KEY", other)];
    join_with(path, &url, "sqlite", "d", &wrong).refused_with("cannot make an encrypted connection");
    assert!(!path.join("d").exists());
    let right = [("NATS_CA", ca.as_str()), ("NATS_CERT", certificate), ("NATS_KEY", key)];
    hunted(&join_with(path, &url, "sqlite", "certificate", &right));
}

#[test]
fn machines_log_in_with_a_key() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let [known, unknown] = [KeyPair::new_user(), KeyPair::new_user()];
    let users = format!("authorization {{ users = [ {{ nkey: {} }} ] }}", known.public_key());
    let Some(nats) = Nats::start(&[&users]) else { return };
    let join = |seed: &str, out| join_with(path, &nats.url("a"), "sqlite", out, &[("NATS_NKEY", seed)]);
    for wrong in [unknown.seed().unwrap().as_str(), "SUAwrong"] {
        let said = join(wrong, "a");
        said.refused_with("refused the credentials");
        assert!(!said.stderr.contains(wrong), "{}", said.stderr);
    }
    hunted(&join(&known.seed().unwrap(), "key"));
    let all = fs::read_to_string(path.join("key/campaign.json")).unwrap();
    assert!(!all.contains(&known.seed().unwrap()));
}

/// Claims of NATS, signed by whoever may.
fn signed(by: &KeyPair, subject: &str, claims: Json) -> String {
    let part = |json: Json| BASE64URL_NOPAD.encode(json.to_string().as_bytes());
    let body = json!({ "jti": subject, "iat": 1, "iss": by.public_key(), "sub": subject, "nats": claims });
    let text = format!("{}.{}", part(json!({ "typ": "JWT", "alg": "ed25519-nkey" })), part(body));
    let signature = BASE64URL_NOPAD.encode(&by.sign(text.as_bytes()).unwrap());
    format!("{text}.{signature}")
}

/// The credentials of a user, as a file has them.
fn credentials(user: &KeyPair, account: &KeyPair) -> String {
    let unlimited = json!({ "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1 });
    let token = signed(account, &user.public_key(), unlimited);
    let part = |name: &str, text: &str| format!("-----BEGIN {name}-----\n{text}\n------END {name}------\n\n");
    part("NATS USER JWT", &token) + &part("USER NKEY SEED", &user.seed().unwrap())
}

/// A server that trusts whom an operator trusts: accounts, which sign for their users.
#[test]
fn machines_log_in_with_a_file_of_credentials() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let (operator, user) = (KeyPair::new_operator(), KeyPair::new_user());
    let [account, system, stranger] = [(); 3].map(|()| KeyPair::new_account());
    let limits = json!({
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1,
        "leaf": -1, "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1,
    });
    let trusted = |account: &KeyPair, limits: Json| {
        let claims = json!({ "type": "account", "version": 2, "limits": limits });
        format!("{}: {}", account.public_key(), signed(&operator, &account.public_key(), claims))
    };
    // The account of the server itself keeps nothing.
    let without_store = json!({ "subs": -1, "data": -1, "payload": -1, "conn": -1 });
    let claims = json!({ "type": "operator", "version": 2, "system_account": system.public_key() });
    let options = [
        format!("operator: {}", signed(&operator, &operator.public_key(), claims)),
        format!("system_account: {}", system.public_key()),
        "resolver: MEMORY".to_string(),
        format!(
            "resolver_preload: {{\n{}\n{}\n}}",
            trusted(&account, limits),
            trusted(&system, without_store)
        ),
    ];
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let Some(nats) = Nats::start(&options) else { return };
    fs::write(path.join("right.creds"), credentials(&user, &account)).unwrap();
    fs::write(path.join("wrong.creds"), credentials(&user, &stranger)).unwrap();
    let join = |file: &str, out| join_with(path, &nats.url("a"), "sqlite", out, &[("NATS_CREDS", file)]);
    join("wrong.creds", "a").refused_with("refused the credentials");
    join("missing.creds", "a").refused_with("cannot use the credentials in missing.creds");
    hunted(&join("right.creds", "right"));
    assert!(!path.join("a").exists());
}
