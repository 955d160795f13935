//! Scripts as people have them: dumps, sqllogictest with loops, standard input.

mod support;

use std::fs;
use std::path::Path;

use support::traces::Somebodys;
use support::{Said, dissent, run};

fn check(directory: &Path, script: &str, text: &str, target: &str) -> Said {
    fs::write(directory.join(script), text).unwrap();
    run(dissent(directory).args(["check", script, "--target", target]))
}

/// As `pg_dump` writes it.
const PG_DUMP: &str = "--
-- PostgreSQL database dump
--

\\restrict abc

SET statement_timeout = 0;
SET client_encoding = 'UTF8';
SELECT pg_catalog.set_config('search_path', '', false);
SET default_table_access_method = heap;

CREATE FUNCTION public.one() RETURNS integer
    LANGUAGE plpgsql
    AS $$
BEGIN
  RETURN 1;
END $$;

CREATE TABLE public.orders (
    id integer NOT NULL,
    placed date,
    note text
);

COPY public.orders (id, placed, note) FROM stdin;
1\t2024-02-29\tit's; fine
2\t\\N\ta\\tb
3\t2025-01-01\t\\N
\\.

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id);

\\unrestrict abc

SELECT id FROM public.orders WHERE EXTRACT(YEAR FROM placed) = 2024;
SELECT id FROM public.orders WHERE placed < DATE '2025-06-01' - INTERVAL '90' DAY;
";

#[test]
fn a_dump_of_postgres_is_checked() {
    let directory = tempfile::tempdir().unwrap();
    if Somebodys::start_any("postgres").is_none() {
        return;
    }
    let said = check(directory.path(), "dump.sql", PG_DUMP, "postgres");
    assert_eq!(said.code, Some(0), "{}\n{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("2 queries checked"), "{}", said.stdout);
    assert!(!said.stdout.contains("fails here"), "{}", said.stdout);
}

/// As `mysqldump` writes it.
const MYSQLDUMP: &str = "/*!40101 SET NAMES utf8mb4 */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
DROP TABLE IF EXISTS `orders`;
CREATE TABLE `orders` (
  `id` int NOT NULL,
  `placed` date DEFAULT NULL,
  `note` varchar(20) DEFAULT NULL,
  PRIMARY KEY (`id`)
);
LOCK TABLES `orders` WRITE;
/*!40000 ALTER TABLE `orders` DISABLE KEYS */;
INSERT INTO `orders` VALUES (1,'2024-02-29','it\\'s; fine'),(2,NULL,NULL);
/*!40000 ALTER TABLE `orders` ENABLE KEYS */;
UNLOCK TABLES;
DELIMITER ;;
/*!50003 CREATE TRIGGER g BEFORE INSERT ON orders FOR EACH ROW BEGIN SET @a = 1; SET @b = 2; END */;;
DELIMITER ;
SELECT id FROM orders WHERE EXTRACT(YEAR FROM placed) = 2024;
SELECT id FROM orders WHERE placed > '2024-12-31' - INTERVAL 90 DAY;
";

#[test]
fn a_dump_of_mariadb_is_checked() {
    let directory = tempfile::tempdir().unwrap();
    if Somebodys::start_any("mariadb").is_none() {
        return;
    }
    let said = check(directory.path(), "dump.sql", MYSQLDUMP, "mariadb");
    assert_eq!(said.code, Some(0), "{}\n{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("2 queries checked"), "{}", said.stdout);
    assert!(!said.stdout.contains("fails here"), "{}", said.stdout);
}

#[test]
fn loops_and_expected_errors_of_sqllogictest_are_understood() {
    let directory = tempfile::tempdir().unwrap();
    let script = "statement ok\nCREATE TABLE t(a INT)\n\nloop i 0 5\n\nstatement ok\nINSERT INTO t VALUES (${i})\n\nendloop\n\n\
        statement error\nSELECT nonsense FROM t\n\nskipif sqlite\nquery I\nSELECT a::INT FROM t\n\n\
        query I rowsort\nSELECT a FROM t WHERE a > 2\n----\n3\n4\n";
    let said = check(directory.path(), "loops.slt", script, "sqlite");
    assert_eq!(said.code, Some(0), "{}\n{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("7 statements, 1 query checked"), "{}", said.stdout);
    assert!(!said.stdout.contains("fails here"), "{}", said.stdout);
}

/// Whatever a suite holds, its other files are checked, and what is not run is counted.
#[test]
fn a_directory_of_tests_is_checked_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let suite = directory.path().join("suite");
    fs::create_dir(&suite).unwrap();
    let tcl = "do_execsql_test 1 {\n  CREATE TABLE t(a); INSERT INTO t VALUES (1); SELECT a FROM t WHERE a > 0; } 1\n\
        do_catchsql_test 2 {SELECT b FROM t} {1 {no such column: b}}\nexecsql {SELECT $x}\n";
    fs::write(suite.join("a.test"), tcl).unwrap();
    fs::write(suite.join("b.sql"), b"SELECT '\xff';\n").unwrap();
    fs::write(suite.join("c.test_slow"), "query I\nSELECT 1\n----\n1\n").unwrap();
    let said = run(dissent(directory.path()).args(["check", "suite", "--target", "sqlite"]));
    assert_eq!(said.code, Some(0), "{}\n{}", said.stdout, said.stderr);
    for line in [
        "3 scripts on sqlite",
        "5 statements, 3 queries checked",
        "left out: suite/a.test:3: the script expects an error",
        "left out: suite/a.test:4: the script makes its text from variables",
    ] {
        assert!(said.stdout.contains(line), "{line}: {}", said.stdout);
    }
    assert!(!said.stdout.contains("fails here"), "{}", said.stdout);
}

#[test]
fn a_script_may_come_from_standard_input() {
    let directory = tempfile::tempdir().unwrap();
    let script =
        "CREATE TABLE t(a INT);\nINSERT INTO t VALUES (1);\nSELECT a FROM t WHERE a > 0;\nSELEKT 1;\n";
    let said = run(dissent(directory.path()).args(["check", "-"]).write_stdin(script));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("1 query checked"), "{}", said.stdout);
    assert!(said.stdout.contains("fails here: standard input:4: "), "{}", said.stdout);
}

#[test]
fn a_reason_is_said_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut script = "CREATE TABLE t(a INT);\nINSERT INTO t VALUES (1);\n".to_string();
    for blanks in 0..1200 {
        script.push_str(&format!("SELECT {}a FROM t WHERE;\n", " ".repeat(blanks % 7)));
    }
    script.push_str("SELECT a FROM t WHERE a = 1;\n");
    let said = check(directory.path(), "many.sql", &script, "sqlite");
    let reasons = said.stdout.lines().filter(|line| line.contains("only run, not understood")).count();
    assert_eq!(reasons, 1, "{}", said.stdout);
    assert!(said.stdout.contains("(and 1,199 more like it)"), "{}", said.stdout);
    let mut skips: Vec<&str> = said.stdout.lines().filter(|line| line.starts_with("  skipped: ")).collect();
    let all = skips.len();
    skips.dedup_by_key(|line| line.split(" (").next().unwrap());
    assert!(all > 0 && skips.len() == all, "{}", said.stdout);
}
