package recall

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/rows"
)

// Item is a row in short, for the entry that it is part of: enough to decide whether to read it.
type Item struct {
	ID           events.ID       `json:"id"`
	Handle       rows.Handle     `json:"handle,omitzero"` // short for ID, in this log
	Kind         rows.Kind       `json:"kind"`
	Title        string          `json:"title"`
	Score        float64         `json:"score"` // 0 where nothing was searched for
	Project      string          `json:"project"`
	ProjectRoot  string          `json:"project_root,omitempty"`
	Session      string          `json:"session,omitempty"`       // our id; of a saved memory: the name that its saver gave
	AgentSession string          `json:"agent_session,omitempty"` // the agent's own id
	Agent        string          `json:"agent,omitempty"`
	At           time.Time       `json:"at"`
	Position     events.Position `json:"position"`
	Type         string          `json:"type,omitempty"`
	Tokens       int             `json:"tokens"` // what the whole row costs to read, about
	Count        int             `json:"count,omitempty"`
	Writer       events.Writer   `json:"writer,omitempty"`  // who says it
	Outside      bool            `json:"outside,omitempty"` // others' words were read for it, and no person confirmed it
	Flagged      bool            `json:"flagged,omitempty"` // makes a claim that is not true, names files nobody touched, or is Undone
	Undone       bool            `json:"undone,omitempty"`  // tells of work that the session undid later
	Newer        rows.Handle     `json:"newer,omitzero"`    // of a result: the newest on its page whose work goes on with the same code
	Snippet      string          `json:"snippet,omitempty"` // where the query's words are
	Similar      []events.ID     `json:"similar,omitempty"` // rows that say nearly the same; Count counts them too
	Parts        []EntryPart     `json:"parts,omitempty"`   // the other rows of its entry, the prompt first
	Mark         events.ID       `json:"-"`                 // of its entry, by which later pages know that it was shown
	Explain      *Explained      `json:"explain,omitempty"` // why it has its score, if asked for
	Ranks        *Ranks          `json:"ranks,omitempty"`   // if an explanation was asked for and vectors were looked at
}

// What is what the row is called in a word, as Row.What is.
func (it Item) What() string { return rows.What(it.Kind, it.Type) }

// By is who says the row, in words, where a reader is to know, as Row.By is.
func (it Item) By() string { return rows.By(it.Kind, it.Writer, it.Outside) }

// maxTitle is the longest title in characters that an item shows.
const maxTitle = 160

func itemOf(row rows.Row) Item {
	it := Item{
		ID: row.ID, Handle: row.Handle(), Kind: row.Kind, Title: titleOf(row), Project: row.Project, ProjectRoot: row.ProjectRoot,
		AgentSession: row.AgentSession, Agent: row.Agent, At: row.At, Position: row.Position, Type: row.Type,
		Tokens: tokensOf(row), Writer: row.Writer, Outside: row.External(), Flagged: row.Flagged, Undone: row.IsUndone(), Mark: row.Entry().Mark(),
	}
	if row.Count > 1 {
		it.Count = row.Count
	}
	if !row.Session.IsZero() {
		it.Session = row.Session.String()
	}
	if row.Kind == rows.Memory && row.AgentSession != "" {
		it.Session = row.AgentSession
	}
	return it
}

// titleOf returns one line that stands for the row.
func titleOf(row rows.Row) string {
	if row.Forgotten {
		return "(forgotten)"
	}
	for _, s := range row.Titles() {
		if line := oneLine(s, maxTitle); line != "" {
			return line
		}
	}
	return "(untitled)"
}

func tokensOf(row rows.Row) int {
	n := 0
	for _, s := range row.Words() {
		n += utf8.RuneCountInString(s)
	}
	for _, list := range [][]string{row.Concepts, row.FilesRead, row.FilesModified, row.FilesUnverified} {
		n += len(strings.Join(list, ", "))
	}
	return (n + number.CharactersPerToken - 1) / number.CharactersPerToken
}

// Explained says what a result's score is made of, or where vectors were looked at too, the one that it has by
// its words: (Words * Kind * (1 + Recency) + Session + Date + Near) * (1 + Phrase).
type Explained struct {
	index.Parts
	Phrase float64 `json:"phrase,omitempty"` // words of the query that stand together in it
	Terms  []Term  `json:"terms"`            // of the query that it holds, what is worth most first; never nil
}

// Term is a word of the query in a result.
type Term struct {
	index.TermScore
	Fields map[string]int `json:"fields"` // how often it stands where
}
