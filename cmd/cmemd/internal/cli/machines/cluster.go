package machines

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog/share"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

// Status reports how the machines are. Its error says that this one has joined none, or what keeps it from sharing.
func Status(ctx context.Context, a *terminal.App) error {
	c, err := ask(ctx, a)
	if err != nil {
		return err
	}
	return a.Report(c, func(a *terminal.App) error {
		if err := mustHaveJoined(c); err != nil {
			return err
		}
		if showCluster(a, c) > 0 {
			return terminal.Advise(errUnwell, "what stands behind `wrong` says what; what passes by itself, as a store that is away, needs nothing")
		}
		return nil
	})
}

// errUnwell is what the status of the machines ends with where something is wrong.
var errUnwell = errors.New("not all is well with what the machines share")

// showCluster returns how much is wrong.
func showCluster(a *terminal.App, c api.Cluster) (bad int) {
	st := c.Status
	wrong := func(format string, args ...any) {
		bad++
		a.Field("wrong", fmt.Sprintf(format, args...))
	}
	a.Field("store", c.Where)
	a.Field("sent", shippedLine(st.Own))
	l := terminal.List{Head: []string{"MACHINE", "SEEN", "NOT HERE YET", "HAS NOT OURS", "HAS TO FORGET", "STATE"}}
	for _, m := range st.Machines {
		l.Add(m.Name, seenWord(m), behindWord(m), count(m.Unread, m.Self), count(uint64(len(m.Waiting)), m.Self), stateWord(m))
	}
	a.Print(l)
	for _, m := range st.Machines {
		for _, log := range m.Logs {
			if log.Problem != "" {
				wrong("%s, from record %d on: %s", m.Name, log.Here+1, log.Problem)
			}
		}
		if m.Differs {
			wrong("%s knows another list of machines: two stores have this space, or one serves what is old", m.Name)
		}
	}
	if b := st.Own.Branch; b != nil && (b.Absent || time.Since(b.At) < branchShownFor) {
		a.Field("copied", branchLine(*b))
	}
	for _, f := range st.Forgets {
		a.Field("forgetting", forgetLine(f))
	}
	for _, problem := range st.Problems {
		wrong("%s", problem)
	}
	return bad
}

// shippedLine is how far the own log is in the store.
func shippedLine(s share.Shipping) string {
	line := fmt.Sprintf("all of %s", number.Plural(s.Last, "record"))
	if s.Records > 0 {
		line = fmt.Sprintf("%d of %s; the oldest that is missing there is %s old", s.Shipped, number.Plural(s.Last, "record"), seconds(s.Seconds))
	}
	if s.Withheld > 0 {
		line += fmt.Sprintf("; the words of %s are too large to travel", number.Plural(s.Withheld, "record"))
	}
	return line
}

// branchShownFor is how long it is shown that this home was copied where nothing is left to do.
const branchShownFor = 7 * 24 * time.Hour

// branchLine says that this home goes on as a log of its own, and what a person may have to do then.
func branchLine(b share.Branch) string {
	line := fmt.Sprintf("this home's log was restored or salvaged, and goes on as a log of its own from record %d on", b.From)
	if b.Machine != "" {
		line = fmt.Sprintf("this home was copied from %s or restored from a backup of it, and goes on as a machine of its own from record %d on", b.Machine, b.From)
	}
	if b.Absent {
		line += fmt.Sprintf("; where %s is used no more: `cmemd devices revoke %s`", b.Machine, b.Machine)
	}
	return line
}

// behindWord is how far the copy of a machine's logs is behind.
func behindWord(m share.Machine) string {
	if m.Self {
		return "-"
	}
	var records uint64
	var oldest float64
	for _, log := range m.Logs {
		records, oldest = records+log.Records, max(oldest, log.Seconds)
	}
	if records == 0 {
		return "0"
	}
	return fmt.Sprintf("%s, %s", number.Plural(records, "record"), seconds(oldest))
}

// count is a number of another machine's.
func count(n uint64, self bool) string {
	if self {
		return "-"
	}
	return fmt.Sprint(n)
}

func seconds(n float64) string {
	return time.Duration(n * float64(time.Second)).Round(time.Second).String()
}

func forgetLine(f share.Forget) string {
	var missing []string
	if !f.Here {
		missing = append(missing, "this machine")
	}
	if !f.Store {
		missing = append(missing, "the store")
	}
	missing = append(missing, f.Waiting...)
	return fmt.Sprintf("asked by %s on %s; not confirmed by %s", f.By, terminal.Moment(f.At), strings.Join(missing, ", "))
}
