package rows

import (
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
)

// For those who build another index over the same log: Follow hands out the log's records in slices, as they come.
// Apply ObservationParsed, SummaryParsed, MemorySaved, PreferenceStated and PromptSubmitted under the ids that Row has (a prompt's and
// a preference's is its record's own id), keep what SessionOpened said of each session, treat an erased payload as absent, and remove what
// MemoryForgotten names by id and by position. Which rows are folded, superseded or forgotten is decided here alone:
// ask Views.Rows for the hits, and keep those that are Listed.

// Kind says what a Row is. It is the kind of memory, not of an event.
type Kind string

// The kinds of row.
const (
	Observation Kind = "observation"
	Summary     Kind = "summary"
	Memory      Kind = "memory" // saved by a person or an agent, or stated by a person
	Prompt      Kind = "prompt"
)

// Row is one piece of memory of any kind. Fields that its kind does not have are zero. A Row is the caller's.
type Row struct {
	ID           events.ID        `cbor:"1,keyasint,omitzero" json:"id"`
	Kind         Kind             `cbor:"2,keyasint,omitempty" json:"kind"` // empty: unknown id, or forgotten
	Position     events.Position  `cbor:"3,keyasint,omitempty" json:"position"`
	At           time.Time        `cbor:"4,keyasint,omitzero" json:"at"` // when it happened; of a saved memory: when it was true
	Session      events.SessionID `cbor:"5,keyasint,omitzero" json:"session,omitzero"`
	Agent        string           `cbor:"6,keyasint,omitempty" json:"agent,omitempty"`
	AgentSession string           `cbor:"7,keyasint,omitempty" json:"agent_session,omitempty"`
	Project      string           `cbor:"8,keyasint,omitempty" json:"project"`
	ProjectRoot  string           `cbor:"9,keyasint,omitempty" json:"project_root,omitempty"`
	Prompt       int              `cbor:"10,keyasint,omitempty" json:"prompt,omitempty"` // number of the user's prompt in the session

	Type            string   `cbor:"11,keyasint,omitempty" json:"type,omitempty"`
	TypeGiven       string   `cbor:"12,keyasint,omitempty" json:"type_given,omitempty"` // the model's word where Type is unknown
	Title           string   `cbor:"13,keyasint,omitempty" json:"title,omitempty"`
	Subtitle        string   `cbor:"14,keyasint,omitempty" json:"subtitle,omitempty"`
	Narrative       string   `cbor:"15,keyasint,omitempty" json:"narrative,omitempty"` // of an observation
	Text            string   `cbor:"16,keyasint,omitempty" json:"text,omitempty"`      // of a memory or a prompt
	Facts           []string `cbor:"17,keyasint,omitempty" json:"facts,omitempty"`
	Concepts        []string `cbor:"18,keyasint,omitempty" json:"concepts,omitempty"`
	FilesRead       []string `cbor:"19,keyasint,omitempty" json:"files_read,omitempty"`
	FilesModified   []string `cbor:"20,keyasint,omitempty" json:"files_modified,omitempty"`
	FilesUnverified []string `cbor:"21,keyasint,omitempty" json:"files_unverified,omitempty"` // claimed, not seen; of a memory: as the saver says

	Request      string `cbor:"22,keyasint,omitempty" json:"request,omitempty"` // this and the next five: of a summary
	Investigated string `cbor:"23,keyasint,omitempty" json:"investigated,omitempty"`
	Learned      string `cbor:"24,keyasint,omitempty" json:"learned,omitempty"`
	Completed    string `cbor:"25,keyasint,omitempty" json:"completed,omitempty"`
	NextSteps    string `cbor:"26,keyasint,omitempty" json:"next_steps,omitempty"`
	Notes        string `cbor:"27,keyasint,omitempty" json:"notes,omitempty"`

	Claims []events.Claim `cbor:"28,keyasint,omitempty" json:"claims,omitempty"` // as found when the output arrived
	Checks []Check        `cbor:"29,keyasint,omitempty" json:"checks,omitempty"` // later ones, oldest first
	Unseen bool           `cbor:"30,keyasint,omitempty" json:"unseen,omitempty"` // names files, none of which the session touched, or lists one that nobody did

	// Flagged: Unseen, Unsupported or Undone and not Confirmed, or a claim that is absent and was never verified. Marked wherever it is
	// shown, never injected.
	Flagged bool `cbor:"31,keyasint,omitempty" json:"flagged,omitempty"`

	Turn  events.ID   `cbor:"32,keyasint,omitzero" json:"turn,omitzero"`    // that led to it; zero: none
	Turns []events.ID `cbor:"33,keyasint,omitempty" json:"turns,omitempty"` // of all that are folded into it, its own first
	Count int         `cbor:"34,keyasint,omitempty" json:"count,omitempty"` // how often it was said; 0 for what is folded away

	FoldedInto   events.ID `cbor:"35,keyasint,omitzero" json:"folded_into,omitzero"` // the row that stands for all that say the same
	Superseded   bool      `cbor:"36,keyasint,omitempty" json:"superseded,omitempty"`
	SupersededBy events.ID `cbor:"37,keyasint,omitzero" json:"superseded_by,omitzero"` // the memory, the newer summary, or the turn whose rows, took its place
	Forgotten    bool      `cbor:"38,keyasint,omitempty" json:"forgotten,omitempty"`   // only ID, Position and At (of the forgetting) are left
	Private      bool      `cbor:"39,keyasint,omitempty" json:"private,omitempty"`     // a prompt that was private: no text
	Source       string    `cbor:"47,keyasint,omitempty" json:"source,omitempty"`      // of an imported observation or summary: the memory that it comes from
	ByHand       bool      `cbor:"45,keyasint,omitempty" json:"by_hand,omitempty"`     // a person superseded it: by a memory, or by itself where it was only taken back

	// Outdated: a newer summary of its session stands, and supersedes it.
	Outdated bool `cbor:"50,keyasint,omitempty" json:"outdated,omitempty"`

	Writer   events.Writer `cbor:"48,keyasint,omitempty" json:"writer,omitempty"` // who says it
	Sentence events.Key    `cbor:"49,keyasint,omitzero" json:"-"`                 // of a preference that was stated: what says the same has it too

	// ForgetRequests are the open requests of agents to forget it: it is not listed until a person has refused them, or they expired.
	ForgetRequests []events.ID `cbor:"51,keyasint,omitempty" json:"forget_requests,omitempty"`

	Origin      events.Origin     `cbor:"60,keyasint,omitempty" json:"origin,omitempty"`      // whose words the turn read
	Outside     []events.Position `cbor:"61,keyasint,omitempty" json:"outside,omitempty"`     // its inputs that held others' words
	Unsupported bool              `cbor:"62,keyasint,omitempty" json:"unsupported,omitempty"` // a decision, or next steps, that nothing bears out
	// Confirmed is where a person vouches for it, whatever Origin, Unseen and Unsupported say; 0: none does.
	Confirmed events.Position `cbor:"63,keyasint,omitempty" json:"confirmed,omitempty"`

	// Undone is what its session did later to the work that it tells of; zero: nothing.
	Undone Undone `cbor:"64,keyasint,omitzero" json:"undone,omitzero"`

	// Place is where its own log has it; zero: there is one log alone.
	Place events.Place `cbor:"65,keyasint,omitzero" json:"place,omitzero"`

	Machine string `cbor:"-" json:"machine,omitempty"` // another one, that Place is of, by its name; filled when read

	Stands []Stand `cbor:"46,keyasint,omitempty" json:"stands,omitempty"` // how Superseded, SupersededBy and ByHand came about, oldest first
}

// Stand says that from a record on a row was superseded, or stood again.
type Stand struct {
	Position events.Position `cbor:"1,keyasint,omitempty" json:"position"`
	By       events.ID       `cbor:"2,keyasint,omitzero" json:"by,omitzero"` // as SupersededBy; zero: it stood again
	ByHand   bool            `cbor:"3,keyasint,omitempty" json:"by_hand,omitempty"`
}

// Undone says that of the work which a row tells of nothing is left in the files.
type Undone struct {
	Position events.Position `cbor:"1,keyasint,omitempty" json:"position"` // of the record that says so
	By       events.Position `cbor:"2,keyasint,omitempty" json:"by"`       // of the tool use that took the last of it out
	How      events.Undoing  `cbor:"3,keyasint,omitempty" json:"how"`
}

// Check is a later check of one of a row's claims.
type Check struct {
	At       time.Time       `cbor:"1,keyasint,omitzero" json:"at"`
	Claim    events.Claim    `cbor:"2,keyasint,omitzero" json:"claim"`
	Position events.Position `cbor:"3,keyasint,omitempty" json:"position"` // of the record that says so
}

// What is what a row is called in a word wherever one is shown: an observation by its type, anything else by its kind.
func (r Row) What() string { return What(r.Kind, r.Type) }

// What is Row.What for a row of a kind and a type.
func What(k Kind, typ string) string {
	if k == Observation && typ != "" {
		return typ
	}
	return string(k)
}

// By is who says the row, in words, where a reader is to know: empty where it is who says that kind of row as a rule, and nobody else's
// words were read for it.
func (r Row) By() string { return By(r.Kind, r.Writer, r.External()) }

// By is Row.By for a row of a kind and a writer, which is External or not. What is saved, the person saves, as a rule; an agent that does
// may have been talked into it.
func By(k Kind, w events.Writer, external bool) string {
	switch {
	case external:
		return "(outside)"
	case k != Memory || w == events.WriterPerson:
		return ""
	case w == events.WriterAgent:
		return "by an agent"
	}
	return "by an unknown writer" // before writers were on record
}

// Text is one of a row's texts.
type Text struct {
	Field string // its name in JSON
	Label string // that a reader is shown before it; empty: none
	Text  string
}

// Texts are what people wrote or read of the row in the order in which it is read, but for its title and lists. Texts that
// it does not have are empty.
func (r Row) Texts() []Text {
	return []Text{
		{"subtitle", "", r.Subtitle},
		{"narrative", "", r.Narrative},
		{"text", "", r.Text},
		{"request", "Asked", r.Request},
		{"investigated", "Looked at", r.Investigated},
		{"learned", "Learned", r.Learned},
		{"completed", "Done", r.Completed},
		{"next_steps", "Next steps", r.NextSteps},
		{"notes", "Notes", r.Notes},
	}
}

// Words are the title, the texts and the facts of the row, but for empty ones.
func (r Row) Words() []string {
	texts := r.Texts()
	words := append(make([]string, 0, 1+len(texts)+len(r.Facts)), r.Title)
	for _, t := range texts {
		words = append(words, t.Text)
	}
	words = append(words, r.Facts...)
	return slices.DeleteFunc(words, func(s string) bool { return s == "" })
}

// Titles are the texts of which the first that is not blank stands for the row in lists.
func (r Row) Titles() []string {
	texts := []string{r.Title, r.Request, r.Text, r.Narrative, r.Completed, r.Learned, r.Investigated, r.NextSteps}
	for _, list := range [][]string{r.Facts, r.Concepts} {
		if len(list) > 0 {
			texts = append(texts, list[0])
		}
	}
	return texts
}

// Stated reports whether a row is a preference that a person stated. Once it is taken back, it stands for all that say the same later:
// these are folded into it, and not listed.
func (r Row) Stated() bool { return !r.Sentence.IsZero() }

// Listed reports whether the row belongs in lists and answers: it exists and is not folded into another, superseded,
// forgotten, or private, and nobody has asked to forget it.
func (r Row) Listed() bool {
	return len(r.ForgetRequests) == 0 && r.Kind != "" && r.FoldedInto == (events.ID{}) && !r.Superseded && !r.Outdated && !r.Forgotten && !r.Private
}

// Verdict is a claim with what was found when it was recorded, and what the latest check found.
type Verdict struct {
	Claim     events.Claim   `json:"claim"` // with the verdict of then
	Now       events.Verdict `json:"now"`
	Evidence  string         `json:"evidence,omitempty"`  // of now
	CheckedAt time.Time      `json:"checked_at,omitzero"` // of the latest check; zero: none since it was recorded
	Verified  bool           `json:"verified,omitempty"`  // then, or by any check
}

// Gone reports whether what the claim names was there once and is not any more: after a rebase, say.
func (v Verdict) Gone() bool { return v.Now == events.Absent && v.Verified }

// Verdicts lists the row's claims, in their order, with the latest verdict on each.
func (r Row) Verdicts() []Verdict {
	out := make([]Verdict, 0, len(r.Claims))
	for _, c := range r.Claims {
		v := Verdict{Claim: c, Now: c.Verdict, Evidence: c.Evidence, Verified: c.Verdict == events.Verified}
		for _, check := range r.Checks {
			if check.Claim.Kind != c.Kind || check.Claim.Value != c.Value {
				continue
			}
			v.Now, v.Evidence, v.CheckedAt = check.Claim.Verdict, check.Claim.Evidence, check.At
			v.Verified = v.Verified || v.Now == events.Verified
		}
		out = append(out, v)
	}
	return out
}

// External reports whether the words of others were read for the row, and no person has confirmed it since: readers are warned, and
// neither its decision nor its next steps.
func (r Row) External() bool { return r.Origin == events.OriginOutside && r.Confirmed == 0 }

// IsUndone reports whether nothing is left of the work that the row tells of, and no person has vouched for the row.
func (r Row) IsUndone() bool { return r.Undone.Position != 0 && r.Confirmed == 0 }

// flagged reports whether the row says what nothing bears out, tells of work that was undone, or makes a claim that is absent
// and was never verified. What was true once was no lie, whatever became of it; what a person confirmed stands, but no commit
// is there because somebody says so.
func flagged(row Row) bool {
	if (row.Unseen || row.Unsupported) && row.Confirmed == 0 || row.IsUndone() {
		return true
	}
	return slices.ContainsFunc(row.Verdicts(), func(v Verdict) bool { return v.Now == events.Absent && !v.Gone() })
}

// AsOf is the row by itself as it stood at the record of a position, which was recorded at a time: superseded by whoever had
// said so last, and flagged as far as its claims had been checked. One that is forgotten or folded away stays so, and what
// it counts stays counted: Views.RowsAsOf knows of those that say the same.
func (r Row) AsOf(p events.Position, at time.Time) Row {
	r.Checks = slices.DeleteFunc(slices.Clone(r.Checks), func(c Check) bool { return c.At.After(at) })
	if r.Confirmed > p {
		r.Confirmed = 0
	}
	if r.Undone.Position > p {
		r.Undone = Undone{}
	}
	r.Flagged = flagged(r)
	r.Stands = slices.DeleteFunc(slices.Clone(r.Stands), func(s Stand) bool { return s.Position > p })
	r.applyStands()
	return r
}

// applyStands makes the row's state what the last of its Stands says.
func (r *Row) applyStands() {
	last := Stand{}
	if n := len(r.Stands); n > 0 {
		last = r.Stands[n-1]
	}
	r.Superseded, r.SupersededBy, r.ByHand = last.By != events.ID{}, last.By, last.ByHand
}

func ownTurn(row Row) []events.ID { return withTurn(nil, row.Turn) }

func withTurn(turns []events.ID, turn events.ID) []events.ID {
	if turn == (events.ID{}) || slices.Contains(turns, turn) {
		return turns
	}
	return append(turns, turn)
}
