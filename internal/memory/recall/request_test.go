package recall

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

// titled is a prompt with what came of it, by titles alone.
func (w *world) titled(s events.SessionID, number int, prompt string, titles ...string) {
	w.put(s.Stream(), events.PromptSubmitted{Number: number, Text: prompt})
	for _, title := range titles {
		w.put(s.Stream(), events.ObservationParsed{Observation: newID(), Prompt: number, Type: "bugfix", Title: title})
	}
}

// What the last session was asked stands at every length at which that session does: in its summary, or above what came of it.
func TestRequestsOfTheLastSessionStay(t *testing.T) {
	t.Parallel()
	const timer, socket = "The timer of the carousel was too fast", "The socket leaks in the rain"
	for name, c := range map[string]struct {
		work  [][]string // of each request the titles of what came of it
		newer []string   // titles of another session
	}{
		"another session says what came of it":      {[][]string{{timer}}, []string{timer}},
		"another session says one of two things":    {[][]string{{timer, socket}}, []string{timer}},
		"another session says all that came of one": {[][]string{{timer}, {socket}}, []string{timer}},
		"another session says both things":          {[][]string{{timer, socket}}, []string{timer, socket}},
		"there is no room for what came of it": {
			[][]string{{timer, socket}},
			[]string{"The key of the shed is lost", "The fence of the shed is red", "The roof of the shed is flat", "The door of the shed is shut"},
		},
		"there is no room for all": {
			[][]string{{timer, socket, "The lamp over the gate flickers"}, {"The broom of the yard is broken"}, {"The gate is open at night"}},
			[]string{"The key of the shed is lost", "The fence of the shed is red", "The roof of the shed is flat", "The door of the shed is shut"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a, b := w.open("a", "shop"), w.open("b", "shop")
			var asked []string
			for i, titles := range c.work {
				asked = append(asked, fmt.Sprintf("Mend part %d of the carousel before noon", i+1))
				w.titled(a, i+1, asked[i], titles...)
			}
			w.put(a.Stream(), events.SummaryParsed{Summary: newID(), Request: strings.Join(asked, " / ")})
			for i := 0; i < len(c.newer); i += 2 {
				prompt := strings.Repeat(fmt.Sprintf("The shed is to be looked after by %d people of the house. ", i+2), 5)
				w.titled(b, i+1, prompt, c.newer[i:min(i+2, len(c.newer))]...)
			}
			ask, lengths := shop("startup", events.SessionID{}), 0
			for ask.Characters = w.mustContext(ask).Characters + 300; ask.Characters > 300; ask.Characters -= 7 {
				got := w.mustContext(ask)
				if !strings.Contains(got.Text, "## Last session") {
					continue
				}
				lengths++
				for _, request := range asked {
					if n := strings.Count(got.Text, request); n != 1 {
						t.Fatalf("at %d characters %q stands %d times:\n%s", ask.Characters, request, n, got.Text)
					}
				}
			}
			if lengths == 0 {
				t.Error("the last session stands at no length")
			}
		})
	}
}

// Where there is no room for both, what was found out goes before what was asked.
func TestRequestsTakeNoRoomOfFacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sessions := []events.SessionID{w.open("a", "shop"), w.open("b", "shop")}
	facts := 0
	for i, n := range []int{2, 2, 1, 1, 1, 1} {
		var titles []string
		for range n {
			facts++
			titles = append(titles, fmt.Sprintf("Part %d of the carousel was too fast in the rain", facts))
		}
		w.titled(sessions[i%2], i/2+1, fmt.Sprintf("Please look at the carousel in the yard of house %d, it flickers whenever it rains at night", i+1), titles...)
		if i%2 == 1 {
			w.now = w.now.Add(24 * time.Hour)
		}
	}
	for limit, want := range map[int]int{2500: 8, 1600: 8, 1500: 8, 1400: 8, 1300: 8, 1200: 8, 1100: 8, 1000: 8, 930: 8, 860: 7} {
		ask := shop("startup", events.SessionID{})
		ask.Characters = limit
		got := w.mustContext(ask)
		if n := strings.Count(got.Text, "bugfix: "); n != want {
			t.Errorf("in %d characters %d of %d facts stand there, want %d:\n%s", limit, n, facts, want, got.Text)
		}
	}
}
