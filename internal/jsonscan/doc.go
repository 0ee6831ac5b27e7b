// Package jsonscan reads JSON texts without building anything. It is linked into the program that agents start at every
// tool call, so it uses nothing but the standard library, and not encoding/json, which is slow to start.
//
//   - Scanner, Valid, Scalars and StringMember are strict: what they take encoding/json takes, and nothing else.
//   - Members, Elements, ValueEnd and StringEnd look at brackets and quotes alone, and are as fast as that allows. They are for
//     texts that are known to be valid, or that somebody else reads later. StringEnd and ValueEnd say where a text was cut.
//   - Unquote, Text, AppendUnquoted and AppendQuoted decode and encode strings.
//
// Inputs of tools are recorded cut off, and read as far as they go by readers of their own: evidence, the extractive observer
// and projections each take from a broken text what it needs.
//
// The files, each referring to those below it:
//
//	scanner.go, skip.go, strings.go
package jsonscan
