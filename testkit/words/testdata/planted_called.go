package planted

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

var limits = regexp.MustCompile(`(?i)limit`)

func byAPackageVariable(e events.TurnReceived) bool {
	return limits.MatchString(e.Output) // want
}

func byAMethodValue(e events.TurnReceived) bool {
	match := limits.MatchString
	return match(e.Output) // want
}

func byAFunctionValue(e events.TurnReceived) bool {
	has := strings.Contains
	return has(e.Output, "limit") // want
}

func byACallback(e events.TurnReceived) bool {
	return slices.ContainsFunc(strings.Fields(e.Output), limits.MatchString) // want
}

func byTwoCallbacks(e events.TurnReceived) bool {
	return slices.EqualFunc(strings.Fields(e.Output), []string{"limit"}, strings.EqualFold) // want
}

func anyWord(text string, is func(string) bool) bool {
	for word := range strings.FieldsSeq(text) {
		if is(word) { // want
			return true
		}
	}
	return false
}

func byAHelper(e events.TurnReceived) bool { return anyWord(e.Output, limits.MatchString) }

func matcher() func(string) bool { return limits.MatchString }

func byAResult(e events.TurnReceived) bool {
	return matcher()(e.Output) // want
}

func byAList(e events.TurnReceived) bool {
	for _, is := range []func(string) bool{limits.MatchString} {
		if is(e.Output) { // want
			return true
		}
	}
	return false
}

func byATable(e events.TurnReceived) bool {
	table := map[string]func(string) bool{}
	table["limit"] = func(text string) bool {
		return text == "limit" // want
	}
	return table["limit"](e.Output)
}

func byTheMethodOfAType(e events.TurnReceived, w watcher) bool {
	is := watcher.isBad
	return is(w, e.Output)
}

func byAMethodOfAValue(e events.TurnReceived) bool {
	is := watcher{}.isTold
	return is(e.Output)
}

func (w watcher) isTold(text string) bool {
	return text == "told" // want
}

type box[T any] struct{ value T }

func (b box[T]) get() T { return b.value }

func boxed(e events.TurnReceived) bool {
	return box[string]{e.Output}.get() == "limit" // want
}

func first[T any](list []T) T { return list[0] }

func generically(e events.TurnReceived) bool {
	return first([]string{e.Output}) == "limit" // want
}

func contains[S ~string](text S, phrase string) bool {
	return strings.Contains(string(text), phrase) // want
}

type output string

func asAType(e events.TurnReceived) bool { return contains(output(e.Output), "limit") }

func fill(to *string, text string) { *to = text }

func filled(e events.TurnReceived) bool {
	var text string
	fill(&text, e.Output)
	return text == "limit" // want
}

func aliased(e events.TurnReceived) bool {
	var text string
	p := &text
	*p = e.Output
	return text == "limit" // want
}

func sent(r observer.Reply) bool {
	c := make(chan observer.Reply, 1)
	c <- r
	return strings.EqualFold((<-c).Text, "limit") // want
}

func sentText(r observer.Reply) (bad bool) {
	c := make(chan string)
	go func() { c <- r.Text }()
	for text := range c {
		bad = bad || text == "limit" // want
	}
	return bad
}

func captured(e events.TurnReceived) func() bool {
	text := strings.TrimSpace(e.Output)
	return func() bool {
		return strings.HasSuffix(text, "limit") // want
	}
}

type keeper struct {
	inner struct{ texts map[string][]string }
}

func (k *keeper) keep(e events.TurnReceived) {
	k.inner.texts["last"] = append(k.inner.texts["last"], e.Output)
}

func (k *keeper) bad() bool {
	for _, text := range k.inner.texts["last"] {
		if text == "limit" { // want
			return true
		}
	}
	return false
}

func throughAField(w *watcher, e events.TurnReceived) {
	p := &w.told
	*p = e.Output
}

func (w *watcher) wasTold() bool {
	return w.told == "limit" // want
}

type sniffer struct{ bad bool }

func (s *sniffer) Write(p []byte) (int, error) {
	s.bad = s.bad || strings.Contains(string(p), "limit") // want
	return len(p), nil
}

func sniffed(e events.TurnReceived) bool {
	var s sniffer
	_, _ = fmt.Fprintln(&s, e.Output)
	return s.bad
}
