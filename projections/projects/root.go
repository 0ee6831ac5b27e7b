package projects

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// Root is a folder that work was done in, and the project that it is of: roots of one Key are one project.
type Root struct {
	Path         string          `cbor:"1,keyasint,omitempty" json:"root"`
	Key          string          `cbor:"2,keyasint,omitempty" json:"key"`
	Name         string          `cbor:"3,keyasint,omitempty" json:"name,omitempty"`     // shown
	File         string          `cbor:"4,keyasint,omitempty" json:"file,omitempty"`     // what names it wherever it is moved to
	Claim        string          `cbor:"5,keyasint,omitempty" json:"claim,omitempty"`    // the key that it claims; empty: its sessions are older than claims
	Last         events.Position `cbor:"6,keyasint,omitempty" json:"last,omitempty"`     // of its latest session's opening; 0: none yet
	At           time.Time       `cbor:"7,keyasint,omitzero" json:"at,omitzero"`         // of the same
	Decided      bool            `cbor:"8,keyasint,omitempty" json:"word,omitempty"`     // a person said which project it is
	Notified     bool            `cbor:"9,keyasint,omitempty" json:"notified,omitempty"` // a session that shows notices has started with this claim
	Said         engine.Said     `cbor:"11,keyasint,omitzero" json:"-"`                  // of the word that stands, where there are other machines
	LegacyClaims bool            `cbor:"10,keyasint,omitempty" json:"old,omitempty"`     // a release that believed claims was here last of those that show notices
}

// Given says that memory with a project's name and no folder is of the project of Root.
type Given struct {
	Name string `cbor:"1,keyasint,omitempty" json:"name"`
	Root string `cbor:"2,keyasint,omitempty" json:"root"` // empty: it was taken back, where there are other machines

	Said engine.Said `cbor:"3,keyasint,omitzero" json:"-"` // of the word that stands, where there are
}

// OwnKey is the key of a folder that is a project of its own, whatever it claims. Nothing claims such a key.
func OwnKey(root string) string { return "root:" + root }

// RootOf is the folder that e is about; empty if it is about none.
func RootOf(e events.Event) string {
	switch e := e.(type) {
	case events.SessionOpened:
		if e.ProjectKey != "" {
			return e.ProjectRoot
		}
	case events.ProjectJoined:
		return e.Root
	case events.ProjectParted:
		return e.Root
	}
	return ""
}

// After is r once e has happened, an event about it that was recorded at a position and happened at a time.
func (r Root) After(e events.Event, position events.Position, at time.Time) Root {
	r.Path = RootOf(e)
	switch e := e.(type) {
	case events.SessionOpened:
		r.Last, r.At = position, at
		return r.opened(e)
	case events.ProjectJoined:
		r.Key, r.Decided = e.Key, true
	case events.ProjectParted:
		r.Key, r.Decided = OwnKey(e.Root), true
	}
	return r
}

// opened is r after a session was opened in it. What a person said stands.
func (r Root) opened(e events.SessionOpened) Root {
	if !r.Decided {
		r.Key = e.ProjectKey
	}
	if e.RootFile != "" {
		r.File = e.RootFile
	}
	r.Name = e.Project
	if e.ProjectClaim == "" {
		r.LegacyClaims = true
		return r
	}
	tells := showsNotices(e.Source)
	r.Notified = r.Notified && r.Claim == e.ProjectClaim || tells
	r.LegacyClaims = r.LegacyClaims && !tells
	r.Claim = e.ProjectClaim
	return r
}

// showsNotices reports whether a session that was opened so shows the person a notice.
func showsNotices(source string) bool {
	switch source {
	case "transcript", "import", "sight":
		return false
	}
	return true
}
