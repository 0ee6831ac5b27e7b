// Package words finds code that compares the words of a text it must not read. It loads a module with its types (Load),
// follows values from the fields that hold such texts, through variables, fields, parameters, results, closures and
// helpers of any package of the module, and reports where one is compared with anything: ==, a switch, a key of a map,
// strings.Contains and its kin, a regular expression, a number or a time read out of it (Program.Check).
//
// What counts is words. A blank output, its length, its characters one by one, or a needle without a letter or a digit,
// such as a line's end, may be looked at.
//
// What bites: the analysis is one of flow through places, not of single runs. It knows no order of statements, takes a
// field for the same in all values of its struct, and loses a text that is taken to bits (a hash, a byte, an encoded
// event) or that passes through reflection. What it reports is a reason to look; what it does not is no proof.
package words
