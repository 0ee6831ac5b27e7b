// Package report draws what policies made of a scenario: one self-contained HTML page (Write), and the figures, lanes and
// strips that other drawings of the same comparison share with it (Figures, Lanes, Strip).
//
// The page loads nothing, runs nothing, and forbids both to whatever a recorded output may hold; its size is bounded however
// long the recording is. It reads on a laptop, on a telephone, in the dark and on paper, and without colours.
//
// The files, each referring to those below it:
//
//	write.go, page.go, markup.go, verdict.go, timeline.go, table.go, curves.go, axis.go, text.go, lanes.go, figures.go
//
// What bites: the page quotes the beginnings of outputs that were dropped. Whoever passes it on passes those on.
package report
