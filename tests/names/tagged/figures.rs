// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The Specimen authors
// Traits behind dyn, enums with payload, generic functions.
pub trait Figure {
    fn area(&self) -> f64;
    fn grow(&mut self, by: f64);
}

pub struct Circle {
    id: u32,
    radius: f64,
}

pub struct Rectangle {
    width: f64,
    height: f64,
    grown: u64,
}

impl Figure for Circle {
    #[inline(never)]
    fn area(&self) -> f64 {
        self.radius * self.radius * 3.14 /* T: Circle.radius */
    }
    #[inline(never)]
    fn grow(&mut self, by: f64) {
        self.radius += by; /* T: Circle.radius */
        self.id ^= 1; /* T: Circle.id */
    }
}

impl Figure for Rectangle {
    #[inline(never)]
    fn area(&self) -> f64 {
        self.width * self.height /* T: Rectangle.width; Rectangle.height */
    }
    #[inline(never)]
    fn grow(&mut self, by: f64) {
        self.width += by; /* T: Rectangle.width */
        self.height += by; /* T: Rectangle.height */
        self.grown = self.grown.wrapping_add(1); /* T: Rectangle.grown */
    }
}

pub enum Order {
    Grow(f64),
    Move { x: i32, y: i32 },
    Rename(u64),
    Stop,
}

pub struct Canvas {
    x: i64,
    y: i64,
    name: u64,
    scale: f64,
    figures: Vec<Box<dyn Figure>>,
}

#[inline(never)]
fn obey(canvas: &mut Canvas, order: &Order) -> bool {
    match order { /* T: Order */
        Order::Grow(by) => canvas.scale += *by, /* T: Canvas.scale; Grow.__0; f64 */
        Order::Move { x, y } => { /* T: Order */
            canvas.x = canvas.x.wrapping_add(*x as i64); /* T: Canvas.x; Move.x; Move.y; Canvas.y; i32 */
            canvas.y = canvas.y.wrapping_add(*y as i64); /* T: Canvas.y; Move.y; Move.x; Canvas.x; i32 */
        }
        Order::Rename(name) => canvas.name = *name, /* T: Canvas.name; Rename.__0; u64 */
        Order::Stop => return false,
    }
    true
}

#[inline(never)]
fn distance(order: &Order) -> i32 {
    if let Order::Move { x, y } = order { /* T: Order */
        return x.wrapping_mul(*y); /* T: Move.x; Move.y */
    }
    0
}

#[inline(never)]
fn total(canvas: &Canvas) -> f64 { /* T: Vec */
    let mut sum = 0.0;
    let mut i = 0;
    while i < canvas.figures.len() { /* T: Vec */
        sum += canvas.figures[i].area(); /* T: Box; &dyn Figure; Vec; usize */
        i += 1;
    }
    sum
}

#[inline(never)]
fn one(figure: &dyn Figure) -> f64 {
    figure.area() /* T: &dyn Figure; usize */
}

fn bigger<T: Figure, U: Figure>(a: &T, b: &U) -> bool {
    a.area() > b.area()
}

fn main() {
    let n = std::env::args().count() as f64;
    let mut circle = Circle { id: 1, radius: n };
    let rectangle = Rectangle { width: n, height: 2.0, grown: 0 };
    let larger = bigger(&circle, &rectangle);
    circle.grow(n);
    let mut canvas = Canvas { x: 0, y: 0, name: 0, scale: 1.0, figures: Vec::new() };
    canvas.figures.push(Box::new(circle));
    canvas.figures.push(Box::new(rectangle));
    let orders = [
        Order::Grow(n),
        Order::Move { x: n as i32, y: 2 },
        Order::Rename(n as u64),
        Order::Stop,
    ];
    let mut obeyed = 0;
    for order in &orders {
        obeyed += obey(&mut canvas, order) as i32 + distance(order); /* T: Order */
    }
    for figure in canvas.figures.iter_mut() {
        figure.grow(1.0); /* T: Box; &dyn Figure; usize */
    }
    println!("{} {} {} {}", total(&canvas), one(&*canvas.figures[0]), obeyed, larger); /* T: Box; &dyn Figure; usize */
    println!("{} {} {} {}", canvas.x, canvas.y, canvas.name, canvas.scale);
}
