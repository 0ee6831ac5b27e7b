// Package order sorts lists of large structs.
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
	places := make([]int, len(list))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return cmp.Or(compare(list[a], list[b]), a-b) })
	sorted := make([]E, 0, len(list))
	for _, p := range places {
		sorted = append(sorted, list[p])
	}
	copy(list, sorted)
}
