//! Differential dataflow: a dataflow per case, one worker, the rows' timestamps as its times.
//!
//! It answers the line protocol that `programs/serve.py` describes.

mod case;
mod feed;
mod flows;

use case::Case;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let folder = std::env::args().nth(1).expect("the folder of a case");
    let asked = Arc::new(Case::read(Path::new(&folder)));
    let rows = feed::Rows::read(&asked);
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let form = line.trim_start_matches("run ").to_string();
        let ran = flows::run(&asked, &form, rows.prepare());
        println!("{} {} {} {}", ran.bag.rows, ran.bag.hashes, ran.wall, ran.cpu);
        std::io::stdout().flush().expect("an open pipe");
    }
}
