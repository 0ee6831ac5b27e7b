package report

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/internal/replay"
)

//go:embed page.css
var pageCSS string

//go:embed shared.css
var sharedCSS string

// Style is the style sheet of what is drawn here, for other pages that draw the same: colours by name for light, dark and paper, curves,
// lanes and their keys.
func Style() string { return sharedCSS }

// Options is what a page says beside the figures. The zero value says nothing more.
type Options struct {
	Live    string        // the policy that runs live, marked wherever it stands
	Began   time.Time     // of the stretch; zero: not known, as of a scenario made by hand
	Program string        // what made the page
	Notes   []string      // on what was replayed, one a paragraph
	Proof   *replay.Proof // nil: none was made, as of a scenario that comes from no log
}

const (
	// places is how many stretches of time a time line is divided into: on a laptop one is about six pixels wide.
	places = 120

	// quoteLength and quotes bound what is quoted of dropped outputs, in characters and in number.
	quoteLength = 200
	quotes      = 12

	// titleLength bounds what a scenario says of itself.
	titleLength = 2000
)

// page is what the sections are written from.
type page struct {
	CSS      string
	Policy   string // of the page's own security
	Scenario *replay.Scenario
	Options  Options
	About    string
	Opening  string // what a respawned observer says first
	Proved   int    // decisions that were looked at
	Verdict  string // what the other policies would have lost and wasted

	Tiles   []tile
	Heads   []Figure
	Rows    []row
	Charts  []chart
	Key     []Lane
	Lines   []timeline
	Quotes  []quote
	QuoteBy string
}

func pageOf(s *replay.Scenario, runs []Run, o Options) page {
	css := sharedCSS + pageCSS
	sum := sha256.Sum256([]byte(css))
	all := plainNames(runs)
	runs, o.Live = Finished(all), plainText(o.Live, quoteLength)
	p := page{
		CSS:      css,
		Policy:   "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'",
		Scenario: s, Options: o, About: about(s), Verdict: Verdict(all, o.Live), Tiles: tilesOf(runs, o.Live),
		Heads: Figures(), Rows: tableOf(all, o.Live), Charts: chartsOf(s, runs, o.Live),
	}
	if o.Proof != nil {
		p.Proved, _ = o.Proof.Checked()
	}
	if text := s.Respawn.Output.RawText(); strings.TrimSpace(text) != "" {
		p.Opening = text
	}
	p.Key, p.Lines = timelinesOf(s, runs, o.Live)
	p.Quotes, p.QuoteBy = quotesOf(s, runs, o.Live)
	return p
}

// plainNames returns runs with policies that can be shown.
func plainNames(runs []Run) []Run {
	out := slices.Clone(runs)
	for i := range out {
		out[i].Policy = plainText(out[i].Policy, quoteLength)
	}
	return out
}

// about says in a line what was replayed.
func about(s *replay.Scenario) string {
	sessions := map[string]bool{}
	for _, e := range s.Events {
		sessions[e.Session] = true
	}
	text := fmt.Sprintf("%s over %s", counted(int64(len(s.Events)), "event"), Elapsed(End(s)))
	if len(sessions) > 1 {
		text += fmt.Sprintf(" in %s sessions", number.Grouped(len(sessions)))
	}
	return text
}

// quote is the beginning of an output, and how often it was dropped.
type quote struct {
	Times int
	Text  string
	Blank bool
}

// quotesOf returns what was dropped most under the policy that runs live, or else under the first.
func quotesOf(s *replay.Scenario, runs []Run, live string) (out []quote, policy string) {
	if len(runs) == 0 {
		return nil, ""
	}
	run := runs[max(slices.IndexFunc(runs, func(r Run) bool { return r.Policy == live }), 0)]
	times := map[string]int{}
	for i, m := range run.Result.Marks {
		if l, ok := laneOf(m.Decision, ""); ok && (l == Dropped || l == Respawned) && i < len(s.Events) {
			times[plainText(strings.TrimSpace(s.Events[i].Output.RawText()), quoteLength)]++
		}
	}
	for text, n := range times {
		out = append(out, quote{Times: n, Text: text, Blank: text == ""})
	}
	order.By(out, func(a, b quote) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Text, b.Text))
	})
	return out[:min(len(out), quotes)], run.Policy
}
