package providers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
)

// comparison is what two observers made of the same sessions.
type comparison struct {
	Observers []*comparedObserver `json:"observers"`
	Sessions  []comparedSession   `json:"sessions"`
}

// comparedSession is what they wrote of one session.
type comparedSession struct {
	Session events.SessionID `json:"session"`
	Agent   string           `json:"agent"`
	Project string           `json:"project"`
	At      time.Time        `json:"at"`     // of its last event
	Inputs  int              `json:"inputs"` // that there are to observe
	Prompts []comparedPrompt `json:"prompts"`
}

// comparedPrompt is what they wrote of the work for one prompt; number 0 is what came before the first.
type comparedPrompt struct {
	Number int             `json:"number"`
	Text   string          `json:"text,omitempty"`
	Rows   [][]comparedRow `json:"rows"` // an observer's each, in their order
}

// newComparison is a comparison in which nobody has written anything yet.
func newComparison(both []*comparedObserver, captured [][]events.Record) *comparison {
	c := &comparison{Observers: both}
	for _, records := range captured {
		s := comparedSession{}
		s.Session, _ = records[0].Stream.Session()
		for _, r := range records {
			s.At = r.OccurredAt
			if r.IsInput() {
				s.Inputs++
			}
			e, _ := r.Event() // what is erased says nothing
			switch e := e.(type) {
			case events.SessionOpened:
				s.Agent, s.Project = e.Agent, e.Project
			case events.PromptSubmitted:
				s.prompt(e.Number, len(both)).Text = e.Text
			}
		}
		c.Sessions = append(c.Sessions, s)
	}
	return c
}

// prompt is the part of a number, which is made where there is none.
func (s *comparedSession) prompt(number, observers int) *comparedPrompt {
	i, found := slices.BinarySearchFunc(s.Prompts, number, func(p comparedPrompt, n int) int { return p.Number - n })
	if !found {
		p := comparedPrompt{Number: number}
		for range observers {
			p.Rows = append(p.Rows, []comparedRow{})
		}
		s.Prompts = slices.Insert(s.Prompts, i, p)
	}
	return &s.Prompts[i]
}

// rows returns what takes the rows of one of the observers.
func (c *comparison) rows(by int) func(session int, rows []comparedRow) {
	return func(session int, rows []comparedRow) {
		for _, r := range rows {
			p := c.Sessions[session].prompt(r.Prompt, len(c.Observers))
			p.Rows[by] = append(p.Rows[by], r)
		}
	}
}

// show shows the rows side by side, and then what they cost.
func (c *comparison) show(a *terminal.App) {
	for _, s := range c.Sessions {
		a.Printf("%s %s, %s, %s\n", terminal.VisibleLine(s.Agent), a.ShownSession(s.Session), terminal.VisibleLine(s.Project), terminal.Moment(s.At))
		l := terminal.List{Head: []string{"PROMPT"}}
		for _, o := range c.Observers {
			l.Head = append(l.Head, strings.ToUpper(terminal.NameOfModel(o.Provider, o.Model)))
		}
		for _, p := range s.Prompts {
			p.add(&l)
		}
		a.Print(l)
		a.Printf("\n")
	}
	l := terminal.List{Head: []string{"OBSERVER", "TURNS", "SKIPPED", "DROPPED", "FAILED", "ROWS", "ROW TOKENS", "CALLS", "INPUT", "OUTPUT", "COST", "TOOK"}}
	for _, o := range c.Observers {
		cells := []string{terminal.NameOfModel(o.Provider, o.Model), fmt.Sprint(o.Cost.Turns)}
		for _, n := range []int{o.Skipped, o.Dropped, o.Failed, o.Rows, o.RowTokens} {
			cells = append(cells, strconv.Itoa(n))
		}
		cells = append(cells, fmt.Sprint(o.Cost.Calls), fmt.Sprint(o.Cost.Input), fmt.Sprint(o.Cost.Output), terminal.CostOf(o.Cost))
		l.Add(append(cells, (time.Duration(o.TookMS) * time.Millisecond).String())...)
	}
	a.Print(l)
	a.Infof("nothing of it is memory; `--json` has every row whole")
}

// add puts the rows of a prompt beside each other.
func (p comparedPrompt) add(l *terminal.List) {
	most := 1
	for _, rows := range p.Rows {
		most = max(most, len(rows))
	}
	for i := range most {
		cells := []string{""}
		if i == 0 {
			cells[0] = strings.TrimSpace(fmt.Sprintf("%d %s", p.Number, shortened(p.Text, shownPrompt)))
		}
		for _, rows := range p.Rows {
			cell := ""
			if i < len(rows) {
				cell = shortened(rows[i].line(), shownRow)
			}
			cells = append(cells, cell)
		}
		l.Add(cells...)
	}
}

// How many characters are shown of a prompt and of a row: two rows stand beside each other.
const (
	shownPrompt = 40
	shownRow    = 120
)

// shortened is at most n characters of s, in one line.
func shortened(s string, n int) string {
	return terminal.Shortened(strings.Join(strings.Fields(s), " "), n)
}
