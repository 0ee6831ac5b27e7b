package scenarios

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/offline"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/replay"
)

// reparse shows which recorded outputs today's grammar takes for something else than was recorded.
func reparse(ctx context.Context, a *terminal.App, log offline.Source, sel replay.Selection) error {
	types, err := typesInForce(a)
	if err != nil {
		return err
	}
	r, err := replay.Reparse(withMeter(ctx, a, log, "reading"), sel, types)
	if err != nil {
		return err
	}
	if a.JSON {
		if err := a.PrintJSON(r); err != nil {
			return err
		}
	}
	if r.Outputs == 0 {
		return a.MarkReported(fmt.Errorf("%w: no output is on record in that stretch of the log", terminal.ErrNothing))
	}
	if a.JSON {
		return nil
	}
	return showReparsing(a, r)
}

func showReparsing(a *terminal.App, r replay.Reparsing) error {
	if len(r.Differ) > 0 {
		l := terminal.List{Head: []string{"POSITION", "TURN", "KIND", "RECORDED", "NOW", "FIELDS"}}
		for _, d := range r.Differ {
			l.Add(strconv.FormatUint(uint64(d.Position), 10), a.ShownID(d.Turn), string(d.Kind), readingText(d.Recorded), readingText(d.Now), strings.Join(d.Fields, " "))
		}
		a.Print(l)
	}
	differ := len(r.Differ) + r.More
	a.Printf("%s: %d come out as recorded, %d differently", number.Plural(r.Outputs, "output"), r.Same, differ)
	if r.More > 0 {
		a.Printf(" (%d of them not listed)", r.More)
	}
	if r.Unknown > 0 {
		a.Printf("; %d cannot be compared, because they or what they led to are erased", r.Unknown)
	}
	a.Printf("\n")
	return nil
}

// readingText is what an output was taken for in a few words.
func readingText(r replay.Reading) string {
	switch r.Disposition {
	case observer.DispositionObservations:
		return number.Plural(len(r.Observations), "observation")
	case observer.DispositionSummary:
		if n := len(r.Observations); n > 0 {
			return "summary, " + number.Plural(n, "observation")
		}
		return "summary"
	case "":
		return "nothing"
	}
	return fmt.Sprintf("%s: %s (%s)", r.Disposition, r.Reason, r.Class)
}
