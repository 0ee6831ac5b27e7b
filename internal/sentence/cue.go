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

// cue is a phrase, in lower case, and what it is a sign of.
type cue struct {
	phrase  string
	purpose Purpose
}

// cues are all of them by their first byte.
var cues = sync.OnceValue(func() *[256][]cue {
	all := new([256][]cue)
	names := names()
	files, _ := cueFiles.ReadDir("cues")
	for _, f := range files {
		data, _ := cueFiles.ReadFile("cues/" + f.Name())
		for l := range strings.Lines(string(data)) {
			if name, phrase, ok := strings.Cut(strings.TrimRight(l, "\n"), "\t"); ok {
				all[phrase[0]] = append(all[phrase[0]], cue{phrase, names[name]})
			}
		}
	}
	return all
})

// PurposeOf is what a sentence is for, by the first of the purposes whose cue stands in it. One that agrees, or only says where the
// agent looks, is an announcement. One that opens like an announcement and says why, or of what to beware, is none: "Pushing there is
// refused because it is protected."
func PurposeOf(sentence string) Purpose { return find(lower(sentence)).purpose() }

// purpose is what a sentence is for in which these were found.
func (f found) purpose() Purpose {
	explains := (f.holds(Cause) || f.holds(Gotcha)) && !f.holds(Plan)
	if f.opens(Announce) && !explains || f.opens(Plan) || f.opens(Consent) || f.opens(Preface) {
		return Announce
	}
	for p := Cause; p < Consent; p++ {
		if f.holds(p) {
			return p
		}
	}
	return Plainly
}

// Holds reports whether a sentence holds a cue of one of some purposes, whatever else it is for.
func Holds(sentence string, of ...Purpose) bool {
	return slices.ContainsFunc(of, find(lower(sentence)).holds)
}

// Decides reports whether a sentence holds a cue of what was chosen, ordered, approved or is still to be done: what one who may not speak
// for the person must not say.
func Decides(sentence string) bool {
	f := find(lower(sentence))
	return f.holds(Decision) || f.holds(Order) || f.holds(Open)
}

// Unannounced is what a sentence says behind its announcement: behind a dash, behind the colon of consent, or behind the comma that ends
// where the agent looks. A sentence without either is whole.
func Unannounced(sentence string) string {
	f := opening(lower(sentence))
	marks := slices.Clone(dashes)
	switch {
	case f.opens(Preface):
		marks = append(marks, ", ")
	case f.opens(Consent):
		marks = append(marks, ": ")
	case !f.opens(Announce) && !f.opens(Plan):
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

// unplanned is what a sentence says before it comes to what the agent is about to do: "It is empty, so I'll fill it." One that begins with
// what was rejected and says why comes to what was chosen, and is whole: "Rather than a cache, I'll keep the table because it is small."
func unplanned(sentence string) string {
	s := lower(sentence)
	return find(s).unplanned(sentence, s)
}

// unplanned cuts a sentence off before what the agent is about to do. The cues were found in the same sentence in lower case.
func (f found) unplanned(sentence, lowered string) string {
	quotes := strings.Count(sentence, typographic)
	if !f.holds(Plan) || f.opens(Decision) && f.holds(Cause) || len(lowered)+quotes*(len(typographic)-1) != len(sentence) {
		return sentence // also of letters that take another length in lower case
	}
	at := f.plan
	for i := 0; i < at && quotes > 0; i++ {
		if strings.HasPrefix(sentence[i:], typographic) {
			at += len(typographic) - 1
		}
	}
	return sentence[:at]
}

// Unplanned is what a sentence says before it comes to what the agent is about to do, without the word that joins both: "It is empty." A
// sentence that says nothing before that is whole, and so is one in which no clause of its own begins there: "It is not what I should do."
func Unplanned(sentence string) string {
	said := unplanned(sentence)
	if len(said) == len(sentence) || !Telling(said) || opensQuotation(said) {
		return sentence
	}
	clause := strings.TrimRight(said, joints)
	joined, last := clause, clause
	if at := strings.LastIndexByte(clause, ' '); at > 0 {
		joined, last = clause[:at], clause[at+1:]
	}
	switch {
	case LeansBack(last) && (clause == strings.TrimRight(said, " ") || strings.TrimRight(joined, joints) != joined):
		clause = strings.TrimRight(joined, joints)
	case clause == strings.TrimRight(said, " "):
		return sentence
	}
	return clause + "."
}

// joints are what may stand between two clauses, and before one in brackets.
const joints = " ,;:–—-(，；：、（"

// opensQuotation reports whether s ends within code or a quotation. An apostrophe is no mark of one.
func opensQuotation(s string) bool {
	return strings.Count(s, "`")%2 == 1 || strings.Count(s, `"`)%2 == 1 || strings.Count(s, "“") > strings.Count(s, "”") ||
		strings.LastIndex(s, "‘") > strings.LastIndex(s, typographic)
}

// LeansBack reports whether a sentence begins with a word that stands for what was said before it.
func LeansBack(sentence string) bool { return opening(lower(sentence)).opens(Reference) }

// ReportsFailure reports whether a person's text says that something does not work, or asks to put it right.
func ReportsFailure(text string) bool { return Holds(text, Failure) }

// Consents reports whether a sentence begins with words by which the person is told to be right.
func Consents(sentence string) bool { return opening(lower(sentence)).opens(Consent) }

// typographic is the apostrophe of prose; that of cues is plain.
const typographic = "’"

func lower(s string) string { return strings.ToLower(strings.ReplaceAll(s, typographic, "'")) }

// found are the purposes of the cues in a text, a bit each: of all of them, and of those that it opens with.
type found struct {
	anywhere, first uint32
	plan            int // where the first cue of what the agent is about to do stands, if one does
}

func (f found) holds(p Purpose) bool { return f.anywhere&(1<<p) != 0 }

func (f found) opens(p Purpose) bool { return f.first&(1<<p) != 0 }

// find looks for all cues in s, in lower case, at once: as whole words where their script has words.
func find(s string) found {
	f := opening(s)
	before := ' '
	for i, r := range s {
		if !joins(before) && i > 0 {
			f.lookAt(s, i)
		}
		before = r
	}
	return f
}

// opening looks for those cues alone that s, in lower case, begins with.
func opening(s string) (f found) {
	if s != "" {
		f.lookAt(s, 0)
	}
	f.first = f.anywhere
	return f
}

// lookAt adds the cues that stand in s at i.
func (f *found) lookAt(s string, i int) {
	for _, c := range cues()[s[i]] {
		if bit := uint32(1) << c.purpose; f.anywhere&bit == 0 && strings.HasPrefix(s[i:], c.phrase) && endsWord(s, i+len(c.phrase)) {
			if f.anywhere |= bit; c.purpose == Plan {
				f.plan = i
			}
		}
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
	if r < utf8.RuneSelf {
		return r == '_' || 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
