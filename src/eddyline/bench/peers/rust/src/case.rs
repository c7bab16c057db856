//! A case: what is asked, and rows as columns of int64.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

pub struct Case {
    folder: PathBuf,
    pub kind: String,
    pub streams: Vec<char>,
    pub columns: usize,
    pub rows: usize,
    pub count: usize,
    pub call_rows: usize,
    pub window: u64,
    pub has_text_keys: bool,
}

impl Case {
    pub fn read(folder: &Path) -> Case {
        let text = fs::read_to_string(folder.join("case")).expect("a case");
        let given: HashMap<&str, &str> = text.lines().filter_map(|line| line.split_once('=')).collect();
        let number = |name: &str| given[name].parse::<usize>().expect("a number");
        Case {
            folder: folder.to_path_buf(),
            kind: given["kind"].to_string(),
            streams: given["streams"].chars().collect(),
            columns: 1 + given["columns"].split(',').count(),
            rows: number("rows"),
            count: number("count"),
            call_rows: number("call_rows"),
            window: number("window_us") as u64,
            has_text_keys: given["string_keys"] == "True",
        }
    }

    /// The columns of a stream, ts first; or those of "rules".
    pub fn table(&self, stream: &str, names: usize) -> Vec<Vec<u64>> {
        let bytes = fs::read(self.folder.join(format!("{stream}.columns"))).expect("rows");
        let values: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|b| i64::from_le_bytes(b.try_into().expect("eight bytes")) as u64)
            .collect();
        let size = values.len() / names;
        values.chunks_exact(size.max(1)).map(<[u64]>::to_vec).collect()
    }
}

/// A key as a string of 14 characters.
pub fn text(key: u64) -> String {
    format!("customer{key:06}")
}

/// What has a place in the hash of a row.
pub trait Hashed {
    fn number(&self) -> u64;
}

impl Hashed for u64 {
    fn number(&self) -> u64 {
        *self
    }
}

impl Hashed for String {
    fn number(&self) -> u64 {
        self.bytes().fold(0, |h: u64, byte| h.wrapping_mul(31).wrapping_add(u64::from(byte)))
    }
}

pub fn mix(hash: u64, value: u64) -> u64 {
    let h = (hash ^ value).wrapping_mul(FACTOR);
    h ^ (h >> 32)
}

/// A bag of results: how many, and the sum of their hashes.
#[derive(Default)]
pub struct Bag {
    pub rows: i64,
    pub hashes: u64,
}

impl Bag {
    pub fn add(&mut self, hash: u64, times: isize) {
        let mut h = hash.wrapping_mul(FACTOR);
        h ^= h >> 32;
        self.rows += times as i64;
        self.hashes = self.hashes.wrapping_add(h.wrapping_mul(times as u64));
    }
}
