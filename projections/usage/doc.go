// Package usage is the view of what turns cost, by when they ended, session, who answered and what came of them: usage.go
// what is known, fold.go how it is counted, codec.go how it is stored, read.go how it is added up.
//
// What bites: prices are none of its business, Model.Money takes them; turns that run are in no sum.
package usage
