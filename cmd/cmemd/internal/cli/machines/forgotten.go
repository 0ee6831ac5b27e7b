package machines

import (
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
)

// ElsewhereLine says where what was forgotten is gone, and where not yet.
func ElsewhereLine(e api.Elsewhere, now time.Time) string {
	gone, missing := []string{"here"}, []string{}
	if e.Store {
		gone = append(gone, "in the store")
	} else {
		missing = append(missing, "the store has not confirmed it yet")
	}
	for _, name := range e.Gone {
		gone = append(gone, "on "+terminal.VisibleLine(name))
	}
	for _, w := range e.Waiting {
		missing = append(missing, terminal.VisibleLine(w.Name)+" "+sinceWord(w.Seen, now))
	}
	line := "gone " + joinAnd(gone)
	if len(missing) > 0 {
		line += "; " + joinAnd(missing)
	}
	return line
}

// onlineWithin is how old what a machine wrote last may be where it is on and only has not confirmed yet: it writes every five minutes.
const onlineWithin = 6 * time.Minute

func sinceWord(seen, now time.Time) string {
	switch {
	case seen.IsZero():
		return "has never been seen"
	case now.Sub(seen).Abs() < onlineWithin:
		return "has not confirmed it yet"
	case now.Sub(seen).Abs() < 6*24*time.Hour:
		return "has not been seen since " + seen.Local().Format("Monday 15:04")
	}
	return "has not been seen since " + seen.Local().Format("2006-01-02")
}

func joinAnd(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
