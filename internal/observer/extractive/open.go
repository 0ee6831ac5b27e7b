package extractive

import (
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/sentence"
)

const (
	maxNext   = 8   // next steps that are listed
	maxAsking = 300 // of a question to the person, with what there is to choose from, in runes
)

// nextSteps lists what is visibly open: unticked boxes of the message; or else the section with which it ends, if its
// heading announces steps to come; or else what the last list of things to do left unticked. With them stands what the person was asked
// last. Nothing is inferred.
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
	for i := len(observed) - 1; i >= 0 && len(open) == 0; i-- {
		boxes := 0
		for _, f := range observed[i].Facts {
			if ticked, text, ok := cutBox(clean(f)); ok {
				if boxes++; !ticked {
					open = addOnce(open, line(text))
				}
			}
		}
		if boxes > 0 {
			break
		}
	}
	open = open[:min(len(open), maxNext)]
	if q := asksPerson(message); q != "" {
		open = append([]string{events.AskedPerson + q}, open...)
	}
	return bulletList(open, maxField)
}

// asksPerson is what a message asks of the person at its end, with what there is to choose from, or an offer that waits for an answer;
// or "".
func asksPerson(message []block) string {
	_, waits, options := cutAsking(message, true)
	if waits == "" {
		return ""
	}
	if len(options) == 0 && slices.ContainsFunc(message, func(b block) bool { return sentence.Holds(b.text, sentence.Menu) }) {
		options = alike(message)
	}
	for _, o := range options {
		if runes(waits)+runes(o.text) > maxAsking {
			break
		}
		waits += " " + line(plain(o.raw))
	}
	return cut(waits, maxAsking)
}

// cutAsking cuts off a message what it asks of the person at its end: the last sentences of its last paragraph, as far as they ask, announce
// a choice or, where offers count, offer something; and the list of what there is to choose from. Without such an end waits is "".
func cutAsking(message []block, offers bool) (before []block, waits string, options []block) {
	end := len(message)
	for end > 0 && message[end-1].shape == item {
		end--
	}
	options = message[end:]
	if end == 0 || message[end-1].shape != paragraph || len(options) > 0 && !message[end-1].leads() {
		return message, "", nil
	}
	last := message[end-1]
	var all, asked []string
	for rest := line(last.raw); rest != ""; {
		var s string
		s, rest = sentence.First(rest)
		all = append(all, s)
	}
	for i, raw := range slices.Backward(all) {
		s := tidy(plain(raw))
		announces := len(options) > 0 && i == len(all)-1 && sentence.Holds(s, sentence.Menu)
		if !isQuestion(s) && !announces && !(offers && sentence.Holds(s, sentence.Offer)) {
			break
		}
		asked = append(asked, s)
	}
	if len(asked) == 0 {
		return message, "", nil
	}
	slices.Reverse(asked)
	waits, before = strings.Join(asked, " "), message[:end-1]
	if said := all[:len(all)-len(asked)]; len(said) > 0 {
		last.raw = strings.Join(said, " ")
		last.text = plain(last.raw)
		before = append(slices.Clone(before), last)
	}
	return before, waits, options
}

// alike are the headings of a message that begin with the same word, as those of options do: "Option A", "Option B". It is empty where
// the first heading has no like.
func alike(message []block) (options []block) {
	first := ""
	for _, b := range message {
		word, _, more := strings.Cut(plain(b.text), " ")
		switch {
		case b.shape != heading || !more:
			continue
		case first == "":
			first = word
		case word != first:
			continue
		}
		b.raw = "- " + b.text
		options = append(options, b)
	}
	if len(options) < 2 {
		return nil
	}
	return options
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
