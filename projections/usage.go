package projections

import (
	"time"

	"github.com/cmemd/cmemd/events"
)

// usageView counts what turns cost: by when they ended, by session, by who was asked, and by what came of them. It holds
// numbers and names of models, no words. An answer's tokens are told by its payload alone: once that is erased, the turn
// counts on as one that told none.
type usageView struct{}

func (usageView) name() string       { return "usage" }
func (usageView) version() int       { return 1 }
func (usageView) skipsUnknown() bool { return true }

func usageCellTable() table[UsageCount]    { return table[UsageCount]{name: "cells", ordered: true} }
func usageSessionTable() table[UsageCount] { return table[UsageCount]{name: "sessions"} }
func usageTurnTable() table[usageTurn]     { return table[usageTurn]{name: "turns", ordered: true} }

func (usageView) tables() []tableSpec {
	return []tableSpec{usageCellTable().spec(showUsageCell), usageSessionTable().spec(showUsageSession), usageTurnTable().spec(showID)}
}

// quarterSeconds is how exactly it is known when a turn ended: every time zone in use differs from UTC by whole quarters
// of an hour, so that the days of each can be put together.
const quarterSeconds = 15 * 60

// quarterAt is the quarter of an hour in which t lies, counted from the Unix epoch; times before it lie in the first.
func quarterAt(t time.Time) int64 { return max(t.Unix(), 0) / quarterSeconds }

// UsageCount is what turns cost.
type UsageCount struct {
	Turns       int64 `json:"turns"`            // that ended, failed ones included
	Again       int64 `json:"again"`            // of them, those that asked once more about what an earlier one had failed on
	PromptBytes int64 `json:"prompt_bytes"`     // sent
	Input       int64 `json:"input_tokens"`     // as far as the provider says, as all tokens
	Cached      int64 `json:"cached_tokens"`    // of Input, read from a cache
	Output      int64 `json:"output_tokens"`    //
	Untold      int64 `json:"untold,omitempty"` // turns of which no tokens are known: nobody said, they failed, or it was erased
}

// Tokens is input and output together.
func (c UsageCount) Tokens() int64 { return c.Input + c.Output }

// Usage is the tokens of c.
func (c UsageCount) Usage() events.Usage {
	return events.Usage{Input: c.Input, Cached: c.Cached, Output: c.Output}
}

// Add adds other's numbers to c's, times by.
func (c *UsageCount) Add(other UsageCount, by int64) {
	c.Turns += by * other.Turns
	c.Again += by * other.Again
	c.PromptBytes += by * other.PromptBytes
	c.Input += by * other.Input
	c.Cached += by * other.Cached
	c.Output += by * other.Output
	c.Untold += by * other.Untold
}

// ModelUsage is what one model of one provider cost.
type ModelUsage struct {
	Provider string `json:"provider"`
	Model    string `json:"model,omitempty"`
	UsageCount
}

// UsageBy is what a Usage is divided by.
type UsageBy string

// The ways to divide it.
const (
	UsageByDay     UsageBy = "day"
	UsageBySession UsageBy = "session"
	UsageByModel   UsageBy = "model"
	UsageByOutcome UsageBy = "outcome"
)

// UsageFilter chooses turns by when they ended, exact to a quarter of an hour. Its zero value is all of them, by day.
type UsageFilter struct {
	Since   time.Time                 // the quarter of an hour that it lies in counts
	Until   time.Time                 // so does this one's, unless it begins with it; zero: no end
	Session events.SessionID          // zero: all
	Among   map[events.SessionID]bool // nil: all
	By      UsageBy                   // empty: by day
	Zone    *time.Location            // whose days; nil means UTC
}

// UsageKey is a day, a session, a model or an outcome. Only the fields that turns are divided by are set.
type UsageKey struct {
	Day      string              // 2006-01-02
	Session  events.SessionID    //
	Provider string              //
	Model    string              //
	Result   Result              // kept, skipped, dropped, failed
	Failure  events.FailureClass // of failed ones; empty: it was erased
	Probe    bool                // turns that tried whether a quarantine can end
}

// UsageGroup is what the turns of one UsageKey cost.
type UsageGroup struct {
	UsageKey
	Models []ModelUsage // what it is made of, by provider, then model
}

// Count is the sum over all models of g.
func (g UsageGroup) Count() UsageCount {
	var sum UsageCount
	for _, m := range g.Models {
		sum.Add(m.UsageCount, 1)
	}
	return sum
}

// usageKey is what a cell is about.
type usageKey struct {
	quarter int64
	session events.SessionID
	result  Result
	failure string
	probe   bool
	by      asked
}

// usageSession is what a sum of a session is about.
type usageSession struct {
	session events.SessionID
	by      asked
}
