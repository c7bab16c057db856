//! The rows of a case, and how a dataflow is given them: a call at a time, in the order of time.

use crate::case::{text, Case};
use differential_dataflow::input::InputSession;
use differential_dataflow::ExchangeData;
use timely::dataflow::ProbeHandle;
use timely::worker::Worker;

/// The rows of all streams as read; a run takes a copy, which it moves into the dataflow.
pub enum Rows {
    Numbers(Vec<Vec<[u64; 4]>>),
    Texts(Vec<Vec<(String, u64, u64)>>),
}

pub enum Prepared {
    Numbers(Vec<Vec<[u64; 4]>>),
    Texts(Vec<Vec<(String, u64, u64)>>),
}

impl Rows {
    pub fn read(asked: &Case) -> Rows {
        let tables = asked.streams.iter().map(|s| asked.table(&s.to_string(), asked.columns));
        if asked.has_text_keys {
            return Rows::Texts(
                tables
                    .map(|t| (0..asked.rows).map(|i| (text(t[1][i]), t[0][i], t[2][i])).collect())
                    .collect(),
            );
        }
        let row = |t: &Vec<Vec<u64>>, i: usize| {
            let mut row = [0; 4];
            t.iter().zip(row.iter_mut()).for_each(|(column, value)| *value = column[i]);
            row
        };
        Rows::Numbers(
            tables.map(|t| (0..asked.rows).map(|i| row(&t, i)).collect()).collect(),
        )
    }

    pub fn prepare(&self) -> Prepared {
        match self {
            Rows::Numbers(rows) => Prepared::Numbers(rows.clone()),
            Rows::Texts(rows) => Prepared::Texts(rows.clone()),
        }
    }
}

/// Rows of one stream that have come and still have to leave.
pub struct Stream<D: ExchangeData> {
    pub input: InputSession<u64, D, isize>,
    pub rows: Vec<(u64, D)>,
}

/// Which of two steps a call is in; joins without times of their own look at it.
#[derive(Clone, Copy, PartialEq)]
pub enum Step {
    Arriving,
    Leaving,
}

/// Give all rows, a call at a time; each comes at its `ts` and leaves at `ts + window`.
pub fn by_time<D: ExchangeData>(
    worker: &mut Worker,
    asked: &Case,
    mut streams: Vec<Stream<D>>,
    probe: &ProbeHandle<u64>,
    leaves: bool,
) {
    let several = streams.len();
    let mut left = vec![0; several];
    for first in (0..asked.rows * several).step_by(asked.call_rows) {
        let end = (first + asked.call_rows).min(asked.rows * several);
        let mut newest = 0;
        for (number, stream) in streams.iter_mut().enumerate() {
            let (low, high) = range(first, end, number, several);
            for (ts, row) in &stream.rows[low..high] {
                stream.input.update_at(row.clone(), *ts, 1);
                newest = newest.max(*ts);
            }
        }
        for (number, stream) in streams.iter_mut().enumerate() {
            let (_, high) = range(first, end, number, several);
            while leaves && left[number] < high {
                let (ts, row) = &stream.rows[left[number]];
                if ts + asked.window > newest {
                    break;
                }
                stream.input.update_at(row.clone(), ts + asked.window, -1);
                left[number] += 1;
            }
            stream.input.advance_to(newest + 1);
            stream.input.flush();
        }
        worker.step_while(|| probe.less_than(&(newest + 1)));
    }
}

/// Give all rows, a call at a time, in two steps: those that come, then those that have left.
pub fn by_step<D: ExchangeData>(
    worker: &mut Worker,
    asked: &Case,
    mut streams: Vec<Stream<D>>,
    probe: &ProbeHandle<u64>,
    step: impl Fn(Step),
) {
    let several = streams.len();
    let mut left = vec![0; several];
    let mut time = 0;
    for first in (0..asked.rows * several).step_by(asked.call_rows) {
        let end = (first + asked.call_rows).min(asked.rows * several);
        let mut newest = 0;
        for (number, stream) in streams.iter_mut().enumerate() {
            let (low, high) = range(first, end, number, several);
            for (ts, row) in &stream.rows[low..high] {
                stream.input.update(row.clone(), 1);
                newest = newest.max(*ts);
            }
        }
        step(Step::Arriving);
        time += 1;
        advance(worker, &mut streams, probe, time);
        for (number, stream) in streams.iter_mut().enumerate() {
            let (_, high) = range(first, end, number, several);
            while left[number] < high && stream.rows[left[number]].0 + asked.window <= newest {
                stream.input.update(stream.rows[left[number]].1.clone(), -1);
                left[number] += 1;
            }
        }
        step(Step::Leaving);
        time += 1;
        advance(worker, &mut streams, probe, time);
    }
}

fn advance<D: ExchangeData>(
    worker: &mut Worker,
    streams: &mut [Stream<D>],
    probe: &ProbeHandle<u64>,
    time: u64,
) {
    for stream in streams {
        stream.input.advance_to(time);
        stream.input.flush();
    }
    worker.step_while(|| probe.less_than(&time));
}

/// Rows of one stream among those of all, which alternate.
fn range(first: usize, end: usize, number: usize, several: usize) -> (usize, usize) {
    let at = |n: usize| (n + several - 1 - number) / several;
    (at(first), at(end))
}
