package usage

import (
	"math"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/turn"
)

// View counts what turns cost: by when they ended, by session, by who answered, and by what came of them. It holds
// numbers and names of models, no words. What a turn cost, and which model answered where it is not the one that was asked,
// is stated by the payload of its end, and once that is erased by the MemoryForgotten that names it. Older ones state
// nothing: such a turn counts on as one whose cost nobody knows.
type View struct{}

func (View) Name() string        { return "usage" }
func (View) Reads() engine.Reads { return engine.Reads{SkipsUnknown: true} }

func cellTable() engine.Table[Count] {
	return engine.Table[Count]{Name: "cells", Ordered: true}
}
func turnTable() engine.Table[turnCount] {
	return engine.Table[turnCount]{Name: "turns", Ordered: true}
}

func (View) Layout() engine.Layout {
	return engine.Layout{Version: 5, Tables: []engine.TableSpec{cellTable().Spec(showCell), turnTable().Spec(engine.ShowID)}}
}

// quarterSeconds is how exactly it is known when a turn ended: every time zone in use differs from UTC by whole quarters
// of an hour, so that the days of each can be put together.
const quarterSeconds = 15 * 60

// quarterAt is the quarter of an hour in which t lies, counted from the Unix epoch; times before it lie in the first.
func quarterAt(t time.Time) int64 { return max(t.Unix(), 0) / quarterSeconds }

// Count is what turns cost.
type Count struct {
	Turns       int64 `json:"turns"`            // that ended, failed ones included
	Again       int64 `json:"again"`            // of them, those that asked once more about what an earlier one had failed on
	Calls       int64 `json:"calls"`            // requests sent for them, as far as they were counted
	PromptBytes int64 `json:"prompt_bytes"`     // of the questions as they were sent; of turns that did not count them: of what was captured
	Input       int64 `json:"input_tokens"`     // as far as the provider says, as all tokens; of failed turns too
	Cached      int64 `json:"cached_tokens"`    // of Input, read from a cache
	Output      int64 `json:"output_tokens"`    //
	Unmetered   int64 `json:"untold,omitempty"` // turns of which no tokens are known: nobody stated them, or they were erased

	Stated   int64        `json:"-"` // billionths of a US dollar, as providers say
	Unstated events.Usage `json:"-"` // tokens of the requests of which the provider did not say what they cost
}

// Tokens is input and output together.
func (c Count) Tokens() int64 { return c.Input + c.Output }

// Add adds other's numbers to c's, times by.
func (c *Count) Add(other Count, by int64) {
	from := other.numbers()
	for i, n := range c.numbers() {
		*n += by * *from[i]
	}
}

// nanosPerDollar is how exactly money is counted: in whole numbers, so that sums can be taken back to nothing.
const nanosPerDollar = 1e9

// maxStated is the most US dollars that one turn is believed to have cost. It keeps sums in range.
const maxStated = 1e6

// billionths is usd as it is counted.
func billionths(usd float64) int64 {
	if !(usd > 0) {
		return 0
	}
	return int64(math.Round(min(usd, maxStated) * nanosPerDollar))
}

// Model is what one model of one provider cost. It is the one that answered, as far as it said so.
type Model struct {
	Provider string `json:"provider"`
	Model    string `json:"model,omitempty"`
	Asked    string `json:"asked,omitempty"` // the model that was asked, where another one answered
	Count
}

// Money is what something cost in US dollars.
type Money struct {
	Stated   float64 // by the provider
	Listed   float64 // by prices, of tokens of which it stated nothing
	Unpriced int64   // such tokens that no price is known of
}

// USD is all that is known.
func (m Money) USD() float64 { return m.Stated + m.Listed }

// Price is what tokens of a provider's model cost in US dollars; ok is false where that is not known. A nil one knows nothing.
type Price func(provider, model string, tokens events.Usage) (usd float64, ok bool)

// Of is what tokens cost by the price of the model that answered or, where none is known, by that of the one that was asked.
func (p Price) Of(provider, answered, asked string, tokens events.Usage) (usd float64, ok bool) {
	if p == nil {
		return 0, false
	}
	if usd, ok = p(provider, answered, tokens); ok || asked == "" || asked == answered {
		return usd, ok
	}
	return p(provider, asked, tokens)
}

// Money is what m cost.
func (m Model) Money(price Price) Money {
	money := Money{Stated: float64(m.Stated) / nanosPerDollar}
	n := m.Unstated.Input + m.Unstated.Output
	if n == 0 {
		return money
	}
	usd, ok := price.Of(m.Provider, m.Model, m.Asked, m.Unstated)
	if !ok {
		money.Unpriced = n
		return money
	}
	money.Listed = usd
	return money
}

// By is what a Usage is divided by.
type By string

// The ways to divide it.
const (
	ByDay      By = "day"
	BySession  By = "session"
	ByModel    By = "model"
	ByProvider By = "provider"
	ByOutcome  By = "outcome"
)

// Filter chooses turns by when they ended, exact to a quarter of an hour. Its zero value is all of them, by day.
type Filter struct {
	Since   time.Time                 // the quarter of an hour that it lies in counts
	Until   time.Time                 // so does this one's, unless it begins with it; zero: no end
	Session events.SessionID          // zero: all
	Among   map[events.SessionID]bool // nil: all
	By      By                        // empty: by day
	Zone    *time.Location            // whose days; nil means UTC
}

// Key is a day, a session, a provider, a model of it, or an outcome. Only the fields that turns are divided by are set.
type Key struct {
	Day      string              `json:"day,omitempty"` // 2006-01-02
	Session  events.SessionID    `json:"session,omitzero"`
	Provider string              `json:"provider,omitempty"`
	Model    string              `json:"model,omitempty"`
	Result   turn.Result         `json:"outcome,omitempty"` // kept, skipped, dropped, failed
	Failure  events.FailureClass `json:"class,omitempty"`   // of failed ones; empty: it was erased before it was kept
	Probe    bool                `json:"probe,omitempty"`   // turns that tried whether a quarantine can end
}

// Group is what the turns of one Key cost.
type Group struct {
	Key
	Models []Model // what it is made of, by provider, then model
}

// cellKey is what a cell is about.
type cellKey struct {
	quarter int64
	session events.SessionID
	result  turn.Result
	failure string
	probe   bool
	by      answerer
}

// answerer is who answered.
type answerer struct {
	provider string
	model    string
	asked    string // the model that was asked, where it is not the one that answered
}

func (a answerer) usage(c Count) Model { return Model{a.provider, a.model, a.asked, c} }
