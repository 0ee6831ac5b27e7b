package extractive

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/internal/sentence"
)

// How long the fields of a summary are at most, in runes: what a session is told of another's is no longer.
const (
	maxRequest = 400 // of the only request
	maxFirst   = 300 // of the first of several
	maxAsked   = 200 // of another
	maxField   = 600
	maxReasons = 900 // of all that was learned
	maxLearned = 300 // of one observation
)

// summarize writes where the session stands after an answer of the agent. It is false where nothing happened.
func (p *Provider) summarize(prompt observer.Prompt) (observer.Summary, bool) {
	message := messageBlocks(prompt.Message)
	if len(prompt.Observed) == 0 && !isMessage(message) {
		return observer.Summary{}, false
	}
	prompt.Observed, prompt.Apart = borneOut(prompt.Observed, prompt.Apart)
	s := observer.Summary{
		Request:   requests(prompt),
		Learned:   learned(prompt, message),
		Completed: completed(prompt),
		NextSteps: nextSteps(prompt.Observed[prompt.Apart:], message),
		Notes:     notes(prompt),
	}
	if s.Learned+s.Completed+s.NextSteps == "" { // which say more than the names of files, and each observation has those
		s.Investigated = investigated(prompt)
	}
	return s, s.Investigated+s.Learned+s.Completed+s.NextSteps != ""
}

// borneOut leaves out what claims something that is not so: whoever repeats it claims it too.
func borneOut(observed []events.ObservationParsed, apart int) (sound []events.ObservationParsed, still int) {
	for i, o := range observed {
		absent := slices.ContainsFunc(o.Claims, func(c events.Claim) bool { return c.Verdict == events.Absent })
		if o.Unseen || o.Unsupported || absent {
			continue
		}
		sound = append(sound, o)
		if i < apart {
			still++
		}
	}
	return sound, still
}

// requests is what the user asked for in the session: all of it that says something by itself, or the one word or command that
// there is; and the command that led to the work at hand. Of many requests the first stands there, and the last ones; not one before the last
// that speaks of an answer before it, which is not here.
func requests(prompt observer.Prompt) string {
	var asked []string
	for i, raw := range append(slices.Clone(prompt.Requests), prompt.Request) {
		most := maxAsked
		if len(asked) == 0 {
			most = maxFirst
		}
		s := request(raw, most)
		atHand := i == len(prompt.Requests)
		if atHand && strings.HasPrefix(s, "/") || saysEnough(s) && (len(asked) == 0 || atHand || !sentence.LeansBack(s)) {
			asked = addOnce(asked, line(s))
		}
	}
	whole := request(prompt.Request, maxRequest)
	switch {
	case len(asked) == 0:
		return unlessConsent(whole)
	case len(asked) == 1 && strings.HasPrefix(line(whole), strings.TrimSuffix(asked[0], "…")):
		return whole
	case len(asked) == 1:
		return asked[0]
	}
	newest := last(asked[1:], maxField-runes(asked[0])-bulletRunes)
	return strings.Join(append(asked[:1:1], newest...), " / ") // one line: it is the summary's title
}

// consent is how many letters a word of consent has at most.
const consent = 4

// unlessConsent is what was asked, if that is more than a word of consent.
func unlessConsent(asked string) string {
	if sentence.Letters(asked) <= consent {
		return ""
	}
	return asked
}

// saysEnough reports whether a request says something by itself: no word of consent, no lone command.
func saysEnough(asked string) bool {
	command := strings.HasPrefix(asked, "/") && !strings.ContainsAny(asked, " \n")
	return sentence.Letters(asked) >= sentence.MinLetters && !command
}

// request is the beginning of what the user asked for, without what was pasted.
func request(raw string, n int) string {
	var said []block
	for _, b := range requestBlocks(raw) {
		if b.shape != code && b.shape != table {
			b.raw = line(unbracket(b.raw))
			said = append(said, b)
		}
	}
	return narrative(said, n)
}

// investigated names the files that were read and not changed.
func investigated(prompt observer.Prompt) string {
	var files []string
	for _, o := range prompt.Observed {
		for _, f := range o.FilesRead {
			if len(files) < 200 && !slices.Contains(o.FilesModified, f) {
				files = addOnce(files, line(clean(evidence.Rel(prompt.Cwd, f))))
			}
		}
	}
	if len(files) == 0 {
		return ""
	}
	return "Read " + enumerate(files, maxNamed)
}

// completed says what was done, and in which files, the last of it. Where a title is only what the user asked for, or made of the
// agent's own first words, those say it instead.
func completed(prompt observer.Prompt) string {
	asked := requestTitles(prompt)
	var parts []string
	for _, o := range prompt.Observed {
		if !isLearned(o) {
			parts = addOnce(parts, whatWasDone(o, prompt.Cwd, asked))
		}
	}
	return bulletList(last(parts, maxField), maxField)
}

// requestTitles are the titles that observations have which say no more than what was asked for.
func requestTitles(prompt observer.Prompt) map[string]bool {
	asked := map[string]bool{}
	for _, raw := range append(slices.Clone(prompt.Requests), prompt.Request) {
		asked[titleOf(requestBlocks(raw))] = true
	}
	return asked
}

// whatWasDone is what an observation says was done; empty where it says nothing.
func whatWasDone(o events.ObservationParsed, cwd string, asked map[string]bool) string {
	s := cut(line(clean(o.Title)), 2*maxTitle)
	if asked[s] {
		if came, alone := achieved(blocks(clean(o.Narrative)), true); alone {
			s = came
		}
	}
	s = uncut(s, o.Narrative)
	sub := cut(line(clean(o.Subtitle)), maxTitle)
	if s = strings.TrimSuffix(withoutListIntro(s), "."); sentence.Letters(s) < sentence.MinLetters && !strings.Contains(s, " ") && sub != "" {
		s, sub = sub, "" // "Done." says less, "Release v2" does not
	}
	var files []string
	for _, f := range o.FilesModified[:min(len(o.FilesModified), 200)] {
		files = addOnce(files, line(clean(evidence.Rel(cwd, f))))
	}
	mark := ": "
	saysWhy := isNote(sub) || strings.HasPrefix(sub, messageSays)
	if saysWhy || sub == number.Plural(len(files), "file")+" changed" && len(files) <= maxNamed { // which says no more than their names
		sub, mark = "", " — "
	}
	if sub != "" {
		s += " — " + sub
	}
	if len(files) > 0 {
		s += mark + enumerate(files, maxNamed)
	}
	return s
}

// uncut is a title that was cut off, up to the end of the sentence of text in which it was cut. What the title
// names before a colon is left out where the text does not have it; what was asked, before a dash, stays.
func uncut(title, text string) string {
	begin, ok := strings.CutSuffix(title, "…")
	if !ok {
		return title
	}
	label, behind, labelled := strings.Cut(begin, " — ")
	head := label + " — "
	if !labelled {
		label, behind, labelled = strings.Cut(begin, ": ")
		head = ""
	}
	message := messageBlocks(text)
	for i, b := range message {
		said := tidy(b.text)
		if i+1 < len(message) && message[i+1].shape == code && b.leads() {
			if both, ok := withCode(announcement(said), message[i+1]); ok && strings.HasPrefix(both, begin) {
				return both
			}
		}
		if head == "" && strings.Contains(said, label) {
			head = label + ": "
		}
		if b.shape == code {
			continue
		}
		if at := strings.Index(said, begin); at >= 0 {
			return cut(said[at:sentenceEnd(said, at, at+len(begin))], 2*maxTitle)
		}
		if at := strings.Index(said, behind); labelled && at >= 0 {
			return cut(head+said[at:sentenceEnd(said, at, at+len(behind))], 2*maxTitle)
		}
	}
	return title
}

// announcement is the last sentence of a line that leads to something, without its colon.
func announcement(said string) string {
	for rest := said; rest != ""; {
		said, rest = sentence.First(rest)
	}
	return strings.TrimRight(said, " :：")
}

// sentenceEnd is where the sentence ends that is at hand at a place of s; sentences are counted from another place on.
func sentenceEnd(s string, from, at int) int {
	for from < at {
		_, rest := sentence.First(s[from:])
		from = len(s) - len(rest)
	}
	return from
}

// withoutListIntro is s without a last sentence that only leads to a list, which is not here.
func withoutListIntro(s string) string {
	kept := s
	for rest := s; rest != ""; {
		var first string
		if first, rest = sentence.First(rest); first == "" {
			break
		}
		if strings.TrimSpace(rest) == "" && (block{text: first}).leads() {
			kept = strings.TrimSpace(strings.TrimSuffix(s, first))
		}
	}
	return cmp.Or(kept, strings.TrimRight(s, " *:："))
}

// notes say what fails, and how the work ended.
func notes(prompt observer.Prompt) string {
	parts := failing(prompt.Observed[prompt.Apart:])
	if s := ending(prompt); s != "" {
		parts = append(parts, s)
	}
	return bulletList(parts, maxField)
}

// ending is what stopped the work, if it was not the agent.
func ending(prompt observer.Prompt) string {
	cause, detail := prompt.Stop, ""
	for _, in := range prompt.Inputs {
		if stop, ok := in.Event.(events.AgentStopped); ok {
			cause, detail = stop.Cause, cut(line(clean(stop.Error)), maxTitle)
		}
	}
	switch cause {
	case events.StopFailure:
		if detail != "" {
			return "The agent's own model call failed: " + detail + "."
		}
		return "The agent's own model call failed."
	case events.StopCompact:
		return "The agent compacted its context in the middle of the work."
	case events.StopEnd:
		return "The session ended in the middle of the work."
	case events.StopIdle:
		return "The agent fell silent in the middle of the work."
	}
	return ""
}

// bulletRunes is what a part of a list takes beside its text, in runes.
const bulletRunes = 3

// last returns the last of parts that fit into a list of n runes, at least one.
func last(parts []string, n int) []string {
	from := len(parts)
	for from > 0 {
		if n -= runes(parts[from-1]) + bulletRunes; n < 0 && from < len(parts) {
			break
		}
		from--
	}
	return parts[from:]
}

// bulletList puts parts under each other, a dash before each if there are several, within n runes.
func bulletList(parts []string, maxRunes int) string {
	if len(parts) == 1 {
		return lead(parts[0], maxRunes)
	}
	var b strings.Builder
	for _, s := range parts {
		if s == "" {
			continue
		}
		if used := runes(b.String()); used+runes(s)+bulletRunes > maxRunes+1 {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("- " + s)
	}
	return b.String()
}
