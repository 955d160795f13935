//! `dissent serve`: the page of a campaign, live while it runs, and its figures for monitoring.

mod http;
mod metrics;

use std::io::{ErrorKind, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::SystemTime;

use anyhow::{Context, bail};
use dissent_campaign::store;
use dissent_core::hash::fnv1a;

use self::http::{Request, Response};
use self::metrics::Measured;
use super::findings::campaigns;
use super::fleet::Mirror;
use super::page::{Contents, nonce};
use crate::args::ServeArgs;
use crate::ending;

pub fn run(args: ServeArgs) -> anyhow::Result<u8> {
    let mirror = args.join.as_deref().map(Mirror::start).transpose()?;
    let mirrored = mirror.as_ref().map(|mirror| vec![mirror.directory()]);
    let served = mirrored.map_or_else(|| campaigns(args.campaigns), Ok)?;
    let site = Site { campaigns: served, nonce: nonce(), page: Mutex::default() };
    let listener = listen(args.address, args.port)?;
    let address = listener.local_addr().context("cannot tell the address")?;
    introduce(&site, address);
    std::thread::spawn(move || http::serve(&listener, move |request| site.answer(request)));
    // There is nothing to clear away: the campaign is another process's.
    ending::wait();
    Ok(crate::NOTHING_FOUND)
}

fn listen(address: IpAddr, port: u16) -> anyhow::Result<TcpListener> {
    match TcpListener::bind((address, port)) {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            bail!("port {port} is in use; choose another one with --port, or --port 0 for any free one")
        }
        Err(error) => bail!("cannot listen on {address} port {port}: {error}"),
    }
}

fn introduce(site: &Site, address: SocketAddr) {
    let names: Vec<String> = site.campaigns.iter().map(|campaign| campaign.display().to_string()).collect();
    let mut text = format!(
        "serving {} at http://{address}/\n\
         Prometheus metrics: http://{address}/metrics; figures: http://{address}/summary.json\nCtrl-C stops\n",
        names.join(", ")
    );
    if !address.ip().is_loopback() {
        text.push_str("anyone who can reach this address can read the campaign\n");
    }
    let mut out = std::io::stdout().lock();
    // A server is of use also to those who do not listen.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

struct Site {
    campaigns: Vec<PathBuf>,
    nonce: String,
    /// The page as it was made last, and of what.
    page: Mutex<Option<Made>>,
}

#[derive(Clone)]
struct Made {
    /// Of the files it was made of.
    stamp: u64,
    etag: String,
    page: Vec<u8>,
}

impl Site {
    fn answer(&self, request: &Request) -> Response {
        let answer = match request.path.as_str() {
            "/" => self.page(request),
            "/metrics" => self.metrics(),
            "/summary.json" => self.summaries(),
            _ => return Response::text("404 Not Found", "available: /, /metrics and /summary.json\n"),
        };
        answer.unwrap_or_else(|error| Response::text("500 Internal Server Error", &format!("{error:#}\n")))
    }

    fn page(&self, request: &Request) -> anyhow::Result<Response> {
        let stamp = self.stamp();
        let mut kept = self.page.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if kept.as_ref().is_none_or(|made| made.stamp != stamp) {
            let page = Contents::read(&self.campaigns)?.page(&self.nonce, true).into_bytes();
            let etag = format!("\"{:016x}\"", fnv1a(&page));
            *kept = Some(Made { stamp, etag, page });
        }
        let made = kept.clone().context("the page was made")?;
        drop(kept);
        let known = request.if_none_match.as_ref() == Some(&made.etag);
        Ok(Response {
            status: if known { "304 Not Modified" } else { "200 OK" },
            content_type: "text/html; charset=utf-8",
            etag: Some(made.etag),
            body: if known { Vec::new() } else { made.page },
        })
    }

    /// Changes with every file that the page is made of, and with the end of a campaign.
    fn stamp(&self) -> u64 {
        let mut seen = String::new();
        for campaign in &self.campaigns {
            let findings = store::finding_directories(campaign).unwrap_or_default();
            let findings = findings.into_iter().map(|finding| finding.join("finding.json"));
            for path in
                ["summary.json", "bugs.json"].map(|name| campaign.join(name)).into_iter().chain(findings)
            {
                let changed =
                    path.metadata().and_then(|file| file.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
                seen.push_str(&format!("{path:?}{changed:?}"));
            }
            let running = store::read_summary(campaign).is_ok_and(|summary| summary.is_running());
            seen.push_str(if running { "running" } else { "ended" });
        }
        fnv1a(seen.as_bytes())
    }

    fn metrics(&self) -> anyhow::Result<Response> {
        let measured = self.campaigns.iter().map(|campaign| Measured {
            name: campaign.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            summary: store::read_summary(campaign).unwrap_or_default(),
        });
        let body = metrics::text(&measured.collect::<Vec<_>>()).into_bytes();
        let content_type = "text/plain; version=0.0.4; charset=utf-8";
        Ok(Response { status: "200 OK", content_type, etag: None, body })
    }

    /// The summary of the one campaign, or a list of those of several.
    fn summaries(&self) -> anyhow::Result<Response> {
        let read = |campaign: &PathBuf| store::read_summary(campaign);
        let body = match self.campaigns.as_slice() {
            [only] => read(only)?.json()?,
            several => {
                serde_json::to_string_pretty(&several.iter().map(read).collect::<anyhow::Result<Vec<_>>>()?)?
                    + "\n"
            }
        };
        Ok(Response {
            status: "200 OK",
            content_type: "application/json",
            etag: None,
            body: body.into_bytes(),
        })
    }
}
