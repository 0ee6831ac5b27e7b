package usage

import (
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/turn"
)

func (k cellKey) bytes() []byte { return engine.Pack(&k) }

func (k *cellKey) parse(b []byte) error { return engine.Unpack(b, k) }

// Form has an order in which a day can be read without anything else, and what belongs to a quarter lies side by side.
func (k *cellKey) Form(p *engine.Packed) {
	results, result := results(), resultCode(k.result)
	p.Int64(&k.quarter)
	p.Fixed(k.session[:])
	p.Flags(&k.probe)
	p.Code(&result, len(results))
	k.result = results[min(int(result), len(results)-1)]
	p.Text(&k.failure)
	k.by.form(p)
}

func (a *answerer) form(p *engine.Packed) {
	p.Text(&a.provider)
	p.Text(&a.model)
	p.Text(&a.asked)
}

// results are the results by their number on disk.
func results() [5]turn.Result {
	return [...]turn.Result{"", turn.Kept, turn.Skipped, turn.Dropped, turn.Failed}
}

func resultCode(r turn.Result) byte {
	results := results()
	return byte(max(slices.Index(results[:], r), 0))
}

// numbers are the fields of c in their order on disk.
func (c *Count) numbers() [12]*int64 {
	return [...]*int64{
		&c.Turns, &c.Again, &c.PromptBytes, &c.Input, &c.Cached, &c.Output, &c.Unmetered, &c.Calls, &c.Stated,
		&c.Unstated.Input, &c.Unstated.Cached, &c.Unstated.Output,
	}
}

// Form is the numbers.
func (c *Count) Form(p *engine.Packed) {
	for _, n := range c.numbers() {
		p.Varint(n)
	}
}

// Form ends with what the turn's cell is about.
func (t *turnCount) Form(p *engine.Packed) {
	t.count.Form(p)
	p.Flags(&t.restated)
	p.Varint(&t.captured)
	p.Text(&t.asked)
	t.key.Form(p)
}

func showCell(b []byte) string {
	var k cellKey
	if k.parse(b) != nil {
		return engine.ShowHex(b)
	}
	return fmt.Sprintf("%s %s", time.Unix(k.quarter*quarterSeconds, 0).UTC().Format("2006-01-02T15:04"), k)
}

// String is what k is about, for people.
func (k cellKey) String() string {
	what := string(k.result)
	if k.failure != "" {
		what += "/" + k.failure
	}
	if k.probe {
		what = "probe " + what
	}
	return fmt.Sprintf("%s %s %s %s", engine.ShowID(k.session[:]), what, k.by.provider, k.by.model)
}
