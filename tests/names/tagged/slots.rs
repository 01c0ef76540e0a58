// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The Specimen authors
// A hash table of enums, Results, byte slices and strings, structs by value on the stack.
#[derive(Clone, Copy)]
pub enum Slot {
    Free,
    Used { key: u64, value: i32 },
    Gone(u64),
}

pub struct Table {
    slots: Vec<Slot>,
    used: usize,
    probes: u64,
}

pub struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    lines: u32,
}

#[derive(Debug)]
pub enum Trouble {
    End(usize),
    Letter { at: usize, letter: u8 },
}

pub struct Point {
    x: i32,
    y: i32,
    z: i64,
}

#[inline(never)]
fn put(table: &mut Table, key: u64, value: i32) -> bool {
    let size = table.slots.len(); /* T: Vec */
    let slots = table.slots.as_mut_slice();
    let mut i = key as usize % size;
    for _ in 0..size {
        let slot = &mut slots[i];
        match slot { /* T: Slot */
            Slot::Used { key: k, value: v } if *k == key => { /* T: Used.key */
                *v = value; /* T: Used.value; i32 */
                return false;
            }
            Slot::Used { .. } => table.probes = table.probes.wrapping_add(1), /* T: Table.probes */
            _ => {
                *slot = Slot::Used { key, value }; /* T: Slot; Used.key; Used.value */
                table.used += 1; /* T: Table.used */
                return true;
            }
        }
        i = (i + 1) % size;
    }
    false
}

#[inline(never)]
fn get(table: &Table, key: u64) -> Option<i32> {
    for slot in &table.slots { /* T: Iter; Option; Vec */
        if let Slot::Used { key: k, value } = slot { /* T: Slot */
            if *k == key { /* T: Used.key */
                return Some(*value); /* T: Used.value; Option */
            }
        }
    }
    None
}

#[inline(never)]
fn gone(slot: &Slot) -> u64 {
    match *slot { /* T: Slot */
        Slot::Gone(when) => when, /* T: Gone.__0 */
        Slot::Used { key, .. } => key, /* T: Used.key */
        Slot::Free => 0,
    }
}

#[inline(never)]
fn digit(reader: &mut Reader) -> Result<u8, Trouble> {
    if reader.at >= reader.text.len() { /* T: Reader.at; &[u8] */
        return Err(Trouble::End(reader.at)); /* T: Reader.at; End.__0; Result; Trouble */
    }
    let letter = reader.text[reader.at]; /* T: Reader.at; &[u8]; u8 */
    reader.at += 1; /* T: Reader.at */
    if letter == b'\n' {
        reader.lines += 1; /* T: Reader.lines */
    }
    if letter < b'0' {
        return Err(Trouble::Letter { at: reader.at, letter }); /* T: Reader.at; Letter.at; Letter.letter; Result; Trouble */
    }
    Ok(letter - b'0')
}

#[inline(never)]
fn spaces(text: &[u8]) -> usize {
    let mut n = 0;
    for i in 0..text.len() { /* T: Range; Option */
        if text[i] == b' ' { /* T: u8 */
            n += 1;
        }
    }
    n
}

#[inline(never)]
fn far(p: &Point, q: Point) -> i64 {
    let dx = p.x.wrapping_sub(q.x); /* T: Point.x */
    let dy = p.y.wrapping_sub(q.y); /* T: Point.y; Point.x */
    (dx as i64 + dy as i64).wrapping_add(p.z).wrapping_sub(q.z) /* T: Point.z */
}

fn main() {
    let n = std::env::args().count() as u64 * 50;
    let mut table = Table { slots: vec![Slot::Free; 128], used: 0, probes: 0 };
    for i in 0..n {
        put(&mut table, i * 31, i as i32);
    }
    table.slots[3] = Slot::Gone(n);
    let text = format!("12 3\n4 {}", n); /* T: String; Reader.text */
    let mut reader = Reader { text: text.as_bytes(), at: 0, lines: 0 };
    let mut bad = 0;
    for _ in 0..n {
        match digit(&mut reader) {
            Ok(d) => bad += d as usize,
            Err(Trouble::End(at)) => bad += at,
            Err(Trouble::Letter { at, letter }) => bad += at + letter as usize,
        }
    }
    let p = Point { x: n as i32, y: 2, z: 3 };
    let q = Point { x: 5, y: n as i32, z: n as i64 };
    println!("{:?} {} {}", get(&table, 62), gone(&table.slots[3]), far(&p, q));
    println!("{} {} {} {} {}", bad, spaces(text.as_bytes()), table.used, table.probes, reader.lines);
}
