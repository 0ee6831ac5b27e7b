package extractive

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/internal/sentence"
)

const (
	maxRequest = 400 // runes
	maxLearned = 900
	maxDone    = 1500
	maxNext    = 8 // next steps that are listed
)

// summarize writes where the session stands after an answer of the agent. It is false where nothing happened.
func (p *Provider) summarize(prompt observer.Prompt) (observer.Summary, bool) {
	message := messageBlocks(prompt.Message)
	if len(prompt.Observed) == 0 && blocksWeight(message) < substance {
		return observer.Summary{}, false
	}
	s := observer.Summary{
		Request:      requestOrWork(prompt, message),
		Investigated: investigated(prompt),
		Learned:      learned(prompt.Observed, message),
		Completed:    completed(prompt),
		NextSteps:    nextSteps(prompt.Observed, message),
		Notes:        notes(prompt, message),
	}
	return s, s.Investigated != "" || s.Learned != "" || s.Completed != "" || s.NextSteps != ""
}

// request is what the user asked for, without what was pasted.
func request(raw string) string {
	var said []block
	for _, b := range requestBlocks(raw) {
		if b.shape != code && b.shape != table {
			b.raw = line(unbracket(b.raw))
			said = append(said, b)
		}
	}
	return narrative(said, maxRequest)
}

// requestOrWork is what the user asked for, or the title of the work where that says nothing by itself: a word of
// consent, a lone command.
func requestOrWork(prompt observer.Prompt, message []block) string {
	asked := request(prompt.Request)
	command := strings.HasPrefix(asked, "/") && !strings.ContainsAny(asked, " \n")
	if asked == "" || sentence.Letters(asked) >= sentence.Enough && !command {
		return asked
	}
	work := reportTitle(message)
	found := false
	for _, o := range prompt.Observed { // the last one, but a discovery only where nothing was done
		if s := cut(line(clean(o.Title)), 2*maxTitle); s != "" && (o.Type != observer.TypeDiscovery || !found) {
			work, found = s, o.Type != observer.TypeDiscovery
		}
	}
	if work == "" {
		return asked
	}
	return work + " (asked: " + cut(line(asked), maxTitle) + ")"
}

// investigated names the files that were read and not changed, and what was searched for.
func investigated(prompt observer.Prompt) string {
	var parts, files []string
	for _, o := range prompt.Observed {
		for _, f := range o.FilesRead {
			if len(files) < 200 && !slices.Contains(o.FilesModified, f) {
				files = addOnce(files, line(clean(evidence.Rel(prompt.Cwd, f))))
			}
		}
		if o.Type != observer.TypeDiscovery {
			continue
		}
		for _, f := range o.Facts {
			if strings.HasPrefix(f, searchedFor) {
				parts = addOnce(parts, cut(line(clean(f)), maxFact))
			}
		}
	}
	if len(files) > 0 {
		parts = append(parts, "Read "+enumerate(files, maxNamed))
	}
	return list(parts, maxDone)
}

// learned is what discoveries and decisions say; without any, and without any other work, what the agent said.
func learned(observed []events.ObservationParsed, message []block) string {
	var parts []string
	for _, o := range observed {
		if o.Type == observer.TypeDiscovery || o.Type == observer.TypeDecision {
			parts = addOnce(parts, narrative(blocks(clean(cmp.Or(o.Narrative, o.Title))), maxLearned/2))
		}
	}
	if len(observed) == 0 {
		return narrative(message, maxLearned)
	}
	return narrative(blocks(strings.Join(parts, "\n\n")), maxLearned)
}

// completed says what was changed, and in which files. Where the title is only what the user asked for, or made of the
// agent's own first words, those say it instead.
func completed(prompt observer.Prompt) string {
	asked := titleOf(requestBlocks(prompt.Request))
	var parts []string
	for _, o := range prompt.Observed {
		if o.Type == observer.TypeDiscovery || o.Type == observer.TypeDecision && len(o.FilesModified) == 0 {
			continue // it was learned
		}
		s := cut(line(clean(o.Title)), 2*maxTitle)
		if said := line(opening(blocks(clean(o.Narrative)), 2*maxTitle)); said != "" && (s == asked || quotes(s, said)) {
			s = said
		}
		if sub := cut(line(clean(o.Subtitle)), maxTitle); sub != "" {
			s = strings.TrimSuffix(s, ".") + " — " + sub
		}
		var files []string
		for _, f := range o.FilesModified[:min(len(o.FilesModified), 200)] {
			files = addOnce(files, line(clean(evidence.Rel(prompt.Cwd, f))))
		}
		if len(files) > 0 {
			s += ": " + enumerate(files, maxNamed)
		}
		parts = addOnce(parts, s)
	}
	return list(parts, maxDone)
}

// quotes tells whether title is the beginning of said, perhaps behind the files it was done to.
func quotes(title, said string) bool {
	said = tidy(plain(said))
	_, words, ok := strings.Cut(title, ": ")
	return strings.HasPrefix(said, strings.TrimSuffix(title, "…")) || ok && strings.HasPrefix(said, strings.TrimSuffix(words, "…"))
}

// nextSteps lists what is visibly open: unticked boxes of the message; or else the section with which it ends, if its
// heading announces steps to come; or else what the last observation left unticked. Nothing is inferred.
func nextSteps(observed []events.ObservationParsed, message []block) string {
	var open []string
	for _, b := range message {
		if b.shape == box && !b.done {
			open = addOnce(open, b.text)
		}
	}
	if len(open) == 0 {
		open = lastSection(message)
	}
	if len(open) == 0 && len(observed) > 0 {
		for _, f := range observed[len(observed)-1].Facts {
			if ticked, text, ok := cutBox(clean(f)); ok && !ticked {
				open = addOnce(open, line(text))
			}
		}
	}
	return list(open[:min(len(open), maxNext)], maxDone)
}

// lastSection is the list at the end of a message under a heading that announces what is to come.
func lastSection(message []block) []string {
	from := len(message)
	for from > 0 && (message[from-1].shape == item || message[from-1].shape == box) {
		from--
	}
	if from == 0 || from == len(message) || !message[from-1].leads() || !announcesNext(message[from-1].text) {
		return nil
	}
	var open []string
	for _, b := range message[from:] {
		if !b.done {
			open = append(open, cut(b.text, maxFact))
		}
	}
	return open
}

// announcesNext knows the headings under which agents put what is still to be done. It reads a heading, not prose, and
// a language that is missing here costs a field, never a false one.
func announcesNext(heading string) bool {
	switch strings.ToLower(strings.Trim(heading, " *#:：.")) {
	case "next steps", "next step", "next", "todo", "to do", "todos", "remaining", "remaining work", "remaining tasks",
		"follow-ups", "follow-up", "still to do", "what's left", "what’s left",
		"nächste schritte", "offen", "noch offen", "prochaines étapes", "reste à faire", "próximos pasos", "pendiente",
		"próximos passos", "pendente", "prossimi passi", "volgende stappen", "następne kroki", "следующие шаги", "далее",
		"次のステップ", "今後の作業", "残りの作業", "下一步", "后续步骤", "待办", "下一步計劃", "다음 단계", "남은 작업":
		return true
	}
	return false
}

// notes say how the work ended: what stopped it, if it was not the agent, or what the agent asked at the end.
func notes(prompt observer.Prompt, message []block) string {
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
	if q := asksBack(message); q != "" {
		return "The answer ended with a question: " + cut(line(plain(q)), maxFact)
	}
	return ""
}

// list puts parts under each other, a dash before each if there are several, within n runes.
func list(parts []string, n int) string {
	if len(parts) == 1 {
		return lead(parts[0], n)
	}
	var b strings.Builder
	for _, s := range parts {
		if s == "" {
			continue
		}
		if used := runes(b.String()); used+runes(s)+3 > n {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("- " + s)
	}
	return b.String()
}
