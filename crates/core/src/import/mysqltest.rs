//! The SQL in the tests of MySQL and MariaDB (`mysqltest`), without the commands between the statements. Statements that
//! are to fail are not run, nor are those whose text a command makes.

use super::script::{EXPECTED_TO_FAIL, Habits, Part, USES_VARIABLES, sql};

/// The commands that end at a delimiter as statements do, by their first word.
const COMMANDS: &[&str] = &[
    "append_file",
    "cat_file",
    "change_user",
    "chmod",
    "connect",
    "connection",
    "copy_file",
    "dec",
    "die",
    "diff_files",
    "dirty_close",
    "disconnect",
    "echo",
    "error",
    "exec",
    "exit",
    "file_exists",
    "force",
    "horizontal_results",
    "inc",
    "let",
    "list_files",
    "mkdir",
    "move_file",
    "output",
    "perl",
    "ping",
    "query_attributes",
    "query_get_value",
    "real_sleep",
    "reap",
    "remove_file",
    "remove_files_wildcard",
    "replace_column",
    "replace_numeric_round",
    "replace_regex",
    "replace_result",
    "require",
    "reset_connection",
    "result_format",
    "rmdir",
    "send",
    "send_eval",
    "send_quit",
    "send_shutdown",
    "shutdown_server",
    "skip",
    "sleep",
    "sorted_result",
    "source",
    "start_timer",
    "end_timer",
    "sync_slave_with_master",
    "sync_with_master",
    "system",
    "vertical_results",
    "wait_for_slave_to_stop",
    "write_file",
    "write_line",
];

/// Commands that run the statement behind them, with the values of variables in it.
const RUN: &[&str] = &["eval", "query", "query_horizontal", "query_vertical"];

/// Commands whose text goes on up to a line of its own.
const BLOCKS: &[&str] = &["perl", "write_file", "append_file"];

pub fn split(text: &str, habits: Habits) -> Vec<Part> {
    let plain = Plain::of(text);
    let mut parts = sql(&plain.text, 1, habits);
    let mut failing = plain.failing.iter().copied().peekable();
    parts.retain_mut(|part| {
        // What fails is the first statement behind the command that says so.
        let mut fails = false;
        while failing.next_if(|line| *line < part.line).is_some() {
            fails = true;
        }
        let word = first_word(&part.sql);
        if word == "error" {
            return false;
        }
        if RUN.contains(&&*word) {
            part.sql = part.sql[word.len()..].trim_start().to_string();
            part.left_out = part.sql.contains('$').then_some(USES_VARIABLES);
        }
        if fails {
            part.left_out = Some(EXPECTED_TO_FAIL);
        }
        !part.sql.is_empty() && !COMMANDS.contains(&&*word) && !is_switch(&word)
    });
    parts
}

/// A test without what is not SQL, line by line, so that lines keep their numbers.
#[derive(Default)]
struct Plain {
    text: String,
    /// The lines of the commands that announce an error.
    failing: Vec<usize>,
}

impl Plain {
    fn of(text: &str) -> Plain {
        let mut plain = Plain::default();
        let (mut delimiter, mut until) = (";".to_string(), None::<String>);
        for (at, line) in text.lines().enumerate() {
            let trimmed = line.trim_start();
            let command = trimmed.strip_prefix("--").unwrap_or(trimmed).trim_start();
            let word = first_word(command);
            if let Some(end) = &until {
                if trimmed.trim_end() == *end {
                    until = None;
                }
            } else if word == "delimiter" {
                delimiter = new_delimiter(command, &delimiter);
                plain.text.push_str("DELIMITER ");
                plain.text.push_str(&delimiter);
            } else if word == "error" {
                plain.failing.push(at + 1);
            } else if BLOCKS.contains(&&*word) {
                let named = command.trim_end_matches(';').split_whitespace().nth(2);
                until = Some(named.unwrap_or("EOF").to_string());
            } else if !(matches!(&*word, "if" | "while")
                || trimmed.starts_with(['{', '}'])
                || trimmed.starts_with("--"))
            {
                plain.text.push_str(line);
            }
            plain.text.push('\n');
        }
        plain
    }
}

/// `delimiter |;` ends with the delimiter that it replaces.
fn new_delimiter(command: &str, old: &str) -> String {
    let named = command["delimiter".len()..].trim();
    let named = named.strip_suffix(old).filter(|named| !named.is_empty()).unwrap_or(named);
    named.trim().to_string()
}

fn first_word(text: &str) -> String {
    let word = text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    word.to_ascii_lowercase()
}

/// `enable_warnings`, `disable_query_log`.
fn is_switch(word: &str) -> bool {
    word.starts_with("enable_") || word.starts_with("disable_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(script: &str) -> Vec<Part> {
        let habits = Habits { mysql: true, backslashes: true, engine: "mariadb", ..Habits::default() };
        split(script, habits)
    }

    fn texts(script: &str) -> Vec<String> {
        parts(script).into_iter().filter(|part| part.left_out.is_none()).map(|part| part.sql).collect()
    }

    #[test]
    fn commands_are_left_out() {
        let script = "--source include/x.inc\n--disable_warnings\nDROP TABLE IF EXISTS t;\n--enable_warnings\n\
            CREATE TABLE t(a INT); # a remark\nlet $x= 1;\neval SELECT $x;\neval SELECT 0;\nSELECT JSON_EXTRACT(a, '$.x') FROM t;\nconnection default;\n\
            if ($x)\n{\n  SELECT a\n  FROM t;\n}\nperl;\nprint 1;\nEOF\nsorted_result;\nSELECT 2;\n";
        let wanted = [
            "DROP TABLE IF EXISTS t",
            "CREATE TABLE t(a INT)",
            "SELECT 0",
            "SELECT JSON_EXTRACT(a, '$.x') FROM t",
            "SELECT a\n  FROM t",
            "SELECT 2",
        ];
        assert_eq!(texts(script), wanted);
        let left_out: Vec<_> = parts(script).into_iter().filter_map(|part| part.left_out).collect();
        assert_eq!(left_out, [USES_VARIABLES]);
    }

    #[test]
    fn statements_that_are_to_fail_are_left_out() {
        let script = "--error ER_X\nSELECT nonsense;\nSELECT 1;\nerror 1064;\nSELEKT 2;\nSELECT 3;\n";
        assert_eq!(texts(script), ["SELECT 1", "SELECT 3"]);
    }

    #[test]
    fn delimiters_change() {
        let script = "delimiter |;\nCREATE PROCEDURE p() BEGIN SELECT 1; END|\ndelimiter ;|\nSELECT 2;\n\
            --delimiter //\nSELECT 3//\n--delimiter ;\nSELECT 4;\n";
        assert_eq!(
            texts(script),
            ["CREATE PROCEDURE p() BEGIN SELECT 1; END", "SELECT 2", "SELECT 3", "SELECT 4"]
        );
    }
}
