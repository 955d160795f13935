//! What a campaign keeps on the server: four key-value buckets and three streams.

use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::{self, DirectGetErrorKind, Stream};
use async_nats::jetstream::{Context, ErrorCode, kv};

/// How long a reduction may be silent before another machine gets it.
const ACK_WAIT: Duration = Duration::from_secs(60);
/// How long the server remembers who took over which range.
const REMEMBERED: Duration = Duration::from_secs(3600);

#[derive(Clone)]
pub struct Rooms {
    pub jetstream: Context,
    /// `file`, `sources`, `cut` and `stop`.
    pub campaign: kv::Store,
    /// One per signature.
    pub bugs: kv::Store,
    /// One per set of features.
    pub corpus: kv::Store,
    /// `beat.ID` and `figures.ID`.
    pub machines: kv::Store,
    /// One message for each range that was begun and is not walked; its number is the range's.
    pub fresh: Stream,
    /// The same for ranges that others left.
    pub taken: Stream,
    /// Findings that anybody may reduce.
    pub reductions: PullConsumer,
    pub reduce: Stream,
    prefix: String,
}

fn prefix(campaign: &str) -> String {
    format!("dissent-{campaign}")
}

impl Rooms {
    /// Those of a campaign that somebody began.
    pub async fn find(jetstream: Context, campaign: &str) -> Result<Option<Rooms>, async_nats::Error> {
        // It is made last.
        match jetstream.get_stream(format!("KV_{}-campaign", prefix(campaign))).await {
            Ok(_) => Rooms::open(jetstream, campaign).await.map(Some),
            Err(error) => match error.kind() {
                GetStreamErrorKind::JetStream(told) if told.error_code() == ErrorCode::STREAM_NOT_FOUND => {
                    Ok(None)
                }
                _ => Err(error.into()),
            },
        }
    }

    /// Makes those that are missing.
    pub async fn open(jetstream: Context, campaign: &str) -> Result<Rooms, async_nats::Error> {
        let prefix = prefix(campaign);
        let bucket = |name: &str| kv::Config {
            bucket: format!("{prefix}-{name}"),
            history: 1,
            ..kv::Config::default()
        };
        let stream = |name: &str, retention| stream::Config {
            name: format!("{prefix}-{name}"),
            subjects: vec![format!("{prefix}.{name}.*")],
            retention,
            allow_direct: true,
            duplicate_window: REMEMBERED,
            ..stream::Config::default()
        };
        let limits = stream::RetentionPolicy::Limits;
        let reduce =
            jetstream.get_or_create_stream(stream("reduce", stream::RetentionPolicy::WorkQueue)).await?;
        let consumer = pull::Config {
            durable_name: Some("reducers".to_string()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACK_WAIT,
            max_ack_pending: -1,
            ..pull::Config::default()
        };
        Ok(Rooms {
            bugs: open(&jetstream, bucket("bugs")).await?,
            corpus: open(&jetstream, bucket("corpus")).await?,
            machines: open(&jetstream, bucket("machines")).await?,
            fresh: jetstream.get_or_create_stream(stream("fresh", limits)).await?,
            taken: jetstream.get_or_create_stream(stream("taken", limits)).await?,
            reductions: reduce.get_or_create_consumer("reducers", consumer).await?,
            reduce,
            campaign: open(&jetstream, bucket("campaign")).await?,
            jetstream,
            prefix,
        })
    }

    /// Removes them with all that is in them.
    pub async fn remove(&self) -> Result<(), async_nats::Error> {
        for stream in [&self.fresh, &self.taken, &self.reduce] {
            self.jetstream.delete_stream(&stream.cached_info().config.name).await?;
        }
        // As long as this one is there, the rest can be removed again.
        for bucket in [&self.bugs, &self.corpus, &self.machines, &self.campaign] {
            self.jetstream.delete_key_value(&bucket.name).await?;
        }
        Ok(())
    }

    pub fn is_connected(&self) -> bool {
        self.jetstream.client().connection_state() == State::Connected
    }

    /// How often a connection was made: the number of the one there is.
    pub fn connects(&self) -> u64 {
        self.jetstream.client().statistics().connects.load(Ordering::Relaxed)
    }

    /// The subject of a stream for one machine.
    pub fn subject(&self, stream: &str, machine: &str) -> String {
        format!("{}.{stream}.{machine}", self.prefix)
    }
}

/// All messages of a subject, in their order; they stay where they are.
pub async fn messages(stream: &Stream, subject: String) -> Result<Vec<StreamMessage>, async_nats::Error> {
    let mut found: Vec<StreamMessage> = Vec::new();
    loop {
        let from = found.last().map_or(1, |message| message.sequence + 1);
        match stream.direct_get_next_for_subject(subject.clone(), Some(from)).await {
            Ok(message) => found.push(message),
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => return Ok(found),
            Err(error) => return Err(error.into()),
        }
    }
}

async fn open(jetstream: &Context, config: kv::Config) -> Result<kv::Store, async_nats::Error> {
    match jetstream.get_key_value(&config.bucket).await {
        Ok(store) => Ok(store),
        Err(_) => Ok(jetstream.create_key_value(config).await?),
    }
}
