package report

import (
	"strconv"
	"time"

	"github.com/cmemd/cmemd/internal/number"
)

// tick is a labelled place on an axis.
type tick struct {
	At    float64 // of 100
	Label string
}

// timeTicks returns at most six ticks of round times from 0 to end milliseconds.
func timeTicks(end int64) []tick {
	step := timeStep(end)
	var ticks []tick
	for at := int64(0); at <= end && len(ticks) < 6; at += step {
		label := Elapsed(at)
		if at == 0 {
			label = "0"
		}
		ticks = append(ticks, tick{At: round(100 * float64(at) / float64(end)), Label: label})
	}
	return ticks
}

// timeStep returns the smallest round length of time of which at most five fit into end milliseconds.
func timeStep(end int64) int64 {
	for _, s := range []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	} {
		if end/s.Milliseconds() <= 5 && end >= time.Second.Milliseconds() {
			return s.Milliseconds()
		}
	}
	if end < time.Second.Milliseconds() {
		return end/5 + 1
	}
	return roundStep(end, 24*time.Hour.Milliseconds())
}

// roundStep returns the smallest of 1, 2, 5, 10, 20, ... times unit of which at most five fit into most.
func roundStep(most, unit int64) int64 {
	for ; ; unit *= 10 {
		for _, times := range []int64{1, 2, 5} {
			if most/(unit*times) <= 5 {
				return unit * times
			}
		}
	}
}

// countTicks returns at most six ticks of round numbers from 0 to most, from the bottom of an axis.
func countTicks(most int64) []tick {
	step := roundStep(most, 1)
	var ticks []tick
	for n := int64(0); n <= most && len(ticks) < 6; n += step {
		ticks = append(ticks, tick{At: round(100 - 100*float64(n)/float64(most)), Label: short(n)})
	}
	return ticks
}

// short writes a number in few characters: 950, 12k, 2.5M.
func short(n int64) string {
	switch {
	case n < 10_000:
		return number.Grouped(n)
	case n < 1_000_000:
		return trimmed(float64(n)/1e3) + "k"
	case n < 1_000_000_000:
		return trimmed(float64(n)/1e6) + "M"
	}
	return trimmed(float64(n)/1e9) + "G"
}

func trimmed(f float64) string { return strconv.FormatFloat(round(f), 'f', -1, 64) }

// round keeps two digits behind the point: a hundredth of a percent is less than a pixel.
func round(f float64) float64 { return float64(int64(f*100+0.5)) / 100 }
