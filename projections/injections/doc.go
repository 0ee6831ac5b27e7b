// Package injections is the view of which rows an agent was given, and when, and of those that it asked for. Its one file has the tables, what
// is entered into them, and what a session was given.
//
// What bites: it holds ids, never words.
package injections
