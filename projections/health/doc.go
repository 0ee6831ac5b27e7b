// Package health is the view of how the observer does: fold.go counts turns, with turn.go what one has added and rulings.go
// what supervision decided; read.go adds spans up into a Report; findings.go says what is not well, words.go in which words.
//
// What bites: counts go by when a turn ended as recorded, and forgotten turns are taken back from them.
package health
