// Package order sorts lists of large structs, and compares truth values.
//
// slices.SortFunc is compiled anew for each type of element: 10 to 25 kB of code for a struct of some hundred bytes, and about as
// much again of tables for it. Here the places of the elements are sorted, which are numbers whatever the elements are, and then each
// is moved once: it takes as long (BenchmarkBy), and a second list while it lasts. Numbers, texts and pointers are better off with
// package slices.
package order

import (
	"cmp"
	"slices"
)

// By sorts list by compare, which returns a number below 0 where a comes before b. What is equal stays in its order.
func By[E any](list []E, compare func(a, b E) int) {
	sorted := make([]E, 0, len(list))
	for _, p := range places(len(list), func(a, b int) int { return compare(list[a], list[b]) }) {
		sorted = append(sorted, list[p])
	}
	copy(list, sorted)
}

// places returns the numbers below n in the order of compare, what is equal by number. It has no type parameter: what it calls is
// compiled in this package, and not again in each that imports it.
func places(n int, compare func(a, b int) int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(compare(a, b), a-b) })
	return order
}

// Bools compares two truth values: false comes before true.
func Bools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
