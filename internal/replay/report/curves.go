package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/internal/replay"
)

// maxSteps bounds the steps of one line: two a pixel of a laptop's screen are more than it shows.
const maxSteps = 600

// curve is a line of a chart: a figure that only grows, under all policies for which it grows alike.
type curve struct {
	Letter   string // stands at its end, and in the key
	Class    string // colour and dashes
	Policies []string
	Live     bool // one of them runs live
	Total    int64
	Path     string  // SVG, in a box of 1000 by 1000
	EndY     float64 // where its letter stands, of 100

	points []point
}

// point is a value that holds from a time on.
type point struct{ at, value int64 }

// chart is one figure over time.
type chart struct {
	ID, Title, Note string
	Desc            string // in words, for those who do not see it
	Curves          []curve
	X, Y            []tick
	Flat            bool // it is 0 under all policies
}

// letterGap is how far apart the letters at the ends of lines stand, of 100.
const letterGap = 9

// chartOf draws a figure under all policies.
func chartOf(c chart, s *replay.Scenario, runs []Run, live string, of func(replay.Mark) int64, total func(replay.Result) int64) chart {
	end, most := End(s), int64(0)
	for _, r := range runs {
		points := append(changes(r.Result, of), point{end, total(r.Result)})
		c.join(r.Policy, thinned(points, end))
		most = max(most, total(r.Result))
	}
	order.By(c.Curves, func(a, b curve) int { return cmp.Compare(b.Total, a.Total) })
	c.Flat = most <= 0
	c.X, c.Y = timeTicks(end), countTicks(max(most, 1))
	for i := range c.Curves {
		k := &c.Curves[i]
		k.Letter, k.Class = string(rune('A'+i%26)), fmt.Sprintf("c%d", i%9+1)
		k.Live = slices.Contains(k.Policies, live)
		k.EndY = round(100 - 100*float64(k.Total)/float64(max(most, 1)))
		k.Path = stepPath(k.points, end, max(most, 1))
	}
	spread(c.Curves)
	c.Desc = described(c.Curves)
	return c
}

// changes returns the values of a figure where they change.
func changes(r replay.Result, of func(replay.Mark) int64) []point {
	points := []point{{0, 0}}
	for _, m := range r.Marks {
		if v := of(m); v != points[len(points)-1].value {
			points = append(points, point{m.AtMS, v})
		}
	}
	return points
}

// thinned keeps at most maxSteps points: of those that fall on one place the last.
func thinned(points []point, end int64) []point {
	out := points[:1:1]
	for _, p := range points[1:] {
		if len(points) > maxSteps && len(out) > 1 && place(out[len(out)-1].at, end, maxSteps) == place(p.at, end, maxSteps) {
			out[len(out)-1] = p
			continue
		}
		out = append(out, p)
	}
	return out
}

// join adds a policy's points to the curve that is alike, or as a curve of their own.
func (c *chart) join(policy string, points []point) {
	i := slices.IndexFunc(c.Curves, func(k curve) bool { return slices.Equal(k.points, points) })
	if i < 0 {
		i = len(c.Curves)
		c.Curves = append(c.Curves, curve{Total: points[len(points)-1].value, points: points})
	}
	c.Curves[i].Policies = append(c.Curves[i].Policies, policy)
}

// stepPath draws points as steps.
func stepPath(points []point, end, most int64) string {
	var b strings.Builder
	y := 1000.0
	fmt.Fprintf(&b, "M0 %g", y)
	for _, p := range points[1:] {
		fmt.Fprintf(&b, "H%g", round(1000*float64(p.at)/float64(end)))
		if v := round(1000 - 1000*float64(p.value)/float64(most)); v != y {
			y = v
			fmt.Fprintf(&b, "V%g", y)
		}
	}
	return b.String()
}

// spread moves the letters of curves, which come the highest first, so far apart that each can be read.
func spread(curves []curve) {
	for i := 1; i < len(curves); i++ {
		curves[i].EndY = max(curves[i].EndY, curves[i-1].EndY+letterGap)
	}
	bottom := 100.0
	for i := len(curves) - 1; i >= 0; i-- {
		curves[i].EndY = round(min(curves[i].EndY, bottom))
		bottom = curves[i].EndY - letterGap
	}
}

func described(curves []curve) string {
	parts := make([]string, len(curves))
	for i, c := range curves {
		parts[i] = fmt.Sprintf("%s: %s at the end under %s", c.Letter, number.Grouped(c.Total), strings.Join(c.Policies, ", "))
	}
	return strings.Join(parts, "; ") + "."
}
