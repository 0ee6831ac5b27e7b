package providers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/extractive"
	"github.com/cmemd/cmemd/internal/observer/playback"
	"github.com/cmemd/cmemd/internal/setting"
	"github.com/cmemd/cmemd/projections/usage"
)

// comparedObserver is one of the observers, and what its work came to.
type comparedObserver struct {
	Provider  string    `json:"provider"`
	Model     string    `json:"model"`
	Cost      api.Spent `json:"cost"`
	TookMS    int64     `json:"took_ms"`
	Skipped   int       `json:"skipped"` // turns that found nothing worth recording
	Dropped   int       `json:"dropped"` // turns whose answers cannot be read
	Failed    int       `json:"failed"`
	Rows      int       `json:"rows"`
	RowTokens int       `json:"row_tokens"`        // of all rows' texts, about
	Failure   string    `json:"failure,omitempty"` // why it could not go on

	dir    string
	limit  time.Duration
	built  *Built
	prices config.Prices
}

// newComparedObserver makes the observer that is called NAME or NAME:MODEL. What it needs on disk goes into dir.
func newComparedObserver(a *terminal.App, named, dir string) (*comparedObserver, error) {
	who := setting.Asked{}
	who.Name, who.Model, _ = strings.Cut(named, ":")
	l, err := config.ForProvider(a, "")
	if err != nil {
		return nil, err
	}
	ps, err := config.LoadPrices(l.Home)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	built, err := Builder{Settings: l, Runs: dir}.Make(who)
	if err != nil {
		return nil, terminal.Advise(err, "`cmemd config show --all` lists the settings, and what they may be")
	}
	return &comparedObserver{Provider: who.Name, Model: built.Model(), dir: dir, limit: l.TurnTimeout + time.Second, built: built, prices: ps}, nil
}

// asksModel reports whether a question to c goes to a model.
func (c *comparedObserver) asksModel() bool {
	return c.Provider != extractive.Name && c.Provider != playback.Name
}

// estimate says how much the observer would be asked, and what that costs at the least.
func (c *comparedObserver) estimate(ctx context.Context, captured [][]events.Record) (string, error) {
	counted := &standIn{Provider: c.built.Provider}
	r, end, err := c.newRehearsal("counted.db", counted)
	if err != nil {
		return "", err
	}
	defer end()
	if err := r.playAll(ctx, captured); err != nil {
		return "", err
	}
	tokens := counted.bytes / number.CharactersPerToken
	line := fmt.Sprintf("%s is sent %s of captured work in about %s, some %s with no instructions counted", terminal.NameOfModel(c.Provider, c.Model),
		terminal.Size(counted.bytes), number.Plural(counted.turns, "turn"), number.Plural(tokens, "token"))
	usd, known := c.prices.Cost(c.Provider, c.Model, events.Usage{Input: tokens})
	if !known {
		return line + "; no price of it is known", nil
	}
	return line + fmt.Sprintf(": from %s by the list of prices, and what it answers beside", terminal.Dollars(usd)), nil
}

// newRehearsal returns a rehearsal of c, or of what stands in for it.
func (c *comparedObserver) newRehearsal(name string, by observer.Provider) (r *rehearsal, end func(), err error) {
	return newRehearsal(filepath.Join(c.dir, name), by, c.built.Mode.TypeIDs(), c.limit)
}

// observe has the observer work on each session, and hands its rows to take.
func (c *comparedObserver) observe(ctx context.Context, a *terminal.App, captured [][]events.Record, take func(session int, rows []comparedRow)) error {
	r, end, err := c.newRehearsal("log.db", c.built.Provider)
	if err != nil {
		return err
	}
	defer end()
	total, done := 0, 0
	for _, one := range captured {
		total += number.Count(one, events.Record.IsInput)
	}
	m := a.Meter("asking "+terminal.NameOfModel(c.Provider, c.Model), int64(total), false)
	defer m.End()
	r.onTurn = func(inputs int) {
		done += inputs
		m.Set(uint64(done), uint64(total))
	}
	r.onBill = c.pay
	began := time.Now()
	defer func() { c.TookMS = time.Since(began).Milliseconds() }()
	for i, one := range captured {
		p, err := r.play(ctx, one)
		c.Skipped, c.Dropped, c.Failed = c.Skipped+p.skipped, c.Dropped+p.dropped, c.Failed+p.failed
		for _, row := range p.rows {
			c.Rows++
			c.RowTokens += len([]rune(row.words())) / number.CharactersPerToken
		}
		take(i, p.rows)
		if err != nil {
			return err
		}
	}
	return nil
}

// pay adds what a turn cost.
func (c *comparedObserver) pay(b events.Bill) {
	c.Cost.Add(usage.Count{Turns: 1, Calls: int64(b.Calls), Input: b.Usage.Input, Cached: b.Usage.Cached, Output: b.Usage.Output}, 1)
	listed, known := c.prices.UncostedUSD(c.Provider, c.Model, b)
	if !known {
		open := b.UncostedUsage()
		c.Cost.UnpricedTokens += open.Input + open.Output
	}
	c.Cost.USD, c.Cost.EstimatedUSD = c.Cost.USD+b.Cost+listed, c.Cost.EstimatedUSD+listed
}
