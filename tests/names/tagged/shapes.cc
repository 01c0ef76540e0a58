/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Classes: virtual calls, base classes, members of both. */
namespace geometry {
class Shape {
public:
    virtual double area() const = 0;
    virtual void grow(double by) = 0;
    int id = 1;
    long drawn = 0;
};

class Circle : public Shape {
public:
    double radius = 1;
    double area() const override;
    void grow(double by) override;
};

class Box : public Shape {
public:
    double width = 1, height = 2;
    double area() const override;
    void grow(double by) override;
};

__attribute__((noinline)) double Circle::area() const
{
    return radius * radius; /* T: geometry::Circle.radius */
}

__attribute__((noinline)) void Circle::grow(double by)
{
    radius += by; /* T: geometry::Circle.radius */
    drawn++; /* T: geometry::Shape.drawn */
}

__attribute__((noinline)) double Box::area() const
{
    return width * height; /* T: geometry::Box.width; geometry::Box.height */
}

__attribute__((noinline)) void Box::grow(double by)
{
    width += by; /* T: geometry::Box.width */
    height += by; /* T: geometry::Box.height */
    id += 3; /* T: geometry::Shape.id */
}
} // namespace geometry

using geometry::Shape;

__attribute__((noinline)) double all(Shape **shapes, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) {
        Shape *s = shapes[i]; /* T: geometry::Shape * */

        sum += s->area(); /* T: geometry::Shape._vptr.Shape; geometry::Shape._vptr$Shape; function *; __vtbl_ptr_type * */
        s->drawn += 1; /* T: geometry::Shape.drawn */
    }
    return sum;
}

__attribute__((noinline)) int number(const Shape &s)
{
    return s.id; /* T: geometry::Shape.id */
}

int main()
{
    static geometry::Circle circle;
    static geometry::Box box;
    Shape *shapes[] = {&circle, &box, &circle};

    circle.grow(2);
    box.grow(3);
    return all(shapes, 3) + number(box) == 12345.0;
}
