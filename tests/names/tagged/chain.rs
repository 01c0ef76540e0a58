// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The Specimen authors
// A list of Option<Box<Node>>, in loops, in recursion and through mutable references.
pub struct Node {
    key: i64,
    hits: u32,
    next: Option<Box<Node>>,
}

pub struct List {
    head: Option<Box<Node>>,
    length: usize,
}

#[inline(never)]
fn push(list: &mut List, key: i64) {
    let next = list.head.take();
    let node = Box::new(Node { key, hits: 0, next });
    list.head = Some(node); /* T: List.head */
    list.length += 1; /* T: List.length */
}

#[inline(never)]
fn sum(list: &List) -> i64 {
    let mut total = 0i64;
    let mut at = &list.head;
    while let Some(node) = at { /* T: List.head; Node.next; Option */
        total = total.wrapping_add(node.key); /* T: Node.key; Option */
        at = &node.next;
    }
    total
}

#[inline(never)]
fn count(node: &Option<Box<Node>>) -> usize {
    match node { /* T: List.head; Node.next; Option */
        Some(n) => 1 + count(&n.next), /* T: Option */
        None => 0,
    }
}

#[inline(never)]
fn touch(list: &mut List, key: i64) -> bool {
    let mut at = &mut list.head;
    while let Some(node) = at { /* T: List.head; Node.next; Option */
        if node.key == key { /* T: Node.key; Option */
            node.hits = node.hits.wrapping_add(1); /* T: Node.hits; Option */
            return true;
        }
        at = &mut node.next;
    }
    false
}

#[inline(never)]
fn reverse(list: &mut List) {
    let mut done: Option<Box<Node>> = None; /* T: Option */
    let mut rest = list.head.take();
    while let Some(mut node) = rest { /* T: Node.next; Option; Box */
        rest = node.next.take(); /* T: Option */
        node.next = done; /* T: Node.next; Option */
        done = Some(node); /* T: Option; Box */
    }
    list.head = done; /* T: List.head; Option */
}

#[inline(never)]
fn most(list: &List) -> u32 {
    let mut best = 0;
    let mut at = list.head.as_deref();
    while let Some(node) = at { /* T: Option */
        if node.hits > best { /* T: Node.hits */
            best = node.hits; /* T: Node.hits */
        }
        at = node.next.as_deref(); /* T: Option */
    }
    best
}

fn main() {
    let n = std::env::args().count() as i64 * 100;
    let mut list = List { head: None, length: 0 };
    for i in 0..n {
        push(&mut list, i);
    }
    touch(&mut list, n / 2);
    reverse(&mut list);
    println!("{} {} {} {}", sum(&list), count(&list.head), most(&list), list.length); /* T: List.head; List.length */
}
