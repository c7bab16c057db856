//! The dataflows, by kind of case and form.

use crate::case::{mix, Bag, Case, Hashed};
use crate::feed::{by_step, by_time, Prepared, Step, Stream};
use differential_dataflow::input::{Input, InputSession};
use differential_dataflow::operators::{CountTotal, ThresholdTotal};
use differential_dataflow::ExchangeData;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use timely::dataflow::ProbeHandle;
use timely::worker::Worker;

type Results = Rc<RefCell<Bag>>;

/// What a run has found, and its nanoseconds: of the clock and of the processor.
pub struct Ran {
    pub bag: Bag,
    pub wall: u128,
    pub cpu: u64,
}

/// Run a case in a form, from empty arrangements to the last result.
pub fn run(asked: &Arc<Case>, form: &str, rows: Prepared) -> Ran {
    match (asked.kind.as_str(), rows) {
        ("join", Prepared::Texts(rows)) => {
            let keyed = rows.into_iter().map(|stream| {
                stream.into_iter().map(|(k, ts, v)| (ts, (k, (ts, v)))).collect()
            });
            join(asked, form, keyed.collect())
        }
        ("join", Prepared::Numbers(rows)) => {
            let keyed = rows.into_iter().map(|stream| {
                stream.into_iter().map(|[ts, k, v, _]| (ts, (k, (ts, v)))).collect()
            });
            join(asked, form, keyed.collect())
        }
        ("groups" | "over", Prepared::Numbers(rows)) => groups(asked, rows),
        ("distinct", Prepared::Numbers(rows)) => distinct(asked, rows),
        ("absent", Prepared::Numbers(rows)) => absent(asked, rows),
        ("rules", Prepared::Numbers(rows)) => rules(asked, form, rows),
        ("queries", Prepared::Numbers(rows)) => queries(asked, rows),
        ("chain" | "star" | "cycle", Prepared::Numbers(rows)) => chain(asked, rows),
        _ => panic!("no such case"),
    }
}

fn directly(
    asked: &Arc<Case>,
    run: impl FnOnce(&mut Worker, &Case, Results) + Send + Sync + 'static,
) -> Ran {
    let asked = asked.clone();
    timely::execute_directly(move |worker| {
        let bag = Results::default();
        let (cpu, began) = (processor_time(), Instant::now());
        run(worker, &asked, bag.clone());
        let (wall, cpu) = (began.elapsed().as_nanos(), processor_time() - cpu);
        Ran { bag: bag.take(), wall, cpu }
    })
}

/// Nanoseconds of processor time of the main thread: the worker is this thread.
fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn streams_of<D: ExchangeData>(
    inputs: Vec<InputSession<u64, D, isize>>,
    rows: Vec<Vec<(u64, D)>>,
) -> Vec<Stream<D>> {
    inputs.into_iter().zip(rows).map(|(input, rows)| Stream { input, rows }).collect()
}

/// `timed`: rows come and leave at their instants; of the changes of the join those at the instant
/// of the later row are its results, the others are expiries.
///
/// `steps`: rows come, and the join is asked for pairs within the window; then those that have left
/// are taken out, and it is asked for nothing.
fn join<K: ExchangeData + Hashed + std::hash::Hash + Sync>(
    asked: &Arc<Case>,
    form: &str,
    rows: Vec<Vec<(u64, (K, (u64, u64)))>>,
) -> Ran {
    let timed = form == "timed";
    directly(asked, move |worker, asked, bag| {
        let probe = ProbeHandle::new();
        let arriving = Rc::new(Cell::new(true));
        let (asks, window) = (arriving.clone(), asked.window);
        let inputs = worker.dataflow(|scope| {
            let (a_in, a) = scope.new_collection::<(K, (u64, u64)), isize>();
            let (b_in, b) = scope.new_collection::<(K, (u64, u64)), isize>();
            let (a, b) = (a.arrange_by_key(), b.arrange_by_key());
            a.join_core(b, move |k, a, b| {
                let wanted = timed || (asks.get() && a.0.abs_diff(b.0) < window);
                wanted.then(|| (k.clone(), a.1, b.1, a.0.max(b.0)))
            })
            .inspect_batch(move |_, found| {
                let mut bag = bag.borrow_mut();
                for ((k, a, b, ts), time, times) in found {
                    if !timed || ts == time {
                        bag.add(mix(mix(mix(0, k.number()), *a), *b), *times);
                    }
                }
            })
            .probe_with(&probe);
            vec![a_in, b_in]
        });
        let streams = streams_of(inputs, rows);
        if timed {
            by_time(worker, asked, streams, &probe, true);
        } else {
            by_step(worker, asked, streams, &probe, |step| arriving.set(step == Step::Arriving));
        }
    })
}

/// Count and sum are the difference of a key, so that arrangements hold keys only.
///
/// `over`: only changes at instants at which a row comes are results; rows leave between them.
fn groups(asked: &Arc<Case>, rows: Vec<Vec<[u64; 4]>>) -> Ran {
    directly(asked, move |worker, asked, bag| {
        let probe = ProbeHandle::new();
        let of_arrivals = asked.kind == "over";
        let inputs = worker.dataflow(|scope| {
            let (input, rows) = scope.new_collection::<(u64, u64), isize>();
            rows.explode(|(k, v)| Some((k, (1isize, v as isize))))
                .count_total()
                .inspect_batch(move |_, found| {
                    let mut bag = bag.borrow_mut();
                    for ((k, (n, sum)), time, times) in found {
                        if *times > 0 && (!of_arrivals || *time % 1_000 == 0) {
                            bag.add(mix(mix(mix(mix(0, *time), *k), *n as u64), *sum as u64), *times);
                        }
                    }
                })
                .probe_with(&probe);
            vec![input]
        });
        let keyed = |[ts, k, v, _]: [u64; 4]| (ts, (k, v));
        let rows = rows.into_iter().map(|stream| stream.into_iter().map(keyed).collect()).collect();
        by_time(worker, asked, streams_of(inputs, rows), &probe, true);
    })
}

fn distinct(asked: &Arc<Case>, rows: Vec<Vec<[u64; 4]>>) -> Ran {
    directly(asked, move |worker, asked, bag| {
        let probe = ProbeHandle::new();
        let inputs = worker.dataflow(|scope| {
            let (input, rows) = scope.new_collection::<u64, isize>();
            rows.distinct_total()
                .inspect_batch(move |_, found| {
                    let mut bag = bag.borrow_mut();
                    for (k, time, times) in found {
                        bag.add(mix(mix(0, *time), *k), *times);
                    }
                })
                .probe_with(&probe);
            vec![input]
        });
        let keyed = |[ts, k, _, _]: [u64; 4]| (ts, k);
        let rows = rows.into_iter().map(|stream| stream.into_iter().map(keyed).collect()).collect();
        by_time(worker, asked, streams_of(inputs, rows), &probe, true);
    })
}

/// Rows of the first stream while their key is not in the second.
fn absent(asked: &Arc<Case>, rows: Vec<Vec<[u64; 4]>>) -> Ran {
    directly(asked, move |worker, asked, bag| {
        let probe = ProbeHandle::new();
        let inputs = worker.dataflow(|scope| {
            let (a_in, a) = scope.new_collection::<(u64, u64), isize>();
            let (b_in, b) = scope.new_collection::<(u64, u64), isize>();
            a.antijoin(b.map(|(k, _)| k).distinct_total())
                .inspect_batch(move |_, found| {
                    let mut bag = bag.borrow_mut();
                    for ((_, v), time, times) in found {
                        bag.add(mix(mix(0, *time), *v), *times);
                    }
                })
                .probe_with(&probe);
            vec![a_in, b_in]
        });
        let keyed = |[ts, k, v, _]: [u64; 4]| (ts, (k, v));
        let rows = rows.into_iter().map(|stream| stream.into_iter().map(keyed).collect()).collect();
        by_time(worker, asked, streams_of(inputs, rows), &probe, true);
    })
}

/// `scan`: a point is compared with each rule. `cells`: with those of its cell of a grid.
fn rules(asked: &Arc<Case>, form: &str, rows: Vec<Vec<[u64; 4]>>) -> Ran {
    let found = asked.table("rules", 4);
    let side = if form == "cells" { (found[1][0] - found[0][0]).max(1) } else { u64::MAX };
    let across = if form == "cells" { 1_000_000 / side + 1 } else { 1 };
    let mut cells: Vec<Vec<(u64, [u64; 4])>> = vec![Vec::new(); (across * across) as usize];
    for i in 0..asked.count {
        let rule = [found[0][i], found[1][i], found[2][i], found[3][i]];
        for x in rule[0] / side..=rule[1] / side {
            for y in rule[2] / side..=rule[3] / side {
                cells[(x * across + y) as usize].push((i as u64, rule));
            }
        }
    }
    directly(asked, move |worker, asked, bag| {
        let probe = ProbeHandle::new();
        let inputs = worker.dataflow(|scope| {
            let (input, points) = scope.new_collection::<(u64, u64, u64), isize>();
            points
                .flat_map(move |(x, y, v)| {
                    let cell = &cells[(x / side * across + y / side) as usize];
                    let accepts = |r: &[u64; 4]| r[0] <= x && x <= r[1] && r[2] <= y && y <= r[3];
                    let of_cell: Vec<(u64, u64)> =
                        cell.iter().filter(|(_, r)| accepts(r)).map(|(id, _)| (*id, v)).collect();
                    of_cell
                })
                .inspect_batch(move |_, found| {
                    let mut bag = bag.borrow_mut();
                    for ((id, v), _, times) in found {
                        bag.add(mix(mix(0, *id), *v), *times);
                    }
                })
                .probe_with(&probe);
            vec![input]
        });
        let keyed = |[ts, x, y, v]: [u64; 4]| (ts, (x, y, v));
        let rows = rows.into_iter().map(|stream| stream.into_iter().map(keyed).collect()).collect();
        by_time(worker, asked, streams_of(inputs, rows), &probe, false);
    })
}

/// One join for all queries, of the longest window and the rows that some query accepts.
fn queries(asked: &Arc<Case>, rows: Vec<Vec<[u64; 4]>>) -> Ran {
    let limits = asked.table("rules", 2);
    directly(asked, move |worker, asked, bag| {
        let probe = ProbeHandle::new();
        let arriving = Rc::new(Cell::new(true));
        let (asks, longest) = (arriving.clone(), limits[0].iter().copied().max().unwrap_or(0));
        let largest = limits[1].iter().copied().max().unwrap_or(0);
        let inputs = worker.dataflow(|scope| {
            let (a_in, a) = scope.new_collection::<(u64, (u64, u64, u64)), isize>();
            let (b_in, b) = scope.new_collection::<(u64, (u64, u64, u64)), isize>();
            let a = a.filter(move |(_, (_, x, _))| *x < largest).arrange_by_key();
            let b = b.arrange_by_key();
            a.join_core(b, move |_, a, b| {
                let apart = a.0.abs_diff(b.0);
                (asks.get() && apart < longest).then_some((apart, a.1, a.2, b.2))
            })
            .inspect_batch(move |_, found| {
                let mut bag = bag.borrow_mut();
                for ((apart, x, a, b), _, times) in found {
                    for (i, (window, limit)) in limits[0].iter().zip(&limits[1]).enumerate() {
                        if apart < window && x < limit {
                            bag.add(mix(mix(mix(0, i as u64), *a), *b), *times);
                        }
                    }
                }
            })
            .probe_with(&probe);
            vec![a_in, b_in]
        });
        let keyed = |[ts, k, x, v]: [u64; 4]| (ts, (k, (ts, x, v)));
        let rows = rows.into_iter().map(|stream| stream.into_iter().map(keyed).collect()).collect();
        let streams = streams_of(inputs, rows);
        by_step(worker, asked, streams, &probe, |step| arriving.set(step == Step::Arriving));
    })
}

/// Joins from left to right: a composite's key is the `j` of its last row, in a star its `k`.
/// In a cycle the last key is the `k` of the first row, which is kept beside the values.
fn chain(asked: &Arc<Case>, rows: Vec<Vec<[u64; 4]>>) -> Ran {
    directly(asked, move |worker, asked, bag| {
        let probe = ProbeHandle::new();
        let several = asked.streams.len();
        let is_star = asked.kind == "star";
        let is_cycle = asked.kind == "cycle";
        let inputs = worker.dataflow(|scope| {
            type Link = (u64, (u64, u64, u64));
            let mut inputs = Vec::new();
            let mut collections = Vec::new();
            for _ in 0..several {
                let (input, rows) = scope.new_collection::<Link, isize>();
                inputs.push(input);
                collections.push(rows);
            }
            let mut rows = collections.into_iter();
            // by j, or in a star by k: the latest ts, and the values so far
            let first = rows.next().expect("a stream");
            let mut known = first.map(move |(k, (ts, j, v))| {
                (if is_star { k } else { j }, (ts, [v, 0, 0, 0, 0, if is_cycle { k } else { 0 }]))
            });
            for (at, next) in rows.enumerate() {
                known = known.arrange_by_key().join_core(next.arrange_by_key(), move |k, l, r| {
                    let mut values = l.1;
                    values[at + 1] = r.2;
                    Some((if is_star { *k } else { r.1 }, (l.0.max(r.0), values)))
                });
            }
            known
                .filter(move |(key, (_, values))| !is_cycle || *key == values[5])
                .inspect_batch(move |_, found| {
                    let mut bag = bag.borrow_mut();
                    for ((_, (ts, values)), time, times) in found {
                        if ts == time {
                            let hash = values[..several].iter().fold(0, |h, v| mix(h, *v));
                            bag.add(hash, *times);
                        }
                    }
                })
                .probe_with(&probe);
            inputs
        });
        let keyed = |[ts, k, j, v]: [u64; 4]| (ts, (k, (ts, j, v)));
        let rows = rows.into_iter().map(|stream| stream.into_iter().map(keyed).collect()).collect();
        by_time(worker, asked, streams_of(inputs, rows), &probe, true);
    })
}
