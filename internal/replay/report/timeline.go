package report

import (
	"fmt"
	"math"

	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/replay"
)

const (
	laneHeight = 18 // pixels
	barHeight  = 14 // of the highest bar
	axisHeight = 18
)

// timeline is one policy's decisions over time, a lane below the other.
type timeline struct {
	Index   int
	Policy  string
	Live    bool
	Summary string
	Desc    string
	Height  int // with the axis
	Lanes   []laneLine
	Bars    []bar
	Signs   []sign
	X       []tick
}

// laneLine is the foot of a lane and its name.
type laneLine struct {
	Name     string
	Foot     int
	Baseline int
}

// bar is how many events fell on one place of a lane.
type bar struct {
	Lane  string
	X, W  float64 // of 100
	Y, H  float64 // pixels
	Title string
}

// sign is a shape instead of a bar.
type sign struct {
	Lane  string
	X     float64 // of 100
	Y     int
	Title string
}

// timelinesOf draws all runs with the lanes that any of them needs.
func timelinesOf(s *replay.Scenario, runs []Run, live string) (used []Lane, lines []timeline) {
	strips := make([][]Cell, len(runs))
	var most Cell
	for i, r := range runs {
		strips[i] = Strip(s, r.Result, places)
		for _, c := range strips[i] {
			for l := range c {
				most[l] = max(most[l], c[l])
			}
		}
	}
	for _, l := range Lanes() {
		if most[l] > 0 {
			used = append(used, l)
		}
	}
	for i, r := range runs {
		t := drawn(strips[i], used, most, End(s))
		t.Index, t.Policy, t.Live = i, r.Policy, r.Policy == live
		t.Summary, t.X = summary(r.Result), timeTicks(End(s))
		lines = append(lines, t)
	}
	return used, lines
}

func summary(r replay.Result) string {
	text := fmt.Sprintf("%s, %s, %s lost, %s wasted", counted(int64(r.Calls), "call"), counted(int64(r.Respawns), "respawn"),
		counted(int64(r.LostBatches), "input"), counted(r.WastedTokens, "token"))
	if r.HaltedAtMS != nil {
		text += ", halted after " + Elapsed(*r.HaltedAtMS)
	}
	return text
}

// drawn makes bars and signs of a strip. Most is the highest count of each lane, so that all policies share a scale.
func drawn(strip []Cell, used []Lane, most Cell, end int64) timeline {
	t := timeline{Height: len(used)*laneHeight + axisHeight}
	for row, l := range used {
		foot, total := (row+1)*laneHeight, 0
		t.Lanes = append(t.Lanes, laneLine{l.String(), foot, foot - 5})
		for i, c := range strip {
			if c[l] == 0 {
				continue
			}
			total += c[l]
			if l.isSign() {
				t.Signs = append(t.Signs, sign{l.String(), round((float64(i) + 0.5) * 100 / places), foot - laneHeight/2, span(i, end, c[l], l)})
				continue
			}
			t.Bars = append(t.Bars, barOf(l, i, c[l], most[l], foot, end))
		}
		if total > 0 {
			t.Desc += fmt.Sprintf("%s %s, ", number.Grouped(total), l)
		}
	}
	t.Desc += "over " + Elapsed(end) + "."
	return t
}

// barOf is as high as the root of its count, so that a single event is still seen beside a burst.
func barOf(l Lane, i, n, most, foot int, end int64) bar {
	h := round(barHeight * math.Sqrt(float64(n)/float64(most)))
	return bar{
		Lane: l.String(), X: round(float64(i) * 100 / places), W: round(80.0 / places),
		Y: round(float64(foot) - h), H: h, Title: span(i, end, n, l),
	}
}

// span says what fell on one place.
func span(i int, end int64, n int, l Lane) string {
	from, to := int64(float64(end)*float64(i)/places), int64(float64(end)*float64(i+1)/places)
	return fmt.Sprintf("%s to %s: %s %s", Elapsed(from), Elapsed(to), number.Grouped(n), l)
}
