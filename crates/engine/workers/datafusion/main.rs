//! DataFusion behind Dissent's pipe: a session over tables in memory.

mod serve;

use std::collections::HashMap;
use std::time::Duration;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{
    DataType, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, Int8Type,
    UInt16Type, UInt32Type, UInt64Type, UInt8Type,
};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::ScalarValue;
use datafusion::error::DataFusionError;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::{DdlStatement, LogicalPlan};
use datafusion::prelude::{SessionConfig, SessionContext};
use serde_json::{json, Value as Json};
use tokio::runtime::Runtime;

use serve::{
    blob, failure, panicked, real, too_many_rows, unhex, unknown, Class, Database, Failure, Limits, Reply,
};

/// As a machine of some cores has it, whatever this one has: what is split and put together again is worth testing,
/// and a finding must not depend on where it was found.
const PARTITIONS: usize = 3;

struct DataFusion {
    runtime: Runtime,
    context: SessionContext,
    limits: Limits,
    prepared: HashMap<u64, LogicalPlan>,
}

impl Database for DataFusion {
    fn reset(&mut self) -> Result<(), Failure> {
        self.prepared.clear();
        self.context = context(self.limits).map_err(told)?;
        Ok(())
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Failure> {
        let plan = self.plan(sql)?;
        self.answer(plan)
    }

    fn prepare(&mut self, number: u64, sql: &str) -> Result<(), Failure> {
        let plan = self.plan(sql)?;
        self.prepared.insert(number, plan);
        Ok(())
    }

    fn run(&mut self, number: u64, values: &[Json]) -> Result<Reply, Failure> {
        let plan = self.prepared.get(&number).ok_or_else(|| unknown(number))?.clone();
        let values: Vec<ScalarValue> = values.iter().map(parameter).collect();
        let plan = plan.with_param_values(values).map_err(told)?;
        self.answer(plan)
    }

    fn close(&mut self, number: u64) {
        self.prepared.remove(&number);
    }
}

impl DataFusion {
    /// Reads a statement; one that would touch files is refused.
    fn plan(&self, sql: &str) -> Result<LogicalPlan, Failure> {
        let state = self.context.state();
        let plan = self.runtime.block_on(state.create_logical_plan(sql)).map_err(told)?;
        match plan {
            LogicalPlan::Copy(_) | LogicalPlan::Ddl(DdlStatement::CreateExternalTable(_)) => {
                Err(failure(Class::Semantic, "Dissent lets no statement touch files"))
            }
            plan => Ok(plan),
        }
    }

    /// Runs it on the runtime's only thread, so that a finding does not depend on how threads take turns. One that
    /// does not stop when its time is up keeps us here until Dissent ends the process.
    fn answer(&self, plan: LogicalPlan) -> Result<Reply, Failure> {
        let limit = Duration::from_millis(self.limits.millis);
        let mut task = self.runtime.spawn(collect(self.context.clone(), plan, self.limits));
        self.runtime.block_on(async {
            match tokio::time::timeout(limit, &mut task).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(_)) => Err(panicked()),
                Err(_) => {
                    task.abort();
                    let _ = task.await;
                    Err(failure(Class::Limit, "it took too long"))
                }
            }
        })
    }
}

async fn collect(context: SessionContext, plan: LogicalPlan, limits: Limits) -> Result<Reply, Failure> {
    let changes = matches!(plan, LogicalPlan::Dml(_));
    let frame = context.execute_logical_plan(plan).await.map_err(told)?;
    let columns = frame.schema().fields().len();
    let batches = frame.collect().await.map_err(told)?;
    if columns == 0 {
        return Ok(Reply::Done { changed: 0 });
    }
    let mut values = Vec::new();
    for batch in batches {
        if values.len() / columns + batch.num_rows() > limits.rows {
            return Err(too_many_rows(limits));
        }
        let cells = batch.columns().iter().map(cells).collect::<Result<Vec<_>, _>>();
        let cells = cells.map_err(|error| told(error.into()))?;
        for row in 0..batch.num_rows() {
            values.extend(cells.iter().map(|column| column[row].clone()));
        }
    }
    match (changes, values.as_slice()) {
        (true, [count]) => Ok(Reply::Done { changed: count["int"].as_u64().unwrap_or(0) }),
        _ => Ok(Reply::Rows { columns, values }),
    }
}

fn context(limits: Limits) -> Result<SessionContext, DataFusionError> {
    let config = SessionConfig::new().with_target_partitions(PARTITIONS).with_information_schema(true);
    let memory = usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX);
    let runtime = RuntimeEnvBuilder::new().with_memory_limit(memory, 1.0).build_arc()?;
    Ok(SessionContext::new_with_config_rt(config, runtime))
}

/// The cells of a column. What has no spelling below is spelled as Arrow displays it.
fn cells(column: &ArrayRef) -> Result<Vec<Json>, ArrowError> {
    macro_rules! whole {
        ($ty:ty) => {{
            let numbers = column.as_primitive::<$ty>();
            Box::new(move |row| whole(numbers.value(row).into()))
        }};
    }
    macro_rules! number {
        ($ty:ty) => {{
            let numbers = column.as_primitive::<$ty>();
            Box::new(move |row| real(numbers.value(row).into()))
        }};
    }
    let options = FormatOptions::default().with_null("NULL").with_display_error(false);
    let cell: Box<dyn Fn(usize) -> Json + '_> = match column.data_type() {
        DataType::Null => Box::new(|_| json!("null")),
        DataType::Boolean => {
            let truths = column.as_boolean();
            Box::new(|row| json!({ "bool": truths.value(row) }))
        }
        DataType::Int8 => whole!(Int8Type),
        DataType::Int16 => whole!(Int16Type),
        DataType::Int32 => whole!(Int32Type),
        DataType::Int64 => whole!(Int64Type),
        DataType::UInt8 => whole!(UInt8Type),
        DataType::UInt16 => whole!(UInt16Type),
        DataType::UInt32 => whole!(UInt32Type),
        DataType::UInt64 => whole!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Decimal128(_, _) => {
            let numbers = column.as_primitive::<Decimal128Type>();
            Box::new(|row| json!({ "decimal": numbers.value_as_string(row) }))
        }
        DataType::Utf8 => Box::new(|row| json!({ "text": column.as_string::<i32>().value(row) })),
        DataType::LargeUtf8 => Box::new(|row| json!({ "text": column.as_string::<i64>().value(row) })),
        DataType::Utf8View => Box::new(|row| json!({ "text": column.as_string_view().value(row) })),
        DataType::Binary => Box::new(|row| blob(column.as_binary::<i32>().value(row))),
        DataType::LargeBinary => Box::new(|row| blob(column.as_binary::<i64>().value(row))),
        DataType::BinaryView => Box::new(|row| blob(column.as_binary_view().value(row))),
        other => {
            let kind = kind(other);
            let spelled = ArrayFormatter::try_new(column.as_ref(), &options)?;
            Box::new(move |row| {
                let text = spelled.value(row).to_string();
                let text = if kind.starts_with("time") { time(&text) } else { text };
                json!({ "other": { "kind": kind, "text": text } })
            })
        }
    };
    let cell = |row| if column.is_null(row) { json!("null") } else { cell(row) };
    Ok((0..column.len()).map(cell).collect())
}

/// A time as other engines spell it: with a blank before it, and no zeros at the end of its fraction.
fn time(text: &str) -> String {
    let text = text.replacen('T', " ", 1);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

fn whole(number: i128) -> Json {
    match i64::try_from(number) {
        Ok(number) => json!({ "int": number }),
        Err(_) => json!({ "decimal": number.to_string() }),
    }
}

/// Dissent's word for the family of a type.
fn kind(ty: &DataType) -> &'static str {
    match ty {
        DataType::Date32 | DataType::Date64 => "date",
        DataType::Time32(_) | DataType::Time64(_) => "time",
        DataType::Timestamp(_, _) => "timestamp",
        DataType::Interval(_) | DataType::Duration(_) => "interval",
        DataType::Decimal32(_, _) | DataType::Decimal64(_, _) | DataType::Decimal256(_, _) => "decimal",
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _) => "array",
        _ => "any",
    }
}

/// The value of a parameter. Dates and times come as text, which DataFusion converts where it is used.
fn parameter(value: &Json) -> ScalarValue {
    let text = |name: &str| value[name].as_str().map(String::from);
    if let Some(truth) = value["bool"].as_bool() {
        ScalarValue::Boolean(Some(truth))
    } else if let Some(number) = value["int"].as_i64() {
        ScalarValue::Int64(Some(number))
    } else if let Some(number) = value["real"].as_str().and_then(|digits| digits.parse().ok()) {
        ScalarValue::Float64(Some(number))
    } else if let Some(digits) = text("blob") {
        ScalarValue::Binary(Some(unhex(&digits)))
    } else if let Some(text) = text("text").or_else(|| text("decimal")) {
        ScalarValue::Utf8(Some(text))
    } else if let Some(text) = value["other"]["text"].as_str() {
        ScalarValue::Utf8(Some(text.to_string()))
    } else {
        ScalarValue::Null
    }
}

fn told(error: DataFusionError) -> Failure {
    let class = match error.find_root() {
        DataFusionError::SQL(_, _) => Class::Syntax,
        DataFusionError::Plan(_)
        | DataFusionError::SchemaError(_, _)
        | DataFusionError::NotImplemented(_)
        | DataFusionError::Configuration(_) => Class::Semantic,
        DataFusionError::Internal(_) | DataFusionError::ExecutionJoin(_) => Class::Internal,
        DataFusionError::ResourcesExhausted(_) => Class::Limit,
        _ => Class::Runtime,
    };
    failure(class, error.strip_backtrace())
}

fn main() {
    let limits = Limits { millis: 5_000, memory_bytes: 256 << 20, rows: 20_000 };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
    let (Ok(runtime), Ok(context)) = (runtime, context(limits)) else {
        return eprintln!("DataFusion does not start");
    };
    let mut database = DataFusion { runtime, context, limits, prepared: HashMap::new() };
    serve::serve(datafusion::DATAFUSION_VERSION, &mut database);
}
