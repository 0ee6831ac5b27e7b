package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/internal/observer"
)

// Who observes.
const (
	extractor      = "extractive"
	goodObserver   = "good"   // writes each fact of which the turn holds the words, under its kind
	sloppyObserver = "sloppy" // writes half of them, in one vague observation between prose, and every third time prose alone
)

func observers() []string { return []string{extractor, goodObserver, sloppyObserver} }

// begin returns the settings by which name observes a session of which facts are known. End lets go of what that needs.
func begin(name string, facts []fact) (settings []string, end func()) {
	if name == extractor {
		return nil, func() {}
	}
	s := httptest.NewServer(&scripted{facts: facts, sloppy: name == sloppyObserver})
	return []string{"CMEMD_PROVIDER=openai", "CMEMD_OPENAI_MODEL=scripted", "CMEMD_OPENAI_URL=" + s.URL + "/v1", "CMEMD_OUTPUT_FORM=xml"}, s.Close
}

// scripted is a service that speaks Chat Completions and knows what there is to say. One turn of a session is asked at a time.
type scripted struct {
	facts  []fact
	sloppy bool
	turns  int
}

// ServeHTTP answers a turn.
func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) < 2 {
		http.Error(w, "want a system and a user message", http.StatusBadRequest)
		return
	}
	s.turns++
	text := s.answer(asked.Messages[0].Content, asked.Messages[len(asked.Messages)-1].Content)
	_ = json.NewEncoder(w).Encode(map[string]any{ // whoever asked may be gone
		"model": "scripted", "choices": []any{map[string]any{"message": map[string]any{"content": text}, "finish_reason": "stop"}},
		"usage": map[string]any{"prompt_tokens": len(asked.Messages[1].Content) / charactersPerToken, "completion_tokens": len(text) / charactersPerToken},
	})
}

// answer is what is said of the facts whose words stand in a prompt.
func (s *scripted) answer(system, user string) string {
	var known []fact
	for _, f := range s.facts {
		if !f.Stale && holds(user, f.Must) {
			known = append(known, f)
		}
	}
	switch {
	case s.sloppy && s.turns%3 == 0:
		return "The session went on with some edits and tests, and nothing stands out that I would have to add here."
	case len(known) == 0:
		return strings.Replace(observer.SkipForm, "...", "nothing of worth", 1)
	case strings.Contains(system, "<observation>") && s.sloppy:
		return vague(known[:(len(known)+1)/2])
	case strings.Contains(system, "<observation>"):
		return careful(known)
	}
	return string(summaryOf(known).AppendXML(nil))
}

// careful is an observation a fact.
func careful(facts []fact) string {
	var b []byte
	for _, f := range facts {
		b = observer.Observation{Type: typeOf(f), Title: f.Fact, Facts: []string{said(f)}, Concepts: []string{"what-changed"}}.AppendXML(b)
	}
	return string(b)
}

// typeOf is the type of the default mode under which a fact is written.
func typeOf(f fact) string {
	switch f.Kind {
	case "fix":
		return observer.TypeBugfix
	case "decision", "preference":
		return observer.TypeDecision
	case "outcome":
		return observer.TypeChange
	}
	return observer.TypeDiscovery
}

// vague is one observation of all facts, of a type that there is not, between words that nobody asked for.
func vague(facts []fact) string {
	o := observer.Observation{Type: "note", Title: "Work on the project went on"}
	for _, f := range facts {
		o.Narrative += said(f) + " "
	}
	return fmt.Sprintf("Sure! Here is what I noticed:\n\n```xml\n%s\n```\n\nLet me know if you need more.", o.AppendXML(nil))
}

func summaryOf(facts []fact) *observer.Summary {
	s := &observer.Summary{Request: "What the session was asked for."}
	for _, f := range facts {
		field := &s.Learned
		switch f.Kind {
		case "outcome", "fix":
			field = &s.Completed
		case "open":
			field = &s.NextSteps
		}
		*field += said(f) + " "
	}
	return s
}

// said is a sentence that holds a fact: its own words, and those by which it is said that are not among them. It begins as sentences do,
// but where a name of code does.
func said(f fact) string {
	text := f.Fact
	for _, group := range f.Must {
		if !holds(text, [][]string{group}) {
			text += ", " + group[0]
		}
	}
	if first, _, _ := strings.Cut(text, " "); strings.IndexFunc(first, func(r rune) bool { return !unicode.IsLetter(r) }) < 0 {
		r, n := utf8.DecodeRuneInString(text)
		text = string(unicode.ToUpper(r)) + text[n:]
	}
	return text + "."
}
