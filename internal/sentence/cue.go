package sentence

import (
	"embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Cues are words by which a sentence tells what it is for. They are data, a file a language; a language without one loses
// hints, and nothing else: what a sentence names counts in all of them.
//
//go:embed cues
var cueFiles embed.FS

// Purpose is what a sentence is for.
type Purpose uint8

// The purposes, in the order in which they are looked for.
const (
	Plainly   Purpose = iota // none that is known
	Announce                 // what comes next, or consent: nothing to keep
	Cause                    // why something is so
	Gotcha                   // what one would want to be warned of
	Decision                 // what was chosen, and against what
	Fix                      // what was put right
	Open                     // what is still to be done
	Menu                     // that there is a choice
	Consent                  // that the person is right; why may stand behind a dash
	Failure                  // in what a person writes: that something does not work
	Preface                  // where the agent looks; what it found may stand behind the first comma
	Plan                     // what the agent is about to do, wherever in the sentence it stands; one that opens with it announces
	Hedge                    // that it is a guess: asked by Holds alone
	Reference                // that it speaks of what was said before: what opens a sentence, asked by LeansBack alone
	Order                    // what is to be done from now on, or who approved it: asked of what others' words led to, by Holds alone
	Done                     // that something was done, or is otherwise now: asked by Holds alone
	Offer                    // that something waits for the person's word: asked by Holds alone

	purposes // how many there are
)

// names are those of the purposes in the files.
func names() map[string]Purpose {
	return map[string]Purpose{"announce": Announce, "cause": Cause, "gotcha": Gotcha, "decision": Decision, "fix": Fix, "open": Open, "menu": Menu, "consent": Consent, "failure": Failure, "preface": Preface, "order": Order, "done": Done, "offer": Offer, "reference": Reference, "plan": Plan, "hedge": Hedge}
}

// cues are the phrases of each purpose, in lower case.
var cues = sync.OnceValue(func() (all [purposes][]string) {
	names := names()
	files, _ := cueFiles.ReadDir("cues")
	for _, f := range files {
		data, _ := cueFiles.ReadFile("cues/" + f.Name())
		for l := range strings.Lines(string(data)) {
			if name, phrase, ok := strings.Cut(strings.TrimRight(l, "\n"), "\t"); ok {
				all[names[name]] = append(all[names[name]], phrase)
			}
		}
	}
	return all
})

// PurposeOf is what a sentence is for, by the first of the purposes whose cue stands in it. One that agrees, or only says where the
// agent looks, is an announcement.
func PurposeOf(sentence string) Purpose {
	s := lower(sentence)
	if opens(s, Announce) || opens(s, Plan) || opens(s, Consent) || opens(s, Preface) {
		return Announce
	}
	for p := Cause; p < Consent; p++ {
		for _, phrase := range cues()[p] {
			if hasPhrase(s, phrase) {
				return p
			}
		}
	}
	return Plainly
}

// Holds reports whether a sentence holds a cue of a purpose, whatever else it is for.
func Holds(sentence string, p Purpose) bool {
	s := lower(sentence)
	return slices.ContainsFunc(cues()[p], func(phrase string) bool { return hasPhrase(s, phrase) })
}

// Decides reports whether a sentence holds a cue of what was chosen, ordered, approved or is still to be done: what one who may not speak
// for the person must not say.
func Decides(sentence string) bool {
	return Holds(sentence, Decision) || Holds(sentence, Order) || Holds(sentence, Open)
}

// Unannounced is what a sentence says behind its announcement: behind a dash, behind the colon of consent, or behind the comma that ends
// where the agent looks. A sentence without either is whole.
func Unannounced(sentence string) string {
	s := lower(sentence)
	marks := slices.Clone(dashes)
	switch {
	case opens(s, Preface):
		marks = append(marks, ", ")
	case opens(s, Consent):
		marks = append(marks, ": ")
	case !opens(s, Announce) && !opens(s, Plan):
		return sentence
	}
	for _, mark := range marks {
		if _, behind, ok := strings.Cut(sentence, mark); ok && Telling(behind) {
			return behind
		}
	}
	return sentence
}

// Unguessed is what a sentence says before a dash behind which it guesses: "The pool holds 4 connections - that may be why." A sentence
// that guesses before the dash too, or has none, is whole.
func Unguessed(sentence string) string {
	for _, mark := range dashes {
		if said, guess, ok := strings.Cut(sentence, mark); ok && Telling(said) && !Holds(said, Hedge) && Holds(guess, Hedge) {
			return said
		}
	}
	return sentence
}

// dashes are what stands between two statements of a sentence.
var dashes = []string{" - ", " – ", " — "}

// unplanned is what a sentence says before it comes to what the agent is about to do: "It is empty, so I'll fill it."
func unplanned(sentence string) string {
	sentence = strings.ReplaceAll(sentence, "’", "'")
	s := strings.ToLower(sentence)
	if len(s) != len(sentence) {
		return sentence // letters that take another length in lower case
	}
	end := len(s)
	for _, phrase := range cues()[Plan] {
		if i := indexPhrase(s, phrase); i >= 0 {
			end = min(end, i)
		}
	}
	return sentence[:end]
}

// LeansBack reports whether a sentence begins with a word that stands for what was said before it.
func LeansBack(sentence string) bool { return opens(lower(sentence), Reference) }

// ReportsFailure reports whether a person's text says that something does not work, or asks to put it right.
func ReportsFailure(text string) bool {
	s := lower(text)
	return slices.ContainsFunc(cues()[Failure], func(phrase string) bool { return hasPhrase(s, phrase) })
}

// Consents reports whether a sentence begins with words by which the person is told to be right.
func Consents(sentence string) bool { return opens(lower(sentence), Consent) }

func lower(s string) string { return strings.ToLower(strings.ReplaceAll(s, "’", "'")) }

// opens reports whether s, in lower case, begins with a cue of a purpose.
func opens(s string, p Purpose) bool {
	for _, phrase := range cues()[p] {
		if strings.HasPrefix(s, phrase) && endsWord(s, len(phrase)) {
			return true
		}
	}
	return false
}

// hasPhrase reports whether a phrase stands in s, as whole words where its script has words.
func hasPhrase(s, phrase string) bool { return indexPhrase(s, phrase) >= 0 }

// indexPhrase is where a phrase stands in s, as whole words where its script has words; -1: nowhere.
func indexPhrase(s, phrase string) int {
	for from := 0; ; {
		i := strings.Index(s[from:], phrase)
		if i < 0 {
			return -1
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		if !joins(before) && endsWord(s, i+len(phrase)) {
			return i
		}
		from = i + len(phrase)
	}
}

// endsWord reports whether no letter of an alphabet goes on at i.
func endsWord(s string, i int) bool {
	last, _ := utf8.DecodeLastRuneInString(s[:i])
	next, _ := utf8.DecodeRuneInString(s[i:])
	return !joins(last) || !joins(next)
}

// joins reports whether a rune is part of a word that stands between blanks.
func joins(r rune) bool {
	return r == '_' || (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
