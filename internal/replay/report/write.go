package report

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/replay"
)

// Write writes the page of s under runs, in their order. It is one HTML document that needs nothing else, shorter than
// 3 MB for nine policies however many events there are. The error is w's.
func Write(w io.Writer, s *replay.Scenario, runs []Run, o Options) error {
	out := bufio.NewWriter(w)
	pageOf(s, runs, o).write(markup{out})
	if err := out.Flush(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// write writes the whole page, a section after the other.
func (p page) write(m markup) {
	p.head(m)
	p.patterns(m)
	m.put("<main>\n")
	p.header(m)
	p.tiles(m)
	p.policies(m)
	p.charts(m)
	p.decisions(m)
	p.assumptions(m)
	if p.Options.Proof != nil {
		p.proof(m, p.Options.Proof)
	}
	p.quotes(m)
	m.when(p.Options.Program != "", "<footer>Made by %v. This page loads nothing and runs nothing.</footer>\n", name(p.Options.Program))
	m.put("</main>\n</body>\n</html>\n")
}

// name is text of one line, and text is a sentence or three.
func name(s string) string { return plainText(s, quoteLength) }
func text(s string) string { return plainText(s, titleLength) }

func (p page) head(m markup) {
	m.put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%v">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Replay of %v</title>
<style>`, p.Policy, name(p.Scenario.ID))
	m.raw(p.CSS)
	m.put("</style>\n</head>\n<body>\n")
}

// patterns are the fillings and shapes that the lanes are drawn with.
func (p page) patterns(m markup) {
	m.put(`<svg class="defs" width="0" height="0" aria-hidden="true" focusable="false"><defs>
<pattern id="p-dropped" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="g-dropped" width="2.4" height="4"/></pattern>
<pattern id="p-retried" width="3" height="3" patternUnits="userSpaceOnUse"><rect class="g-retried" width="3" height="1.5"/></pattern>
<pattern id="p-held" width="3" height="3" patternUnits="userSpaceOnUse"><circle class="g-held" cx="1.5" cy="1.5" r="1.2"/></pattern>
<circle id="s-restarted" r="3.2"/>
<path id="s-respawned" d="M0 -5.5L5.5 4.5H-5.5Z"/>
<path id="s-halted" d="M-5 -5H5V5H-5ZM-2.5 -1.2V1.2H2.5V-1.2Z" fill-rule="evenodd"/>
</defs></svg>
`)
}

// header says what was replayed, and what came of it.
func (p page) header(m markup) {
	m.put("<header>\n<h1>Replay of %v</h1>\n", name(p.Scenario.ID))
	m.when(p.Scenario.Title != "", "<p class=\"lead\">%v</p>\n", text(p.Scenario.Title))
	m.put(`<p class="meta">%v`, p.About)
	m.when(!p.Options.Began.IsZero(), ", from %v", p.Options.Began.UTC().Format(time.DateTime+" UTC"))
	m.put(".")
	m.when(p.Scenario.Issue != "", " Seen in: %v.", name(p.Scenario.Issue))
	m.when(p.Scenario.Provenance != "", " %v", text(p.Scenario.Provenance))
	m.put("</p>\n")
	m.when(p.Verdict != "", "<p class=\"lead\">%v</p>\n", p.Verdict)
	for _, note := range p.Options.Notes {
		m.put("<p class=\"meta\">%v</p>\n", text(note))
	}
	m.put("</header>\n")
}

func (p page) tiles(m markup) {
	if len(p.Tiles) == 0 {
		return
	}
	m.put("<section class=\"tiles\" aria-label=\"The policy that runs live\">\n")
	for _, t := range p.Tiles {
		m.put(`<div class="tile"><div class="what">%v</div><div class="value">%v</div><div class="beside">%v</div></div>
`, t.What, t.Value, t.Beside)
	}
	m.put("</section>\n")
}

// policies is the table of figures by policy, and what each figure means.
func (p page) policies(m markup) {
	m.put(`<section>
<h2>Policies</h2>
<p class="meta" id="about-figures">What each policy made of the same record. <span class="star">★</span> marks the best of a column, <span class="live">live</span> the policy that runs live by default.</p>
<div class="wide" tabindex="0" role="region" aria-label="Figures by policy">
<table aria-label="Figures by policy" aria-describedby="about-figures">
<thead><tr><th scope="col">policy</th>`)
	for _, h := range p.Heads {
		m.put(`<th scope="col" title="%v">%v</th>`, h.Note, h.Head)
	}
	m.put("</tr></thead>\n<tbody>\n")
	for _, r := range p.Rows {
		p.row(m, r)
	}
	m.put("</tbody>\n</table>\n</div>\n<dl class=\"heads\">")
	for _, h := range p.Heads {
		m.put("<div><dt>%v</dt><dd>%v</dd></div>", h.Head, h.Note)
	}
	m.put("</dl>\n</section>\n")
}

func (p page) row(m markup, r row) {
	m.put("<tr")
	m.when(r.Live, ` class="is-live"`)
	m.put(`><th scope="row">%v`, r.Policy)
	m.when(r.Live, liveMark)
	if len(r.Same) > 0 {
		m.put(`<div class="meta">and the same: `)
		m.list(r.Same)
		m.put("</div>")
	}
	m.put("</th>")
	m.when(r.Failed != "", `<td class="failed" colspan="%v">given up: %v</td>`, len(p.Heads), r.Failed)
	for _, c := range r.Cells {
		m.put("<td")
		m.when(c.Best, ` class="best"`)
		m.put(">%v", c.Text)
		m.when(c.Best, `<span class="star" aria-label="best"> ★</span>`)
		m.put("</td>")
	}
	m.put("</tr>\n")
}

// liveMark stands behind the name of the policy that runs live.
const liveMark = ` <span class="live">live</span>`

func (p page) charts(m markup) {
	m.put("<section>\n<h2>Over time</h2>\n")
	for _, c := range p.Charts {
		m.put("<figure class=\"chart\">\n<figcaption><b>%v</b>: %v</figcaption>\n", c.Title, c.Note)
		if c.Flat {
			m.put("<p class=\"none\">None, under every policy.</p>\n")
		} else {
			c.plot(m)
			c.key(m)
		}
		m.put("</figure>\n")
	}
	m.put("</section>\n")
}

// plot draws the axes, the curves and, at the end of each, its letter.
func (c chart) plot(m markup) {
	m.put(`<div class="plot">
<svg class="left" height="200" aria-hidden="true" focusable="false"><svg y="8" height="170" overflow="visible">`)
	for _, y := range c.Y {
		m.put(`<text x="100%%" dx="-6" y="%v%%" dy="4" text-anchor="end">%v</text>`, y.At, y.Label)
	}
	m.put(`</svg></svg>
<svg class="area" height="200" role="img" aria-labelledby="%[1]v-t %[1]v-d">
<title id="%[1]v-t">%[2]v</title><desc id="%[1]v-d">%[3]v</desc>
<svg y="8" height="170" overflow="visible">`, c.ID, c.Title, c.Desc)
	for _, y := range c.Y {
		m.put(`<line class="grid" x2="100%%" y1="%[1]v%%" y2="%[1]v%%"/>`, y.At)
	}
	m.put(`</svg>
<svg y="8" width="100%%" height="170" viewBox="0 0 1000 1000" preserveAspectRatio="none" overflow="visible">`)
	for _, k := range c.Curves {
		m.put(`<path class="%v" d="%v"><title>%v: `, k.classes(), k.Path, k.Letter)
		m.list(k.Policies)
		m.put("</title></path>")
	}
	m.put("</svg>\n")
	timeAxis(m, c.X, 196, 0)
	m.put(`
</svg>
<svg class="right" height="200" aria-hidden="true" focusable="false"><svg y="8" height="170" overflow="visible">`)
	for _, k := range c.Curves {
		m.put(`<text class="t-%v" x="4" y="%v%%" dy="4">%v</text>`, k.Class, k.EndY, k.Letter)
	}
	m.put("</svg></svg>\n</div>\n")
}

func (c chart) key(m markup) {
	m.put(`<ul class="key">`)
	for _, k := range c.Curves {
		m.put(`<li><svg class="sample" width="34" height="12" aria-hidden="true" focusable="false"><line class="%v" x2="34" y1="6" y2="6"/></svg>`, k.classes())
		m.put(`<b class="t-%v">%v</b> <span class="sum">%v</span> `, k.Class, k.Letter, number.Grouped(k.Total))
		m.list(k.Policies)
		m.when(k.Live, liveMark)
		m.put("</li>")
	}
	m.put("</ul>\n")
}

func (k curve) classes() string {
	if k.Live {
		return "curve " + k.Class + " is-live"
	}
	return "curve " + k.Class
}

// timeAxis writes the labels of ticks, dy pixels from y.
func timeAxis(m markup, ticks []tick, y, dy int) {
	for i, t := range ticks {
		anchor := "middle"
		switch {
		case i == 0:
			anchor = "start"
		case t.At >= 95:
			anchor = "end"
		}
		m.put(`<text x="%v%%" y="%v" dy="%v" text-anchor="%v">%v</text>`, t.At, y, dy, anchor, t.Label)
	}
}

func (p page) decisions(m markup) {
	m.put("<section>\n<h2>Decisions</h2>\n<ul class=\"key lanes\">")
	for _, l := range p.Key {
		m.put(`<li><svg class="sample" width="16" height="16" aria-hidden="true" focusable="false">`)
		if l.isSign() {
			m.put(`<use class="b-%[1]v" href="#s-%[1]v" x="8" y="8"/>`, l)
		} else {
			m.put(`<rect class="b-%v" x="3" y="2" width="10" height="12"/>`, l)
		}
		m.put("</svg><b>%v</b> %v</li>", l, l.Note())
	}
	m.put("</ul>\n")
	for _, t := range p.Lines {
		t.write(m)
	}
	m.put("</section>\n")
}

func (t timeline) write(m markup) {
	m.put("<figure class=\"line\">\n<figcaption><b>%v</b>", t.Policy)
	m.when(t.Live, liveMark)
	m.put(` <span class="meta">%v</span></figcaption>
<div class="plot">
<svg class="left" height="%v" aria-hidden="true" focusable="false">`, t.Summary, t.Height)
	for _, l := range t.Lanes {
		m.put(`<text x="100%%" dx="-8" y="%v" text-anchor="end">%v</text>`, l.Baseline, l.Name)
	}
	m.put(`</svg>
<svg class="area" height="%[2]v" role="img" aria-labelledby="l%[1]v-t l%[1]v-d">
<title id="l%[1]v-t">Decisions of %[3]v over time</title><desc id="l%[1]v-d">%[4]v</desc>
`, t.Index, t.Height, t.Policy, t.Desc)
	for _, l := range t.Lanes {
		m.put(`<line class="grid" x2="100%%" y1="%[1]v" y2="%[1]v"/>`, l.Foot)
	}
	m.put("\n")
	for _, b := range t.Bars {
		m.put(`<rect class="b-%v" x="%v%%" width="%v%%" y="%v" height="%v"><title>%v</title></rect>`, b.Lane, b.X, b.W, b.Y, b.H, b.Title)
	}
	m.put("\n")
	for _, s := range t.Signs {
		m.put(`<use class="b-%[1]v" href="#s-%[1]v" x="%[2]v%%" y="%[3]v"><title>%[4]v</title></use>`, s.Lane, s.X, s.Y, s.Title)
	}
	m.put("\n")
	timeAxis(m, t.X, t.Height, -4)
	m.put("\n</svg>\n</div>\n</figure>\n")
}

// assumptions says what every figure that rests on a respawn rests on.
func (p page) assumptions(m markup) {
	m.put(`<section>
<h2>What is assumed</h2>
<p>What a respawned observer would have said, and cost, is not on record. Every figure that rests on a respawn rests on this:</p>
<dl class="assumed">
<div><dt>it opens after</dt><dd>%v, or with the next event if that is sooner</dd></div>
<div><dt>it says</dt><dd>`, Elapsed(p.Scenario.Respawn.DelayMS))
	if p.Opening != "" {
		m.put("<q>%v</q>", name(p.Opening))
	} else {
		m.put("nothing")
	}
	tokens := p.Scenario.Respawn.Tokens
	m.put(`</dd></div>
<div><dt>that costs</dt><dd>%v tokens in, %v out</dd></div>
</dl>
</section>
`, number.Grouped(tokens.In), number.Grouped(tokens.Out))
}

func (p page) proof(m markup, proof *replay.Proof) {
	m.put("<section>\n<h2>Proof</h2>\n")
	if n := proof.DifferenceCount(); n > 0 {
		m.put("<p class=\"bad\">%v of %v recorded decisions are not explained by the rules that were in force:</p>\n<ul>", n, p.Proved)
		for _, d := range proof.Shown() {
			m.put("<li>%v</li>", text(d.String()))
		}
		m.put("</ul>\n")
	} else {
		m.put("<p>%v decisions are on record, all explained by the rules that were in force.</p>\n", p.Proved)
	}
	if n := proof.UnprovenCount(); n > 0 {
		m.put("<p>%v of them cannot be proved any more, because something is erased or out of view.</p>\n", n)
	}
	m.put("</section>\n")
}

// quotes are the beginnings of what was dropped.
func (p page) quotes(m markup) {
	if len(p.Quotes) == 0 {
		return
	}
	m.put(`<section>
<h2>What was dropped</h2>
<p>The recorded outputs that did not parse and were given up under %v, the most frequent first.</p>
<table class="quotes"><thead><tr><th scope="col">times</th><th scope="col">output</th></tr></thead>
<tbody>
`, p.QuoteBy)
	for _, q := range p.Quotes {
		m.put("<tr><td>%v</td><td>", q.Times)
		if q.Blank {
			m.put("<i>blank</i>")
		} else {
			m.put(`<q dir="auto">%v</q>`, q.Text)
		}
		m.put("</td></tr>\n")
	}
	m.put("</tbody></table>\n</section>\n")
}
