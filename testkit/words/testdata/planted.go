// Package planted reads words that nobody may read, in every way that the check knows. A line that it must report says so.
package planted

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

func direct(e events.TurnReceived) bool {
	return e.Output == "session exhausted" // want
}

func unequal(e *events.TurnFailed) bool { return "rate_limit" != e.Message } // want

func contained(f *observer.Failure) bool {
	return strings.Contains(f.Message, "limit") // want
}

func local(e events.TurnReceived) bool {
	text := e.Output
	lower := strings.ToLower(strings.TrimSpace(text))
	return strings.HasPrefix(lower, "you've hit") // want
}

func helped(e events.OutputDropped) bool { return exhausted(1, e.Preview) }

func exhausted(_ int, text string) bool {
	return strings.Contains(text, "exhausted") // want
}

func helpedTwice(r observer.Reply) string {
	first, _ := strings.CutPrefix(firstLine(r.Text), "API Error: ") // want
	return first
}

func firstLine(s string) string {
	before, _, _ := strings.Cut(s, "\n")
	return before
}

type watcher struct {
	last  string
	told  string
	seen  map[string]int
	check func(string) bool
}

func (w *watcher) remember(e events.TurnReceived) { w.last = e.Output }

func (w *watcher) bad() bool {
	return strings.EqualFold(w.last, "prompt is too long") // want
}

func (w watcher) isBad(text string) bool {
	return text == "bad" // want
}

func method(e events.TurnReceived) bool { return watcher{}.isBad(e.Output) }

func expression(e *events.TurnFailed) bool {
	return regexp.MustCompile(`resets (\d+)`).MatchString(e.Output) // want
}

func compiled(e events.TurnFailed, limits *regexp.Regexp) []string {
	return limits.FindStringSubmatch(e.Output) // want
}

func switched(e events.TurnReceived) int {
	switch e.Output { // want
	case "":
		return 0
	case "context window":
		return 1
	}
	return 2
}

func chosen(r observer.Reply) int {
	switch {
	case r.Text == "limit": // want
		return 1
	}
	return 0
}

func known(r observer.Reply, phrases map[string]bool) bool {
	return phrases[r.Text] // want
}

func (w *watcher) count(r observer.Reply) {
	w.seen[strings.ToLower(r.Text)]++ // want
}

func forgot(r observer.Reply, phrases map[string]bool) {
	delete(phrases, r.Text) // want
}

func inTheList(r observer.Reply) bool {
	return slices.Contains([]string{"a", "b"}, r.Text) // want
}

func anyOf(r observer.Reply) bool {
	return slices.ContainsFunc([]string{"a", "b"}, func(phrase string) bool {
		return strings.Contains(r.Text, phrase) // want
	})
}

func words(r observer.Reply) bool {
	return slices.ContainsFunc(strings.Fields(r.Text), func(word string) bool {
		return word == "limit" // want
	})
}

func ranged(r observer.Reply) bool {
	for line := range strings.SplitSeq(r.Text, "\n") {
		if line == "done" { // want
			return true
		}
	}
	return false
}

func inBytes(r observer.Reply) bool {
	return bytes.Contains([]byte(r.Text), []byte("limit")) // want
}

func sliced(r observer.Reply) bool {
	return len(r.Text) > 5 && r.Text[:5] == "Sorry" // want
}

func when(f observer.Failure) (time.Time, error) {
	return time.Parse(time.Kitchen, f.Message) // want
}

func number(e events.TurnFailed) (n int) {
	_, _ = fmt.Sscanf(e.Message, "resets in %d hours", &n) // want
	return n
}

func built(e events.TurnReceived) bool {
	var b strings.Builder
	b.WriteString("output: ")
	b.WriteString(e.Output)
	return strings.Contains(b.String(), "limit") // want
}

func wrapped(f *observer.Failure) bool {
	err := fmt.Errorf("turn: %s", f.Message)
	return strings.Contains(err.Error(), "limit") // want
}

func ofTheFailure(f *observer.Failure) bool {
	return strings.Contains(f.Error(), "limit") // want
}

func asAny(e events.TurnReceived) bool {
	var v any = e.Output
	switch v := v.(type) {
	case string:
		return v == "limit" // want
	}
	return false
}

func closure(e events.TurnReceived) bool {
	matches := func(text string) bool {
		return strings.Contains(text, "limit") // want
	}
	return matches(e.Output)
}

func called(e events.TurnReceived, w *watcher) bool {
	w.check = sorry
	return w.check(e.Output)
}

func sorry(text string) bool {
	return strings.HasPrefix(text, "Sorry") // want
}

type judge interface{ judge(text string) bool }

type strict struct{}

func (strict) judge(text string) bool {
	return text == "ok" // want
}

func throughAnInterface(e events.TurnReceived, j judge) bool { return j.judge(e.Output) }

func same[T comparable](a, b T) bool {
	return a == b // want
}

func generic(e events.TurnReceived) bool { return same(e.Output, "limit") }

func overAChannel(e events.TurnReceived) bool {
	c := make(chan string, 1)
	c <- e.Output
	return <-c == "limit" // want
}

func named(e events.TurnReceived) (text string) {
	text = e.Output
	return
}

func ofNamed(e events.TurnReceived) bool {
	return named(e) == "limit" // want
}

func several(e events.TurnReceived) (int, string) { return 1, e.Output }

func ofSeveral(e events.TurnReceived) bool {
	_, text := several(e)
	return text < "limit" // want
}

var lastOutput string

func keep(e events.TurnReceived) { lastOutput = e.Output }

func kept() bool {
	return lastOutput == "limit" // want
}
