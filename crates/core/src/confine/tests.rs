use super::*;
use crate::dialect::Files;

fn refusal(dialect: &str, place: Place, text: &str) -> Option<String> {
    let dialect = Dialect::load(dialect, "999").unwrap();
    Confinement::new(&dialect, place).refusal(text)
}

fn on_server(dialect: &str, text: &str) -> Option<String> {
    refusal(dialect, Place::SharedServer, text)
}

#[test]
fn what_stays_inside_the_database_runs() {
    for (dialect, text) in [
        ("mysql", "SELECT t0.c0, a.* FROM t0 JOIN t0 AS a ON t0.c0 = a.c0 WHERE t0.c1 > 1.5"),
        ("mysql", "INSERT INTO t0 VALUES ('it''s; USE precious')"),
        ("mysql", "CREATE TABLE t0 (engine INT, `a.b` INT) ENGINE=InnoDB"),
        ("mysql", "CREATE TABLE t0 (engine INT) PARTITION BY HASH (engine) (PARTITION p0 ENGINE = InnoDB)"),
        ("mysql", "PREPARE p0 FROM 'SELECT t0.c0 FROM t0 WHERE c0 = ?'"),
        ("mysql", "SELECT '\\'; DROP DATABASE precious; -- '"),
        ("mysql", "SET @p1 = 5"),
        ("mysql", "SET SESSION optimizer_switch = 'mrr=off'"),
        ("mysql", "SET sql_mode=DEFAULT, time_zone=DEFAULT"),
        ("mysql", "(SELECT 1) UNION (SELECT 2)"),
        ("mysql", "SELECT /*+ NO_MERGE(t0) */ 1 FROM t0;"),
        ("postgres", "CREATE UNLOGGED TABLE public.t0(c0 INT)"),
        ("postgres", "SELECT pg_typeof(c0) FROM pg_catalog.pg_class, t0"),
        ("postgres", "WITH a AS (DELETE FROM t0 RETURNING *) SELECT * FROM a"),
        ("postgres", "SET enable_sort = off"),
        ("postgres", "CREATE MATERIALIZED VIEW v0 AS SELECT 1"),
        ("clickhouse", "CREATE TABLE t0 (c0 Int64) ENGINE = MergeTree ORDER BY tuple()"),
        ("clickhouse", "SELECT t0.c0 FROM t0"),
        ("cockroachdb", "SELECT t0.c0 FROM t0"),
    ] {
        assert_eq!(on_server(dialect, text), None, "{dialect}: {text}");
    }
}

/// Written in as many ways as a server reads it.
#[test]
fn what_leaves_the_database_is_refused() {
    for (dialect, text, reason) in [
        ("mysql", "USE precious", "USE may reach beyond the database that Dissent made"),
        ("mysql", "uSe\n`precious`", "USE may reach beyond"),
        ("mysql", "DROP DATABASE precious", "DROP DATABASE may reach beyond"),
        ("mysql", "CREATE SCHEMA x", "CREATE SCHEMA may reach beyond"),
        ("mysql", "DELETE FROM precious.gold", "precious.gold may be in another database"),
        ("mysql", "DELETE FROM `precious` . `gold`", "precious.gold may be"),
        ("mysql", "INSERT precious.gold VALUES (1)", "precious.gold may be"),
        ("mysql", "ALTER TABLE t0 RENAME TO precious.t0", "precious.t0 may be"),
        ("mysql", "CREATE TABLE t0 (c0 INT) UNION=(precious.gold)", "precious.gold may be"),
        ("mysql", "SELECT precious.c0 FROM t0 AS precious, precious.gold", "precious.c0 may be"),
        ("mysql", "SELECT precious.f(1)", "precious.f may be"),
        ("mysql", "SELECT 1 INTO OUTFILE '/tmp/x'", "INTO OUTFILE reads or writes files"),
        ("mysql", "SELECT 1 into/**/dumpfile '/tmp/x'", "it has a comment"),
        ("mysql", "SELECT 1 /*! INTO OUTFILE '/tmp/x' */", "the server runs the text in a comment"),
        ("mysql", "SELECT 1 /*M! INTO OUTFILE '/tmp/x' */", "the server runs the text in a comment"),
        ("mysql", "SELECT LOAD_FILE ('/etc/passwd')", "load_file() reads or writes files"),
        ("mysql", "LOAD DATA INFILE '/etc/passwd' INTO TABLE t0", "LOAD DATA reads or writes files"),
        ("mysql", "SELECT 1; DROP DATABASE precious", "it contains several statements"),
        ("mysql", "SELECT '\\\\'; DROP DATABASE precious; -- '", "it has a comment"),
        ("mysql", "PREPARE p FROM 'DROP DATABASE precious'", "DROP DATABASE may reach beyond"),
        ("mysql", "PREPARE p FROM @text", "PREPARE from something other than a literal"),
        ("mysql", "SET GLOBAL max_connections = 1", "SET global: not a setting"),
        ("mysql", "SET @a = 1, @@global.max_connections = 1", "SET @@global: not a setting"),
        ("mysql", "SET sql_mode = 'NO_BACKSLASH_ESCAPES'", "SET sql_mode: not a setting"),
        ("mysql", "SET PASSWORD = 'x'", "SET password: not a setting"),
        ("mysql", "CREATE TABLE t0 (c0 INT) ENGINE=FEDERATED CONNECTION='mysql://x/y/z'", "ENGINE federated"),
        ("mysql", "CREATE TABLE t0 (c0 INT) ENGINE 'federated'", "ENGINE federated"),
        (
            "mariadb",
            "CREATE TABLE t0 (c0 INT) PARTITION BY LIST (c0) (PARTITION p0 VALUES IN (1) ENGINE=CONNECT)",
            "ENGINE connect",
        ),
        (
            "mariadb",
            "ALTER TABLE t0 ADD PARTITION (PARTITION p1 VALUES IN (2) STORAGE ENGINE connect)",
            "ENGINE connect",
        ),
        ("mysql", "CREATE TABLE t0 (c0 INT) DATA DIRECTORY = '/tmp'", "DATA DIRECTORY reads or writes"),
        ("mysql", "GRANT ALL ON *.* TO x", "GRANT may reach beyond"),
        ("mysql", "CREATE USER x", "CREATE USER may reach beyond"),
        ("mysql", "CREATE DEFINER = root@localhost VIEW v0 AS SELECT 1", "CREATE DEFINER may reach"),
        ("mysql", "KILL 1", "KILL may reach beyond"),
        ("mysql", "SHUTDOWN", "SHUTDOWN may reach beyond"),
        ("mysql", "FLUSH LOGS", "FLUSH may reach beyond"),
        ("mysql", "CALL p()", "CALL may reach beyond"),
        ("mariadb", "EXECUTE IMMEDIATE 'DROP DATABASE precious'", "EXECUTE IMMEDIATE runs a text"),
        ("mysql", "# '\nDROP DATABASE precious", "it has a comment"),
        ("mysql", "SELECT 'x", "it cannot be split into words"),
        ("postgres", "COPY t0 TO PROGRAM 'id'", "COPY reads or writes files or runs programs"),
        ("postgres", "SELECT \"pg_read_file\"('/etc/passwd')", "pg_read_file() reads or writes files"),
        (
            "postgres",
            "SELECT pg_catalog.pg_terminate_backend(1)",
            "pg_terminate_backend() reaches the server",
        ),
        ("postgres", "SELECT set_config('search_path', '', false)", "set_config() changes any setting"),
        ("postgres", "UPDATE pg_database SET datname = 'x'", "pg_database belongs to the server"),
        (
            "postgres",
            "WITH a AS (DELETE FROM pg_catalog.pg_authid RETURNING 1) SELECT 1",
            "pg_catalog belongs",
        ),
        ("postgres", "UPDATE U&\"\\0070g_database\" SET datname = 'x'", "it has a name in Unicode escapes"),
        ("postgres", "CREATE EXTENSION dblink", "CREATE EXTENSION loads code"),
        ("postgres", "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'", "CREATE FUNCTION may"),
        ("postgres", "DO $$ BEGIN DROP TABLE x; END $$", "DO may reach beyond"),
        ("postgres", "ALTER SYSTEM SET jit = on", "ALTER SYSTEM may reach beyond"),
        ("postgres", "SET ROLE postgres", "SET role: not a setting"),
        ("postgres", "SET SESSION AUTHORIZATION postgres", "SET authorization: not a setting"),
        ("postgres", "SELECT lo_import('/etc/passwd')", "lo_import() reads or writes files"),
        ("postgres", "SELECT query_to_xml('SELECT 1', true, true, '')", "query_to_xml() runs a text"),
        ("cockroachdb", "DELETE FROM precious.public.gold", "precious.public may be in another"),
        ("clickhouse", "INSERT INTO FUNCTION file('x', 'CSV', 'a Int') SELECT 1", "file() reads or writes"),
        ("clickhouse", "SELECT * FROM url('http://x', 'CSV', 'a Int')", "url() reaches another server"),
        ("clickhouse", "SELECT 1 # '\n INTO OUTFILE '", "it has characters that the server may"),
        ("clickhouse", "CREATE TABLE t0 (c0 Int) ENGINE = Kafka", "ENGINE kafka may keep"),
        ("clickhouse", "DROP TABLE precious.gold", "precious.gold may be in another"),
        ("clickhouse", "SYSTEM SHUTDOWN", "SYSTEM may reach beyond"),
    ] {
        let told = on_server(dialect, text).unwrap_or_else(|| panic!("{dialect}: {text}"));
        assert!(told.starts_with(reason), "{dialect}: {text}: {told}");
    }
}

/// It has databases to itself, but no files.
#[test]
fn an_engine_of_our_own_refuses_only_what_leaves_the_engine() {
    let own = |dialect: &str, text: &str| refusal(dialect, Place::OwnEngine, text);
    for (dialect, text) in [
        ("mysql", "USE precious"),
        ("mysql", "SELECT /* x */ precious.gold.c0 FROM precious.gold"),
        ("sqlite", "ATTACH ':memory:' AS aux1"),
        ("sqlite", "VACUUM"),
        ("duckdb", "CREATE SCHEMA s; SELECT 1"),
        ("postgres", "SET ROLE x"),
        ("sqlite", "this is no SQL '"),
    ] {
        assert_eq!(own(dialect, text), None, "{dialect}: {text}");
    }
    for (dialect, text) in [
        ("mysql", "SELECT 1 /*! INTO OUTFILE '/tmp/x' */"),
        ("sqlite", "VACUUM main INTO 'x'"),
        ("sqlite", "SELECT load_extension('x')"),
        ("duckdb", "COPY t0 TO 'x.csv'"),
        ("duckdb", "SELECT * FROM read_csv('/etc/passwd')"),
        ("duckdb", "INSTALL httpfs"),
        ("postgres", "COPY t0 FROM PROGRAM 'id'"),
        ("clickhouse", "SELECT file('/etc/passwd')"),
    ] {
        assert!(own(dialect, text).is_some(), "{dialect}: {text}");
    }
}

#[test]
fn a_finding_is_looked_at_whole() {
    let dialect = Dialect::load("mysql", "9.7").unwrap();
    let confinement = Confinement::new(&dialect, Place::SharedServer);
    let query = Query::select(Select { items: vec![Expr::bare_column("c0").into()], ..Select::default() });
    let plain = TestCase { setup: vec![], subject: crate::subject::Subject::new("norec", query) };
    assert_eq!(confinement.refusal_of_case(&plain), None);
    let mut built = plain.clone();
    built.setup.push(Statement::Raw("USE precious".into()));
    let told = "USE may reach beyond the database that Dissent made (USE precious)";
    assert_eq!(confinement.refusal_of_case(&built).as_deref(), Some(told));
    let mut chosen = plain.clone();
    chosen.subject.choices.insert("storage".into(), "ENGINE=InnoDB DATA DIRECTORY='/tmp'".into());
    assert!(confinement.refusal_of_case(&chosen).is_some());
    let mut written = plain;
    written
        .setup
        .push(Statement::Set { name: "x = 1; DROP DATABASE precious; SET y".into(), value: "1".into() });
    assert!(confinement.refusal_of_case(&written).is_some());
}

/// Ways out that an engine's own documentation describes, by dialect. One that inherits adds to its relative's.
const KNOWN: &[(&str, &[&str])] = &[
    (
        "sqlite",
        &[
            "VACUUM INTO '/tmp/x'",
            "VACUUM main INTO '/tmp/x'",
            "SELECT 1; VACUUM INTO '/tmp/x'",
            "SELECT load_extension('/tmp/x')",
            "SELECT fts3_tokenizer('x', x'00')",
            "SELECT * FROM fsdir('/')",
            "SELECT writefile('/tmp/x', '')",
            "PRAGMA temp_store_directory = '/tmp'",
        ],
    ),
    ("libsql", &[]),
    ("turso", &["ATTACH '/tmp/x' AS a1", "CREATE VIRTUAL TABLE t0 USING csv(filename='/etc/passwd')"]),
    (
        "duckdb",
        &[
            "COPY t0 TO '/tmp/x'",
            "EXPLAIN ANALYZE COPY t0 TO '/tmp/x'",
            "SELECT * FROM read_csv_auto('/etc/passwd')",
            "SELECT * FROM glob('/*')",
            "ATTACH '/tmp/x' AS a1",
            "EXPORT DATABASE '/tmp/x'",
            "IMPORT DATABASE '/tmp/x'",
            "INSTALL httpfs",
            "FORCE INSTALL httpfs",
            "LOAD '/tmp/x'",
            "SET temp_directory = '/tmp/x'",
            "SET log_query_path = '/tmp/x'",
            "CREATE SECRET (TYPE s3)",
            "SELECT getenv('HOME')",
        ],
    ),
    (
        "postgres",
        &[
            "COPY t0 TO PROGRAM 'id'",
            "SELECT pg_read_file('/etc/passwd')",
            "SELECT lo_export(1, '/tmp/x')",
            "LOAD '/tmp/x'",
            "CREATE EXTENSION dblink",
            "SELECT dblink_connect('host=192.0.2.1')",
            "CREATE SERVER s0 FOREIGN DATA WRAPPER postgres_fdw",
            "CREATE SUBSCRIPTION s0 CONNECTION 'host=192.0.2.1' PUBLICATION p0",
            "CREATE FUNCTION f0() RETURNS INT LANGUAGE c AS '/tmp/x', 'f0'",
        ],
    ),
    ("cockroachdb", &[]),
    (
        "hyper",
        &[
            "SELECT * FROM external('/etc/passwd', FORMAT => 'csv')",
            "CREATE TEMPORARY EXTERNAL TABLE t0 FOR '/etc/passwd'",
            "CREATE TEMP EXTERNAL TABLE t0 FOR 's3://bucket/x.csv'",
            "ATTACH DATABASE \"/tmp/x\" AS a1",
            "CREATE DATABASE \"/tmp/x\"",
            "DROP DATABASE \"/tmp/x\"",
        ],
    ),
    (
        "h2",
        &[
            "CREATE ALIAS f0 AS 'int f() { return 1; }'",
            "CREATE ALIAS IF NOT EXISTS f0 FOR \"java.lang.System.getProperty\"",
            "CREATE FORCE ALIAS f0 FOR \"java.lang.System.exit\"",
            "CREATE OR REPLACE ALIAS f0 FOR \"java.lang.System.exit\"",
            "CREATE AGGREGATE f0 FOR \"x.Y\"",
            "CREATE TRIGGER g0 BEFORE INSERT ON t0 CALL 'x.Y'",
            "SELECT FILE_READ('/etc/passwd')",
            "SELECT FILE_WRITE('x', '/tmp/x')",
            "SELECT * FROM CSVREAD('http://192.0.2.1/')",
            "CALL CSVWRITE('/tmp/x', 'SELECT 1')",
            "RUNSCRIPT FROM '/tmp/x'",
            "SELECT 1; RUNSCRIPT FROM '/tmp/x'",
            "SCRIPT TO '/tmp/x'",
            "BACKUP TO '/tmp/x.zip'",
            "CALL LINK_SCHEMA('s1', '', 'jdbc:h2:/tmp/x', 'sa', '', 'PUBLIC')",
            "CREATE LINKED TABLE t1('', 'jdbc:h2:/tmp/x', 'sa', '', 't0')",
            "CREATE LOCAL TEMPORARY LINKED TABLE t1('', 'jdbc:h2:/tmp/x', 'sa', '', 't0')",
            "EXECUTE IMMEDIATE 'SCRIPT TO ''/tmp/x'''",
        ],
    ),
    (
        "mysql",
        &[
            "SELECT 1 INTO OUTFILE '/tmp/x'",
            "SELECT 1 INTO DUMPFILE '/tmp/x'",
            "SELECT LOAD_FILE('/etc/passwd')",
            "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t0",
            "LOAD XML INFILE '/etc/passwd' INTO TABLE t0",
            "CREATE TABLE t0 (c0 INT) DATA DIRECTORY = '/tmp'",
            "CREATE TABLE t0 (c0 INT) ENGINE=FEDERATED CONNECTION='mysql://x/y/z'",
            "INSTALL PLUGIN x SONAME 'x.so'",
            "CREATE FUNCTION f0 RETURNS INT SONAME 'x.so'",
            "CHANGE MASTER TO MASTER_HOST = '192.0.2.1'",
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '192.0.2.1'",
            "CLONE LOCAL DATA DIRECTORY = '/tmp/x'",
        ],
    ),
    ("mariadb", &[]),
    ("percona", &[]),
    ("oceanbase", &["CREATE EXTERNAL TABLE t0 (c0 INT) LOCATION = '/tmp'"]),
    (
        "tidb",
        &[
            "IMPORT INTO t0 FROM '/etc/passwd'",
            "BACKUP DATABASE * TO 'local:///tmp/x'",
            "RESTORE DATABASE * FROM 's3://bucket/x'",
            "LOAD STATS '/etc/passwd'",
            "PLAN REPLAYER LOAD '/tmp/x.zip'",
            "TRACE PLAN SELECT 1",
        ],
    ),
    (
        "dolt",
        &[
            "CALL DOLT_CLONE('file:///tmp/x')",
            "CALL dolt_remote('add', 'r0', 'http://192.0.2.1/x')",
            "CALL `dolt_backup`('sync-url', 'file:///tmp/x')",
            "CALL dolt_push('r0', 'main')",
            "CALL dolt_pull('r0')",
            "CALL dolt_fetch('r0')",
            "CALL dclone('file:///tmp/x')",
            "SET @@PERSIST.dolt_replicate_to_remote = 'r0'",
        ],
    ),
    (
        "clickhouse",
        &[
            "SELECT * FROM file('/etc/passwd', 'CSV', 'a Int')",
            "SELECT 1 INTO OUTFILE '/tmp/x'",
            "INSERT INTO t0 FROM INFILE '/etc/passwd' FORMAT CSV",
            "BACKUP TABLE t0 TO File('/tmp/x')",
            "SELECT * FROM url('http://192.0.2.1/', 'CSV', 'a Int')",
            "SELECT * FROM remote('192.0.2.1', system.one)",
            "CREATE TABLE t0 (c0 Int64) ENGINE = URL('http://192.0.2.1/', CSV)",
            "CREATE DATABASE d0 ENGINE = SQLite('/tmp/x')",
            "CREATE DICTIONARY d0 (c0 Int64) PRIMARY KEY c0 SOURCE(HTTP(URL 'http://192.0.2.1/' FORMAT 'CSV')) LAYOUT(FLAT()) LIFETIME(0)",
            "CREATE OR REPLACE DICTIONARY d0 (c0 Int64) PRIMARY KEY c0 SOURCE(FILE(PATH '/etc/passwd' FORMAT 'CSV')) LAYOUT(FLAT()) LIFETIME(0)",
            "ATTACH TABLE t0 FROM '/tmp/x' (c0 Int64) ENGINE = MergeTree ORDER BY c0",
        ],
    ),
    (
        "firebird",
        &[
            "CREATE TABLE t0 EXTERNAL FILE '/tmp/x' (c0 INT)",
            "CREATE TABLE t0 EXTERNAL '/tmp/x' (c0 INT)",
            "CREATE FUNCTION f0() RETURNS INT EXTERNAL NAME 'x!f0' ENGINE udr",
            "DECLARE EXTERNAL FUNCTION f0 RETURNS INT BY VALUE ENTRY_POINT 'f0' MODULE_NAME 'x'",
            "EXECUTE BLOCK AS BEGIN EXECUTE STATEMENT 'SELECT 1' ON EXTERNAL '192.0.2.1:x'; END",
            "EXECUTE BLOCK AS BEGIN EXECUTE STATEMENT 'CREATE TABLE t0 EXT' || 'ERNAL ''/tmp/x'' (c0 INT)'; END",
            "CREATE DATABASE '/tmp/x'",
            "ALTER DATABASE ADD DIFFERENCE FILE '/tmp/x'",
            "CREATE SHADOW 1 '/tmp/x'",
        ],
    ),
    (
        "datafusion",
        &[
            "CREATE EXTERNAL TABLE t0 STORED AS CSV LOCATION '/etc/passwd'",
            "CREATE UNBOUNDED EXTERNAL TABLE t0 STORED AS CSV LOCATION '/etc/passwd'",
            "COPY t0 TO '/tmp/x'",
            "COPY (SELECT 1) TO '/tmp/x'",
            "EXPLAIN ANALYZE COPY t0 TO '/tmp/x'",
            "SET datafusion.runtime.temp_directory = '/tmp'",
        ],
    ),
];

#[test]
fn every_known_way_out_is_refused_everywhere() {
    let files = Files::built_in();
    for name in files.names() {
        let dialect = files.load(name, "999").unwrap();
        assert_eq!(dialect.engine.port.is_some(), !dialect.confines.statements.is_empty(), "{name}");
        let mut of = Some(name.to_string());
        while let Some(relative) = of {
            let known = KNOWN.iter().find(|(dialect, _)| *dialect == relative);
            let (_, known) = known.unwrap_or_else(|| panic!("no ways out of {relative} are listed"));
            assert!(!known.is_empty() || files.relative(&relative).is_some(), "{relative}");
            for place in [Place::OwnEngine, Place::SharedServer] {
                let confinement = Confinement::new(&dialect, place);
                for text in *known {
                    assert!(confinement.refusal(text).is_some(), "{name}, {place:?}: {text}");
                }
            }
            of = files.relative(&relative);
        }
    }
}

/// So a finding of our own can be replayed on a server. What is refused are columns with a dot in statements that
/// sqlparser cannot read.
#[test]
fn what_hunts_generate_stays_inside_the_database() {
    for (name, most) in [("postgres", 0), ("mysql", 30), ("mariadb", 30), ("clickhouse", 80)] {
        let dialect = Dialect::load(name, "999").unwrap();
        let confinement = Confinement::new(&dialect, Place::SharedServer);
        let statements = crate::import::tests::drawn(&dialect);
        let refused: Vec<String> = statements.iter().filter_map(|one| confinement.refusal_of(one)).collect();
        let odd: Vec<&String> = refused.iter().filter(|why| !why.contains("may be in another")).collect();
        assert!(odd.is_empty(), "{name}: {odd:?}");
        assert!(
            refused.len() * 1000 <= most * statements.len(),
            "{name}: {} of {}",
            refused.len(),
            statements.len()
        );
    }
}
