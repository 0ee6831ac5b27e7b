// Package jsonscan reads JSON texts without building anything. It is linked into the program that agents start at every
// tool call, so it uses nothing but the standard library, and not encoding/json, which is slow to start.
//
//   - Scanner, Valid, Scalars and StringMember are strict: what they take encoding/json takes, and nothing else.
//   - Members, Elements, ValueEnd and StringEnd look at brackets and quotes alone, and are as fast as that allows. They are for
//     texts that are known to be valid, or that somebody else reads later. StringEnd and ValueEnd say where a text was cut.
//   - CutMembers, CutElements, CutText and UnquoteCut read texts that may be cut off, as inputs of tools are recorded, as far as
//     they go.
//   - Unquote, Text, AppendUnquoted and AppendQuoted decode and encode strings.
//
// The files, each referring to those below it:
//
//	scanner.go, cut.go, skip.go, strings.go
package jsonscan
