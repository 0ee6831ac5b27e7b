package rows

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// Glance is what is known of a row without reading its texts and lists, which are most of what reading one costs.
type Glance struct {
	Listed bool   // as Row.Listed; of no row: false
	Holds  []bool // which of the words that were asked for may stand in it, in any letter case: one that does not may be among them
}

// Glances returns one Glance for every name, in the order of names. Words are in lower case.
func (v Reader) Glances(ctx context.Context, words []string, names ...Name) ([]Glance, error) {
	glances := make([]Glance, len(names))
	holds := make([]bool, len(names)*len(words))
	f := newWordFinder(words)
	err := v.Views.Read(ctx, func(r *engine.ReadTx) {
		findNamed(r, names, func(b viewTx, i int) bool {
			var s standing
			stored, ok := standingTable().ReadStored(b.x, names[i].ID[:], &s)
			if ok {
				at := i * len(words)
				glances[i] = Glance{Listed: s.listed(), Holds: holds[at : at+len(words)]}
				f.find(stored, glances[i].Holds)
			}
			return ok
		})
	})
	return glances, err
}

// standing is of a row what Row.Listed goes by: its fields are a Row's, and so are their numbers.
type standing struct {
	Kind           Kind        `cbor:"2,keyasint,omitempty"`
	FoldedInto     events.ID   `cbor:"35,keyasint,omitzero"`
	Superseded     bool        `cbor:"36,keyasint,omitempty"`
	Forgotten      bool        `cbor:"38,keyasint,omitempty"`
	Private        bool        `cbor:"39,keyasint,omitempty"`
	Outdated       bool        `cbor:"50,keyasint,omitempty"`
	ForgetRequests []events.ID `cbor:"51,keyasint,omitempty"`
}

// standingTable is rowTable, of which less is read.
func standingTable() engine.Table[standing] { return engine.Table[standing]{Name: rowTable().Name} }

func (s standing) listed() bool {
	return Row{
		Kind: s.Kind, FoldedInto: s.FoldedInto, Superseded: s.Superseded, Forgotten: s.Forgotten, Private: s.Private, Outdated: s.Outdated,
		ForgetRequests: s.ForgetRequests,
	}.Listed()
}

// wordFinder looks for words in rows as they are stored: their texts stand there as they are, between other bytes.
type wordFinder struct {
	words  [][]byte
	beyond bool   // one of them is not of ASCII
	low    []byte // the stored row at hand in lower case: its ASCII letters, or, beyond, all
}

func newWordFinder(words []string) *wordFinder {
	f := &wordFinder{words: make([][]byte, len(words))}
	for i, w := range words {
		f.words[i] = []byte(w)
		f.beyond = f.beyond || strings.ContainsFunc(w, func(r rune) bool { return r >= utf8.RuneSelf })
	}
	return f
}

// The letters beyond ASCII whose lower case is in it: I with a dot, and the sign of the kelvin.
var dottedI, kelvin = []byte("\u0130"), []byte("\u212a")

// find says of each word whether it may stand in a stored row. Bytes of the row that are no text are taken for letters, too, and end before
// the next text: no text begins in the middle of a letter.
func (f *wordFinder) find(stored []byte, holds []bool) {
	odd := false
	if f.beyond {
		f.low = bytes.ToLower(stored)
	} else {
		f.low = append(f.low[:0], stored...)
		for i, c := range f.low {
			if 'A' <= c && c <= 'Z' {
				f.low[i] = c + 'a' - 'A'
			}
		}
		odd = bytes.Contains(f.low, dottedI) || bytes.Contains(f.low, kelvin)
	}
	for i, w := range f.words {
		holds[i] = odd || bytes.Contains(f.low, w)
	}
}
