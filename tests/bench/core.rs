//! What the core costs per call: `cargo bench -p faultwire-core`. `patterns_speed.py` holds the targets.
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use faultwire_core::grpc::{self, GrpcSplitter};
use faultwire_core::patterns::{Options, engine};
use faultwire_core::sse::SseSplitter;
use faultwire_core::text::compare;

const MESSAGE: &str = "Order 48213 for Jane Doe <jane.doe@example.org> left the warehouse on 2026-03-04; \
the carrier says two more days. I asked whether the invoice over 1,240.50 EUR can be split, and they \
agreed, provided that both parts are paid before the end of the month. ";

fn text(bytes: usize) -> String {
    MESSAGE.chars().cycle().take(bytes).collect()
}

fn scanning(bench: &mut Criterion) {
    let options = Options::default();
    let patterns = engine().expect("the built-in patterns compile");
    let mut group = bench.benchmark_group("scan");
    for bytes in [4 << 10, 1 << 20] {
        let text = text(bytes);
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(format!("{} KiB of messages", bytes >> 10), |b| {
            b.iter(|| patterns.scan(black_box(text.as_bytes()), &options));
        });
    }
    group.finish();
}

fn comparing(bench: &mut Criterion) {
    let (a, b) = (
        text(1 << 10),
        text(1 << 10).replace("two more", "three more"),
    );
    bench.bench_function("compare two answers of 1 KiB", |bench| {
        bench.iter(|| compare::compare(black_box(&a), black_box(&b)));
    });
}

fn framing(bench: &mut Criterion) {
    let event = format!("data: {}\n\n", "x".repeat(142));
    let stream = event.repeat(1 << 13);
    let mut group = bench.benchmark_group("server-sent events");
    group.throughput(Throughput::Bytes(stream.len() as u64));
    group.bench_function("150-byte events in 16 KiB chunks", |bench| {
        bench.iter(|| {
            let (mut splitter, mut events) = (SseSplitter::default(), 0);
            for chunk in stream.as_bytes().chunks(16 << 10) {
                splitter.feed(black_box(chunk), |_| events += 1);
            }
            events
        });
    });
    group.finish();
}

fn grpc_framing(bench: &mut Criterion) {
    let frame = grpc::write(&[b'x'; 145], false).expect("the message is short");
    let stream = frame.repeat(1 << 13);
    let mut group = bench.benchmark_group("gRPC");
    group.throughput(Throughput::Bytes(stream.len() as u64));
    group.bench_function("150-byte frames in 16 KiB chunks", |bench| {
        bench.iter(|| {
            let (mut splitter, mut frames) = (GrpcSplitter::default(), 0);
            for chunk in stream.chunks(16 << 10) {
                splitter.feed(black_box(chunk), |_| frames += 1);
            }
            frames
        });
    });
    group.finish();
}

criterion_group!(benches, scanning, comparing, framing, grpc_framing);
criterion_main!(benches);
