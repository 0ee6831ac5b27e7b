package terminal

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/setting"
	"github.com/cmemd/cmemd/projections/health"
)

// BalanceLine says what became of inputs on one line, and how many of them are to be observed again.
func BalanceLine(b api.Balance) string {
	line := api.BalanceWords(b.Balance)
	if b.Reobserve > 0 {
		line += fmt.Sprintf("; %d of them to be observed again", b.Reobserve)
	}
	return line
}

// VerdictText says what is known of a claim: what was found when it was recorded and, where it was looked at again, what
// was found last.
func VerdictText(v api.Verdict) string {
	text := fmt.Sprintf("%s %s: %s", v.Claim.Kind, v.Claim.Value, evidenced(v.Claim.Verdict, v.Claim.Evidence))
	if v.CheckedAt.IsZero() {
		return text
	}
	now := evidenced(v.Now, v.Evidence)
	if v.Gone() {
		now = string(events.Absent) + " now (rebased?)"
	} else {
		now += " now"
	}
	return text + " then, " + now + ", as of " + Moment(v.CheckedAt)
}

func evidenced(v events.Verdict, evidence string) string {
	if evidence == "" {
		return string(v)
	}
	return fmt.Sprintf("%s (%s)", v, evidence)
}

func NameOfModel(provider, model string) string { return strings.TrimSpace(provider + " " + model) }

// CompareVersions is the order of two versions: negative where a is the older, 0 where they are the same build. It is false for those
// that say nothing of which is older: other words than releases and commits as Go names them (0.1.1-0.20260131120000-abcdef123456), one
// commit or release with changes (+dirty), and a commit from before any tag (0.0.0-2026...) beside anything else.
func CompareVersions(a, b string) (order int, ok bool) {
	x, y := semantic(a), semantic(b)
	if x == "" || y == "" || isUntagged(x) != isUntagged(y) {
		return 0, false
	}
	order = semver.Compare(x, y)
	return order, order != 0 || !isDirty(a) && !isDirty(b)
}

// IsRelease reports whether a version is a release's, and no build's of some commit.
func IsRelease(version string) bool {
	v := semantic(version)
	return v != "" && !module.IsPseudoVersion(v) && !isDirty(version)
}

// semantic is a version as package semver writes it; empty where it has not all of its three numbers.
func semantic(version string) string {
	version, _, _ = strings.Cut("v"+strings.TrimPrefix(version, "v"), "+")
	if semver.Canonical(version) != version {
		return ""
	}
	return version
}

// isUntagged reports whether Go named a commit that has no tag before it.
func isUntagged(version string) bool {
	return module.IsPseudoVersion(version) && strings.HasPrefix(version, "v0.0.0-")
}

// isDirty reports whether a build holds changes that its commit does not.
func isDirty(version string) bool { return strings.HasSuffix(version, "+dirty") }

// AdviseNames says where the names stand by which inputs are chosen, if err may be that one of them is wrong. Empty ones
// were not given.
func AdviseNames(err error, turn, session string) error {
	var p *api.Problem
	if !errors.As(err, &p) || p.Type != api.ProblemInvalid && p.Type != api.ProblemNotFound {
		return err
	}
	switch {
	case turn != "" && session != "":
		return Advise(err, "`cmemd outcomes` lists turns, `cmemd sessions` sessions")
	case turn != "":
		return Advise(err, "`cmemd outcomes` lists turns")
	case session != "":
		return Advise(err, "`cmemd sessions` lists them")
	}
	return err
}

// ShownNotice is a notice as it is shown: plain to a person, with its marks to whatever else may hand it on to an agent.
func (a *App) ShownNotice(notice string) string {
	if IsTerminal(a.Out) {
		return relay.PlainNotice(notice)
	}
	return notice
}

// CostOf is money for people: what is estimated is marked, and tokens without a price leave it open.
func CostOf(s api.Spent) string {
	known := Dollars(s.USD)
	if s.EstimatedUSD > 0 {
		known = "~" + known
	}
	switch {
	case s.UnpricedTokens == 0:
		return known
	case s.USD == 0:
		return "?"
	}
	return known + " + ?"
}

// Dollars is an amount of money: to the cent, or as exactly as a small one needs.
func Dollars(usd float64) string {
	switch {
	case usd == 0:
		return "$0"
	case usd < 0.0001:
		return "<$0.0001"
	case usd < 0.09995:
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// RespawnLine is a respawn with what was counted and the limits that were in force.
func RespawnLine(r health.Respawn) string {
	line := fmt.Sprintf("%s: %s, generation %d to %d, ", Moment(r.At), r.Cause, r.From, r.To)
	if r.Counted.Unparseable > 0 {
		return line + fmt.Sprintf("%d unparseable outputs in %s (a respawn from %d on, at most every %s)",
			r.Counted.Unparseable, setting.ShortDuration(r.Limits.Window), r.Limits.Unparseable, setting.ShortDuration(r.Limits.Every))
	}
	return line + fmt.Sprintf("%d in %s (at most %d), %d in a row (at most %d)",
		r.Counted.InWindow, setting.ShortDuration(r.Limits.Window), r.Limits.MaxRestarts, r.Counted.Consecutive, r.Limits.MaxConsecutive)
}

// UnservedLine says which loopback address is not served, and who has its port where that is known.
func UnservedLine(u api.Unserved) string {
	line := fmt.Sprintf("%s is not served (%s): the socket serves alone", u.Addr, u.Why)
	if u.PID != 0 {
		line += fmt.Sprintf("; process %d (%s) has port %d", u.PID, cmp.Or(u.Command, "unknown"), u.Port)
	}
	return line
}

// UnservedStep says what to do about it.
func UnservedStep(u api.Unserved) string {
	host, _, err := net.SplitHostPort(u.Addr)
	if err != nil {
		host = "127.0.0.1"
	}
	return fmt.Sprintf("free port %d, or `cmemd config set listen %s` with another one; then `cmemd restart`",
		u.Port, net.JoinHostPort(host, "PORT"))
}
