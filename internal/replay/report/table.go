package report

import (
	"cmp"
	"slices"

	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/replay"
)

// row is the figures of policies that came to the same.
type row struct {
	Policy string   // the live one, if it is among them
	Same   []string // the others
	Live   bool
	Cells  []cell
	Failed string // why there are none
}

type cell struct {
	Text string
	Best bool
}

// tableOf is the comparison as a table.
func tableOf(runs []Run, live string) (rows []row) {
	for _, e := range GroupEqual(runs) {
		one := row{Policy: e.Policies[0], Live: slices.Contains(e.Policies, live)}
		if one.Live {
			one.Policy = live
		}
		one.Same = slices.DeleteFunc(e.Policies, func(name string) bool { return name == one.Policy })
		if e.Result.Error != "" {
			one.Failed = plainText(e.Result.Error, quoteLength)
		} else {
			one.Cells = cellsOf(Run{one.Policy, e.Result}, Finished(runs))
		}
		rows = append(rows, one)
	}
	return rows
}

func cellsOf(r Run, runs []Run) (cells []cell) {
	for _, f := range Figures() {
		best, ok := f.Best(runs)
		cells = append(cells, cell{f.Text(r.Result), ok && f.Of(r.Result) == best})
	}
	return cells
}

// tile is one figure of the policy that runs live beside the worst of the others.
type tile struct {
	What, Value, Beside string
}

// tilesOf says the most important figures of the live policy; nothing where it is not among runs.
func tilesOf(runs []Run, live string) []tile {
	at := slices.IndexFunc(runs, func(r Run) bool { return r.Policy == live })
	if at < 0 || len(runs) < 2 {
		return nil
	}
	own := runs[at].Result
	one := func(what string, of func(replay.Result) int64) tile {
		worst := slices.MaxFunc(runs, func(a, b Run) int { return cmp.Compare(of(a.Result), of(b.Result)) })
		t := tile{What: what, Value: number.Grouped(of(own)), Beside: "the most: " + number.Grouped(of(worst.Result)) + ", " + worst.Policy}
		if of(worst.Result) == of(own) {
			t.Beside = "none has more"
		}
		return t
	}
	return []tile{
		one("inputs lost", func(r replay.Result) int64 { return int64(r.LostBatches) }),
		one("tokens wasted", func(r replay.Result) int64 { return r.WastedTokens }),
		one("respawns", func(r replay.Result) int64 { return int64(r.Respawns) }),
		one("inputs held at the end", func(r replay.Result) int64 { return int64(r.HeldBatches) }),
	}
}

// chartsOf draws what has been wasted and lost so far.
func chartsOf(s *replay.Scenario, runs []Run, live string) []chart {
	if len(runs) == 0 {
		return nil
	}
	return []chart{
		chartOf(chart{ID: "tokens", Title: "Tokens wasted so far", Note: "openings of new observers, and turns that gave nothing"}, s, runs, live,
			func(m replay.Mark) int64 { return m.WastedTokens }, func(r replay.Result) int64 { return r.WastedTokens }),
		chartOf(chart{ID: "lost", Title: "Inputs lost so far", Note: "what no later turn saw again"}, s, runs, live,
			func(m replay.Mark) int64 { return int64(m.Lost) }, func(r replay.Result) int64 { return int64(r.LostBatches) }),
	}
}
