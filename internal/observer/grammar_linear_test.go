package observer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/growth"
	"github.com/cmemd/cmemd/testkit/race"
)

// hostile are outputs that punish a parser which looks back or searches again.
func hostile() map[string]func(size int) string {
	repeat := func(s string) func(int) string {
		return func(size int) string { return strings.Repeat(s, size/len(s)) }
	}
	led := func(head, s, tail string) func(int) string {
		return func(size int) string { return head + strings.Repeat(s, size/len(s)) + tail }
	}
	return map[string]func(int) string{
		"nested roots":               repeat("<observation>"),
		"nested roots of two names":  repeat("<observation><summary>"),
		"roots closed at the end":    halves("<observation><title>x</title>", "</observation>"),
		"crossed roots":              halves("<summary>", "</observation>"),
		"titles left open":           led("<observation>", "<title>", "</observation>"),
		"titles around roots":        repeat("<observation><title>"),
		"titles closed at the end":   halves("<observation><title>", "</title></observation>"),
		"CDATA left open":            led("<observation><title>", cdataOpen, "</title></observation>"),
		"CDATA closed at the end":    led("<observation><title>", cdataOpen, cdataClose+"</title></observation>"),
		"comments left open":         led("<observation>", commentOpen, "<title>x</title></observation>"),
		"comments closed at the end": led("<observation>", commentOpen, commentClose+"</observation>"),
		"reasoning left open":        repeat("<think>"),
		"reasoning again and again":  repeat("<think></think>"),
		"reasoning of two names":     repeat("<think></thinking>"),
		"ampersands":                 led("<observation><title>", "&", "</title></observation>"),
		"names of blanks":            led("<observation><title>", "&nbsp;", "</title></observation>"),
		"entities left open":         led("<observation><title>", "&#00000000000", "</title></observation>"),
		"closing roots":              repeat("</observation>"),
		"less-than signs":            repeat("<"),
		"spaces in brackets":         repeat("<    /    "),
		"attributes left open":       repeat(`<observation a="`),
		"attributes of both quotes":  repeat(`<observation a='"`),
		"tags in attributes":         repeat(`<title a="<title" b='<title' `),
		"equals signs":               led("<observation ", "= ", ">"),
		"one long name":              led("<", "observation", ">"),
		"items":                      led("<observation><facts>", "<fact>x</fact>", "</facts></observation>"),
		"items left open":            led("<observation><facts>", "<fact>", "</facts></observation>"),
		"same concept":               led("<observation><concepts>", "<concept>x:y</concept>", "</concepts></observation>"),
		"observations":               repeat("<observation><title>x</title></observation>"),
		"ghosts":                     repeat("<summary></summary>"),
		"skips":                      repeat(`<skip_summary reason="x"/>`),
		"attributes of one skip":     led("<skip_summary ", "a=b ", "/>"),
		"one grapheme":               led("<observation><title>e", "\u0301", "</title></observation>"),
		"bad bytes":                  led("<observation><title>", "\xff", "</title></observation>"),
		"blanks":                     led("<observation><title>", "\u200b", "</title></observation>"),
		"prose":                      repeat("nothing to say. "),
	}
}

func halves(first, second string) func(int) string {
	return func(size int) string {
		n := size / (len(first) + len(second))
		return strings.Repeat(first, n) + strings.Repeat(second, n)
	}
}

func TestParseIsLinear(t *testing.T) {
	for name, output := range hostile() {
		t.Run(name, func(t *testing.T) {
			growth.Linear(t, name, 1<<17, func(size int) { Parse(output(size), events.TurnObservation, nil) })
		})
	}
}

// TestParseHugeOutputs holds ten megabytes of each to the second that is promised. One measurement on a busy machine
// says little, so that the best of several counts. A quadratic parser takes minutes to hours.
func TestParseHugeOutputs(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("reads 350 MB in all, in a time that the race detector does not keep to")
	}
	const tries, bound = 20, time.Second
	for name, output := range hostile() {
		t.Run(name, func(t *testing.T) {
			text, best := output(10<<20), time.Duration(1<<62)
			for range tries {
				if best = min(best, took(text)); best < bound {
					return
				}
			}
			t.Errorf("10 MB: got %v as the best of %d, want under %v", best, tries, bound)
		})
	}
}

func took(text string) time.Duration {
	return growth.Took(func() { Parse(text, events.TurnObservation, nil) })
}

func BenchmarkParse(b *testing.B) {
	typical := Observation{
		Type: "bugfix", Title: "Close the log on a commit error", Narrative: strings.Repeat("It went on & on. ", 40),
		Facts: []string{"one fact", "another one"}, Concepts: []string{"gotcha"}, FilesRead: []string{"a/b.go"},
	}
	outputs := map[string]string{"typical": string(typical.AppendXML(typical.AppendXML(nil)))}
	for name, output := range hostile() {
		outputs[fmt.Sprint("10MB/", name)] = output(10 << 20)
	}
	for name, output := range outputs {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(output)))
			b.ReportAllocs()
			for b.Loop() {
				Parse(output, events.TurnObservation, codeTypes())
			}
		})
	}
}
