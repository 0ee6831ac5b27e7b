// Package words finds code that compares the words of a text it must not read. It loads a module with its types (Load),
// follows values from the fields that hold such texts, and reports where one is compared with anything: ==, a switch, a key
// of a map, strings.Contains and its kin, a regular expression, a number or a time read out of it, a sum of it
// (Program.Check).
//
// What is followed:
//   - through the module: variables, fields, parameters, results, what a function writes to its arguments, channels, closures,
//     generic helpers, methods and functions as values, and calls through the module's interfaces. A field is the same in all
//     values of its struct.
//   - through everybody else's functions: what one returns is words where it is given some, be it text, bytes, a struct or an
//     interface. One that is given two things that can hold words, and answers with yes or no or with a bare number, compares
//     them. Functions among its arguments are called with the others.
//   - of whole values: what is made of a struct that holds words is words: printed, encoded, filled into a template, read by
//     reflection, compared. So are errors made of them, and sums.
//
// What may be looked at: a blank output, its length, its characters one by one, a needle without a letter or a digit, such
// as a line's end, and an error's type and identity.
//
// What bites: the analysis is one of flow through places, not of single runs, and it knows no order of statements. It loses
// words that leave the program and come back (files, sockets, databases, what is sent over net/http, log/slog or to an
// actor, a context's values), that are told by characters, lengths or counts, that pass through a file that the rules allow,
// that a function of others hands to a method of the module (but Write, where it sees whose it is), or that are written
// through a pointer that a function returned. An error that a foreign function returns beside other results, or from a
// method, is taken for its own. A function that nobody calls is handed nothing. What the check reports is a reason to look;
// what it does not is no proof.
package words
