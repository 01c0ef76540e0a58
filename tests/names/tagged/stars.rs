// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The Specimen authors
// Structs in a Vec, slices of structs and of numbers, arrays in structs, tuples, statics.
use std::sync::atomic::{AtomicU64, Ordering};

#[repr(C)]
pub struct Star {
    mass: f64,
    at: [f64; 3],
    name: u32,
    pair: (u16, u64),
}

pub struct Sky {
    stars: Vec<Star>,
    seen: u64,
    limits: [u32; 4],
}

pub struct Counters {
    reads: AtomicU64,
    writes: AtomicU64,
}

static COUNTERS: Counters = Counters { reads: AtomicU64::new(0), writes: AtomicU64::new(0) };

#[inline(never)]
fn mass(stars: &[Star]) -> f64 {
    let mut sum = 0.0;
    for star in stars { /* T: Iter; Option */
        sum += star.mass; /* T: Star.mass */
    }
    sum
}

#[inline(never)]
fn shift(stars: &mut [Star], by: &[f64; 3]) {
    for star in stars.iter_mut() { /* T: Iter; IterMut; Option; f64 */
        star.at[0] += by[0]; /* T: Star.at; f64 */
        star.at[1] += by[1]; /* T: Star.at; f64 */
        star.at[2] += by[2]; /* T: Star.at; f64 */
    }
}

#[inline(never)]
fn rename(stars: &mut [Star], first: u32) {
    let mut i = 0;
    while i < stars.len() {
        stars[i].name = first.wrapping_add(i as u32); /* T: Star.name */
        stars[i].pair.0 = 7; /* T: (u16, u64).__0 */
        stars[i].pair.1 ^= first as u64; /* T: (u16, u64).__1 */
        i += 1;
    }
}

#[inline(never)]
fn heaviest(sky: &Sky) -> Option<&Star> {
    let mut best: Option<&Star> = None; /* T: Option */
    for star in &sky.stars { /* T: Iter; Option; Vec */
        match best { /* T: Option */
            Some(b) if b.mass >= star.mass => {} /* T: Star.mass; Option */
            _ => best = Some(star), /* T: Option */
        }
    }
    best
}

#[inline(never)]
fn name_of(sky: &Sky) -> u32 {
    match heaviest(sky) { /* T: Option; Vec */
        Some(star) => star.name, /* T: Star.name; Option */
        None => sky.limits[0], /* T: Sky.limits */
    }
}

#[inline(never)]
fn look(sky: &mut Sky, at: usize) -> f64 {
    sky.seen = sky.seen.wrapping_add(1); /* T: Sky.seen */
    sky.limits[at & 3] = at as u32; /* T: Sky.limits; u32 */
    if at < sky.stars.len() { /* T: Vec */
        let star = unsafe { sky.stars.get_unchecked(at) }; /* T: Vec */
        return star.mass; /* T: Star.mass */
    }
    sky.stars[0].at[at & 1] /* T: Star.at; Vec; f64 */
}

#[inline(never)]
fn total(numbers: &[u64]) -> u64 {
    let mut sum = 0u64;
    let mut i = 0;
    while i < numbers.len() {
        sum = sum.wrapping_add(numbers[i]); /* T: u64 */
        i += 1;
    }
    sum
}

#[inline(never)]
fn count() -> u64 {
    COUNTERS.reads.fetch_add(1, Ordering::Relaxed);
    COUNTERS.writes.store(2, Ordering::Relaxed);
    COUNTERS.reads.load(Ordering::Relaxed)
}

fn main() {
    let n = std::env::args().count() * 64;
    let mut sky = Sky { stars: Vec::new(), seen: 0, limits: [0; 4] };
    for i in 0..n {
        sky.stars.push(Star { mass: i as f64, at: [0.0; 3], name: 0, pair: (1, 2) });
    }
    shift(&mut sky.stars, &[1.0, 2.0, n as f64]);
    rename(&mut sky.stars, n as u32);
    let numbers: Vec<u64> = (0..n as u64).collect();
    let seen = look(&mut sky, n / 2) + look(&mut sky, n * 2);
    println!("{} {} {} {} {}", mass(&sky.stars), name_of(&sky), total(&numbers), count(), seen);
}
