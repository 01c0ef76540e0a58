// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The Specimen authors
// A generic tree of Option<Box<Branch<V>>>, an arena with indices, and Rc<Cell>.
use std::cell::Cell;
use std::rc::Rc;

pub struct Branch<V> {
    key: u64,
    value: V,
    left: Option<Box<Branch<V>>>,
    right: Option<Box<Branch<V>>>,
}

#[derive(Clone, Copy)]
pub struct Leaf {
    weight: u32,
    colour: u8,
}

pub struct Cellar {
    up: usize,
    price: i64,
}

pub struct Arena {
    cellars: Vec<Cellar>,
    root: usize,
}

pub struct Shared {
    uses: Cell<u64>,
    limit: u64,
}

#[inline(never)]
fn insert(at: &mut Option<Box<Branch<Leaf>>>, key: u64, value: Leaf) {
    match at { /* T: Option; Branch.left; Branch.right */
        None => *at = Some(Box::new(Branch { key, value, left: None, right: None })), /* T: Option; Branch; Branch.key; Branch.value; Branch.left; Branch.right; Leaf.weight; Leaf.colour; Branch.__0; Box */
        Some(branch) => {
            if key < branch.key { /* T: Branch.key; Option */
                insert(&mut branch.left, key, value)
            } else if key > branch.key { /* T: Branch.key; Option */
                insert(&mut branch.right, key, value)
            } else {
                branch.value = value; /* T: Branch.value; Leaf; Leaf.weight; Leaf.colour; Option */
            }
        }
    }
}

#[inline(never)]
fn find(root: &Option<Box<Branch<Leaf>>>, key: u64) -> Option<&Leaf> {
    let mut at = root;
    while let Some(branch) = at { /* T: Option; Branch.left; Branch.right */
        if branch.key == key { /* T: Branch.key; Option */
            return Some(&branch.value);
        }
        at = if key < branch.key { &branch.left } else { &branch.right }; /* T: Branch.key; Option */
    }
    None
}

#[inline(never)]
fn weigh(at: &Option<Box<Branch<Leaf>>>) -> u64 {
    match at { /* T: Option; Branch.left; Branch.right */
        None => 0,
        Some(branch) => {
            let colour = branch.value.colour; /* T: Leaf.colour; Option */
            (branch.value.weight as u64 + colour as u64) /* T: Leaf.weight; Option */
                .wrapping_add(weigh(&branch.left)) /* T: Branch.left; Option */
                .wrapping_add(weigh(&branch.right)) /* T: Branch.right; Option */
        }
    }
}

#[inline(never)]
fn climb(arena: &Arena, start: usize) -> i64 { /* T: Arena.root; Vec */
    let mut sum = 0i64;
    let mut at = start;
    while at != arena.root { /* T: Arena.root */
        let cellar = &arena.cellars[at]; /* T: Vec; Arena.cellars */
        sum = sum.wrapping_add(cellar.price); /* T: Cellar.price */
        at = cellar.up; /* T: Cellar.up */
    }
    sum
}

#[inline(never)]
fn raise(arena: &mut Arena, by: i64) {
    let root = arena.root; /* T: Arena.root */
    for cellar in arena.cellars.iter_mut() { /* T: Iter; IterMut; Vec; Option */
        cellar.price = cellar.price.wrapping_add(by); /* T: Cellar.price */
        cellar.up = root; /* T: Cellar.up */
    }
}

#[inline(never)]
fn share(shared: &Rc<Shared>) -> bool {
    let used = shared.uses.get(); /* T: Cell */
    shared.uses.set(used.wrapping_add(1));
    used < shared.limit /* T: Shared.limit; Rc; RcBox; RcInner; NonNull */
}

fn main() {
    let n = std::env::args().count() as u64 * 100;
    let mut root = None;
    for i in 0..n {
        insert(&mut root, i * 7919 % 101, Leaf { weight: i as u32, colour: i as u8 });
    }
    let found = find(&root, 7).map_or(0, |leaf| leaf.weight);
    let mut arena = Arena { cellars: Vec::new(), root: 0 };
    for i in 0..n as usize {
        arena.cellars.push(Cellar { up: i / 2, price: i as i64 });
    }
    let sum = climb(&arena, n as usize - 1);
    raise(&mut arena, 2);
    let shared = Rc::new(Shared { uses: Cell::new(n), limit: 5 });
    let copy = Rc::clone(&shared);
    println!("{} {} {} {}", weigh(&root), found, sum, share(&shared) | share(&copy));
}
