package extractive

import (
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// maxCompaction is the longest narrative of a compaction in runes: it stands for a whole conversation.
const maxCompaction = 4000

// compaction is the observation of the agent's own summary of its conversation. Each of its sections is quoted from
// its beginning, so that a long one does not push out what comes last: where the work stands.
func (p *Provider) compaction(c events.ContextCompacted, prompt observer.Prompt) (observer.Observation, bool) {
	sections := sectionsOf(blocks(unwrap(clean(c.Summary), false)))
	if len(sections) == 0 {
		return observer.Observation{}, false
	}
	o := observer.Observation{
		Type:      observer.TypeDiscovery,
		Title:     compactionTitle(sections),
		Subtitle:  "Context compacted",
		Narrative: quoteSections(sections, maxCompaction),
		Concepts:  []string{observer.ConceptWhatChanged, observer.ConceptHowItWorks},
	}
	if t := line(clean(c.Trigger)); t != "" {
		o.Subtitle += " (" + cut(t, maxTitle) + ")"
	}
	if o.Title == "" {
		o.Title = "Context compacted"
		if name := line(clean(prompt.Project)); name != "" {
			o.Title += ": " + cut(name, maxTitle/2)
		}
	}
	return o, o.Narrative != ""
}

// section is a heading and what stands under it.
type section struct {
	head block
	body []block
}

// sectionsOf cuts blocks where a heading stands, or a numbered item that announces something.
func sectionsOf(all []block) []section {
	var list []section
	for _, b := range all {
		numbered := b.shape == item && isDigit(b.raw[0])
		if b.shape == heading || numbered && strings.Contains(b.text, ":") || len(list) == 0 {
			list = append(list, section{head: b})
			continue
		}
		list[len(list)-1].body = append(list[len(list)-1].body, b)
	}
	return list
}

// compactionTitle is the first thing said under the first section: the request.
func compactionTitle(sections []section) string {
	for _, s := range sections {
		if _, after, ok := strings.Cut(s.head.text, ":"); ok {
			if t, _ := title(strings.TrimSpace(after)); t != "" {
				return t
			}
		}
		if t := reportTitle(s.body); t != "" {
			return t
		}
		if s.head.shape == paragraph {
			if t, _ := title(s.head.text); t != "" {
				return t
			}
		}
	}
	return ""
}

// quoteSections gives each section its share of n runes; what short ones leave goes to those behind them.
func quoteSections(sections []section, n int) string {
	var parts []string
	for i, s := range sections {
		share := n / (len(sections) - i)
		text := narrative(append([]block{s.head}, s.body...), share)
		if text == "" {
			continue
		}
		if text = strings.TrimSpace(text); runes(text) > share {
			text = lead(text, share)
		}
		n -= runes(text)
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n")
}
