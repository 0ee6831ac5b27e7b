package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/cmemd/cmemd/projections/rows"
)

// write chooses pieces until the text is full, and returns it.
func (c *chooser) write(ctx context.Context) (string, error) {
	tail := c.fileLines()
	left := c.budget().minus(c.budget().of(c.frame(tail)))
	if !left.left() {
		tail = ""
		left = c.budget().minus(c.budget().of(c.frame("")))
	}
	c.choose(left)
	if err := c.loadAsked(ctx, left); err != nil {
		return "", err
	}
	c.lengthen(left)
	for !c.brief() && c.fill(left) { // which takes of the room each time
		c.lengthen(left)
	}
	if len(c.shown()) == 0 && (tail == "" || c.since > 0) {
		return "", nil
	}
	c.summarize()
	c.markNewer(tail)
	for {
		text := c.frame(c.body() + tail)
		if c.budget().minus(c.budget().of(text)).left() {
			if len(c.shown()) == 0 && tail == "" {
				return "", nil
			}
			return text, nil
		}
		if !c.giveBack() {
			return "", nil // not even the frame fits
		}
		c.summarize()
	}
}

// budget is how much may be said.
func (c *chooser) budget() budget {
	return budget{chars: c.ask.Characters, tokens: c.ask.Tokens, counts: c.ask.Tokens > 0}
}

// choose takes pieces in the order of their weight a character as long as their short forms fit: whole sentences of some say more than the
// beginnings of many, and the best ones of each more than all of a few.
func (c *chooser) choose(left budget) {
	days := map[dayHeading]bool{}
	var heads [sections]bool
	n, how := 0, c.ask.Characters/howShare
	for _, p := range c.pieces {
		if p.why != "" {
			continue
		}
		line := budget{chars: lineCost, tokens: lineTokens}
		cost := left.of(p.short).plus(line)
		if p.sec != secRecent && !heads[p.sec] {
			cost = cost.plus(left.of(headings()[p.sec] + "\n\n"))
		}
		d := dayHeading{p.sec, c.dayOf(p.at)}
		if p.sec.byEntry() && !days[d] {
			cost = cost.plus(left.of("### " + d.day + "\n"))
		}
		if !left.minus(cost).left() || c.brief() && n == maxBriefRows || p.sec == secPreferences && how < size(p.text)+lineExtra {
			p.why = WhyRoom
			if p.sec == secLast {
				c.withoutLast()
			}
			continue
		}
		n++
		if p.sec == secPreferences {
			how -= size(p.text) + lineExtra
		}
		left = left.minus(cost)
		p.chosen, p.why = true, WhyWeight
		heads[p.sec], days[d] = true, true
		if p.sec == secLast {
			days[dayHeading{secRecent, d.day}] = true
		}
	}
}

// withoutLast puts what the last session did among the earlier work, where there is no room for its summary.
func (c *chooser) withoutLast() {
	for _, p := range c.pieces {
		if p.sec == secRecent {
			p.sec = secWork
		}
	}
}

// dayHeading is the heading above what was done on one day. In the last session its summary's day has none.
type dayHeading struct {
	sec section
	day string
}

// fill takes pieces that did not fit whole as far as their titles fit into what is left: of what they say at length others may say most. It
// reports whether there was one.
func (c *chooser) fill(left budget) (more bool) {
	rest := left.minus(left.of(c.body()))
	for _, p := range c.pieces {
		if p.why != WhyRoom || !p.lengthens() {
			continue
		}
		cost := left.of(p.text + "\n### " + c.dayOf(p.at)).plus(budget{chars: lineCost, tokens: lineTokens})
		if rest.minus(cost).left() {
			rest, p.chosen, p.why, more = rest.minus(cost), true, WhyWeight, true
		}
	}
	return more
}

const (
	// lineCost is the most that a line takes beside its text: "- ", the id, a time or a date, and the marks between.
	lineCost = 2 + handleLength + 1 + len("Jan 02, 2006") + 3

	// lineTokens is about what that is in tokens.
	lineTokens = 12
)

// titles notes what the chosen pieces say, and returns those whose titles others say, of one section newer ones. The newest summary
// says what the others leave.
func (c *chooser) titles(t *saidTexts) (said map[*piece]bool) {
	said = map[*piece]bool{}
	order := slices.SortedStableFunc(slices.Values(c.shown()), func(a, b *piece) int {
		return cmp.Or(cmp.Compare(a.sec, b.sec), b.row.At.Compare(a.row.At))
	})
	for _, p := range order {
		switch title := titleOf(p.row); {
		case p.sec == secLast:
		case p.sec == secNext:
			t.add(p.text)
		case t.has(title):
			said[p] = true
		default:
			t.add(title)
		}
	}
	return said
}

// lengthen gives chosen pieces their longer form while there is room, the heaviest for their length first, and none more than its short
// form before all have theirs. What others say whole is taken out.
func (c *chooser) lengthen(left budget) {
	t := &saidTexts{}
	said := c.titles(t)
	c.noteRequests(t)
	left = left.minus(left.of(c.body()))
	shares := budget{} // of the pieces behind the one at hand
	for _, p := range c.pieces {
		shares = shares.plus(p.growth(left))
	}
	for _, p := range c.pieces {
		shares = shares.minus(p.growth(left))
		if !p.chosen || !p.lengthens() || left.chars < minLonger {
			continue
		}
		for _, limit := range []int{maxWorkText, maxShortText} {
			before := slices.Clone(*t)
			long := c.longLine(p.read(), t, !said[p], limit)
			if long == "" {
				break
			}
			rest := left.plus(left.of(p.text)).minus(left.of(long))
			if rest.minus(shares).left() || limit == maxShortText && rest.left() {
				left, p.text = rest, long
				delete(said, p)
				break
			}
			*t = before
		}
	}
	for p := range said {
		p.chosen, p.why = false, "said by others"
	}
}

// growth is how much longer a chosen piece's short form is than what it says now.
func (p *piece) growth(in budget) budget {
	if more := in.of(p.short).minus(in.of(p.text)); p.chosen && p.lengthens() && more.left() {
		return more
	}
	return budget{}
}

// summarize leaves of the newest summary what the other chosen pieces do not say, or all where nothing would stand below its heading.
func (c *chooser) summarize() {
	t, recent := &saidTexts{}, false
	c.noteRequests(t)
	for _, p := range c.pieces {
		if p.chosen && p.sec != secLast {
			t.add(p.text)
			recent = recent || p.sec == secRecent
		}
	}
	for _, p := range c.pieces {
		if p.chosen && p.sec == secLast {
			if p.text = c.lastSummary(p.row, t); p.text == "" && !recent {
				p.text = c.lastSummary(p.row, &saidTexts{})
			}
		}
	}
}

const (
	// minLonger is the room below which no row is worth telling at more length.
	minLonger = 40
)

// giveBack takes the lightest piece for its length out again; it reports false if there is none.
func (c *chooser) giveBack() bool {
	for _, p := range slices.Backward(c.pieces) {
		if p.chosen {
			p.chosen, p.why = false, WhyRoom
			return true
		}
	}
	return false
}

// markNewer marks the lines of which later work is of the same, as far as there is room: with the handle under which the newest such work
// stands.
func (c *chooser) markNewer(tail string) {
	left := c.budget().minus(c.budget().of(c.frame(c.body() + tail))).minus(c.budget().of(newerMeans + "\n"))
	shown := c.shown()
	for i := 0; i < len(shown); {
		line, newest := shown[i], shown[i].newer
		_, grouped := c.asked[line.row.Entry()]
		for i++; i < len(shown) && grouped && c.continues(shown, i); i++ {
			if newer := shown[i].newer; newest == nil || newer != nil && stampOf(newer).compare(stampOf(newest)) > 0 {
				newest = newer
			}
		}
		if newest == nil {
			continue
		}
		mark := fmt.Sprintf(" (newer: %s)", c.handleOf(newest))
		if rest := left.minus(left.of(mark)); rest.left() {
			line.mark, left = mark, rest
		}
	}
}

// handleOf is the handle under which a row stands in the text: that of what was asked, where it stands below it.
func (c *chooser) handleOf(row *rows.Row) rows.Handle {
	if asked, ok := c.asked[row.Entry()]; ok {
		return asked.row.Handle()
	}
	return row.Handle()
}
