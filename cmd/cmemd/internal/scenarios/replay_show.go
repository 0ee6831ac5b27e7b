package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/replay"
	"github.com/cmemd/cmemd/internal/replay/report"
)

// plainStrip is how many letters a strip has where no terminal says how wide it is.
const plainStrip = 64

// showComparison draws what policies made of s: their figures, and a strip of each one's decisions over time. live is the
// policy to mark.
func showComparison(a *terminal.App, s *replay.Scenario, runs []report.Run, live string) {
	if said := report.Verdict(runs, live); said != "" {
		a.Printf("%s\n\n", terminal.VisibleLine(said))
	}
	showPolicies(a, runs, live)
	runs = foldRuns(runs, live)
	left := showFigures(a, runs, live)
	for _, r := range runs {
		if r.Result.Error != "" {
			a.Printf("%s was given up: %s\n", terminal.VisibleLine(r.Policy), terminal.VisibleLine(r.Result.Error))
		}
	}
	runs = report.Finished(runs)
	notes := []string{"* is the best of its column"}
	if slices.ContainsFunc(runs, func(r report.Run) bool { return r.Policy == live }) {
		notes = append(notes, "(live) is the policy in force")
	}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%s of zeros or beyond this width left out, --json has all", number.Plural(left, "column")))
	}
	a.Printf("%s\n\n", strings.Join(notes, "; "))
	showStrips(a, s, runs, live)
}

// foldRuns are runs with those in one that came to the same; the live policy gives its name to its own.
func foldRuns(runs []report.Run, live string) (out []report.Run) {
	for _, e := range report.GroupEqual(runs) {
		name := e.Policies[0]
		if slices.Contains(e.Policies, live) {
			name = live
		}
		out = append(out, report.Run{Policy: name, Result: e.Result})
	}
	return out
}

// showPolicies says which policies are shown by each line, and what they do.
func showPolicies(a *terminal.App, runs []report.Run, live string) {
	for i, shown := range foldRuns(runs, live) {
		names := slices.DeleteFunc(report.GroupEqual(runs)[i].Policies, func(p string) bool { return p == shown.Policy })
		line := policyName(shown, live)
		if len(names) > 0 {
			line += ", and the same " + strings.Join(names, ", ")
		}
		a.Printf("%s: %s\n", terminal.VisibleLine(line), policy.Name(shown.Policy).Words())
	}
	a.Printf("\n")
}

// livePolicy is the policy that a daemon runs where no setting says otherwise.
func livePolicy() string { return string(policy.Live()[0]) }

// showFigures prints the figures as a table and returns how many columns it left out: on a terminal those that are zero
// under every policy, and of those that do not fit the ones that tell least.
func showFigures(a *terminal.App, runs []report.Run, live string) (left int) {
	columns := comparisonColumns(runs, live)
	all := len(columns)
	if total := terminal.Width(a.Out); total > 0 {
		columns = fitColumns(columns, total)
	}
	l := terminal.List{Rows: make([][]string, len(runs))}
	for _, c := range columns {
		l.Head = append(l.Head, c.head)
		for i, cell := range c.cells {
			l.Rows[i] = append(l.Rows[i], cell)
		}
	}
	a.Print(l)
	return all - len(columns)
}

// comparisonColumn is one column of the comparison; its numbers are set right.
type comparisonColumn struct {
	head  string
	cells []string
	zero  bool // under every policy
	tells int  // how much, beside the others
}

// fitColumns leaves out columns that are zero under every policy, and then those that tell least, until total holds them.
func fitColumns(columns []comparisonColumn, total int) []comparisonColumn {
	columns = slices.DeleteFunc(slices.Clone(columns), func(c comparisonColumn) bool { return c.zero })
	for len(columns) > 2 && tooWide(columns, total) {
		least := slices.MinFunc(columns, func(x, y comparisonColumn) int { return x.tells - y.tells })
		columns = slices.DeleteFunc(columns, func(c comparisonColumn) bool { return c.head == least.head })
	}
	return columns
}

// tooWide reports whether columns, in each of which all cells are equally wide, need more than total.
func tooWide(columns []comparisonColumn, total int) bool {
	sum := -terminal.ColumnGap
	for _, c := range columns {
		widest := uniseg.StringWidth(c.head)
		if len(c.cells) > 0 {
			widest = max(widest, uniseg.StringWidth(c.cells[0]))
		}
		sum += terminal.ColumnGap + widest
	}
	return sum > total
}

func comparisonColumns(runs []report.Run, live string) []comparisonColumn {
	names := comparisonColumn{head: "POLICY", tells: 100}
	for _, r := range runs {
		names.cells = append(names.cells, policyName(r, live))
	}
	names.cells = padded(names.cells, false)
	columns := []comparisonColumn{names}
	for _, f := range report.Figures() {
		columns = append(columns, figureColumn(f, runs))
	}
	return columns
}

func policyName(r report.Run, live string) string {
	if r.Policy == live {
		return r.Policy + " (live)"
	}
	return r.Policy
}

func figureColumn(f report.Figure, runs []report.Run) comparisonColumn {
	best, ok := f.Best(runs)
	c := comparisonColumn{head: strings.ToUpper(strings.TrimSuffix(f.Head, ".")), zero: true, tells: 10}
	switch {
	case f.Want != report.Any:
		c.tells = 50
	case f.Key == "calls" || f.Key == "flagged_commits":
		c.tells = 5
	case f.Key == "halted_at_ms":
		c.tells = 20
	}
	for _, r := range runs {
		if r.Result.Error != "" {
			c.cells = append(c.cells, "? ")
			continue
		}
		v := f.Of(r.Result)
		mark := " "
		if ok && v == best {
			mark = "*"
		}
		c.zero = c.zero && v == f.None
		c.cells = append(c.cells, f.Text(r.Result)+mark)
	}
	return c.right()
}

// right sets a column's heading and its numbers right; behind each there is room for a mark.
func (c comparisonColumn) right() comparisonColumn {
	all := padded(append(c.cells, c.head+" "), true)
	c.cells, c.head = all[:len(all)-1], all[len(all)-1]
	return c
}

// padded makes cells equally wide.
func padded(cells []string, right bool) []string {
	widest := 0
	for _, c := range cells {
		widest = max(widest, uniseg.StringWidth(c))
	}
	for i, c := range cells {
		room := strings.Repeat(" ", widest-uniseg.StringWidth(c))
		if right {
			cells[i] = room + c
		} else {
			cells[i] = c + room
		}
	}
	return cells
}

// showStrips prints a line a policy: a letter for each stretch of time, and what the letters mean.
func showStrips(a *terminal.App, s *replay.Scenario, runs []report.Run, live string) {
	names := make([]string, len(runs))
	for i, r := range runs {
		names[i] = terminal.VisibleLine(policyName(r, live))
	}
	names = padded(names, false)
	places := plainStrip
	if total := terminal.Width(a.Out); total > 0 && len(names) > 0 {
		places = max(total-uniseg.StringWidth(names[0])-terminal.ColumnGap, 10)
	}
	used := map[report.Lane]bool{}
	for i, r := range runs {
		strip := stripOf(s, r.Result, places, used)
		showStrip(a, names[i], strip)
	}
	var legend []string
	for _, l := range report.Lanes() {
		if used[l] {
			legend = append(legend, fmt.Sprintf("%c %s", l.Letter(), l))
		}
	}
	if len(legend) > 0 {
		a.Printf("%s\n", strings.Join(legend, "  "))
	}
	end := report.End(s)
	a.Printf("%s in all; a letter is %s, the gravest decision in it\n", report.Elapsed(end), report.Elapsed(max(end/int64(places), 1)))
}

// stripOf is the decisions of r over time in letters, and notes which lanes it shows.
func stripOf(s *replay.Scenario, r replay.Result, places int, used map[report.Lane]bool) []stripPart {
	var parts []stripPart
	for _, cell := range report.Strip(s, r, places) {
		lane, letter := report.Lane(-1), " "
		if l, ok := cell.Most(); ok {
			lane, letter = l, string(l.Letter())
			used[l] = true
		}
		if n := len(parts); n > 0 && parts[n-1].lane == lane {
			parts[n-1].text += letter
			continue
		}
		parts = append(parts, stripPart{lane, letter})
	}
	return parts
}

// stripPart is letters of one lane side by side.
type stripPart struct {
	lane report.Lane // below 0: nothing happened
	text string
}

func showStrip(a *terminal.App, name string, parts []stripPart) {
	line := name + strings.Repeat(" ", terminal.ColumnGap)
	for _, p := range parts {
		line += a.Styled(laneStyle(p.lane), p.text)
	}
	a.Printf("%s\n", strings.TrimRight(line, " "))
}

// laneStyle is a lane's colour on a terminal; what costs most is bold, and where nothing happened there is none.
func laneStyle(l report.Lane) terminal.Style {
	switch l {
	case -1:
		return terminal.Style{}
	case report.Kept:
		return terminal.Style{Colour: terminal.Green}
	case report.Dropped:
		return terminal.Style{Colour: terminal.Yellow}
	case report.Retried, report.Held:
		return terminal.Style{Colour: terminal.Blue}
	case report.Restarted:
		return terminal.Style{Colour: terminal.Cyan}
	case report.Respawned:
		return terminal.Style{Weight: terminal.Bold, Colour: terminal.Magenta}
	case report.Halted:
		return terminal.Style{Weight: terminal.Bold, Colour: terminal.Red}
	}
	return terminal.Style{Weight: terminal.Faint}
}
