package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/server"
	"github.com/cmemd/cmemd/internal/setting"
	"github.com/cmemd/cmemd/projections/health"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// patientAt is an examination of a home of its own with a daemon that is well.
func patientAt(t *testing.T, now time.Time) *examination {
	t.Helper()
	p, l := clitest.TempHome(t)
	l.Environ = os.Environ()
	a := &terminal.App{Out: io.Discard, Err: io.Discard, Now: func() time.Time { return now }, Version: "1.2.0", Getenv: func(key string) string {
		if key == "CMEMD_HOME" {
			return p.Home
		}
		return ""
	}}
	return &examination{app: a, paths: p, config: l, now: now, status: &api.Status{
		Version: "1.2.0", PID: 7, Ready: true, Settings: map[string]string{"provider": "extractive"},
	}}
}

// checkNamed looks at one thing, and returns all that is said of it.
func checkNamed(t *testing.T, x *examination, name string) []finding {
	t.Helper()
	i := slices.IndexFunc(checks(), func(c check) bool { return c.name == name })
	if i < 0 {
		t.Fatalf("no check is called %s", name)
	}
	return x.diagnose(t.Context(), checks()[i:i+1]).Checks
}

// budgetOf has an examination find a budget of a hundred tokens a day, so much of it used.
func budgetOf(state policy.BudgetState, used float64) func(x *examination) {
	return func(x *examination) {
		x.status.Actors.Budget = &provider.BudgetStatus{
			State: state, Limit: policy.LimitTokensDay, Known: true, Limits: []provider.BudgetLimit{{Name: policy.LimitTokensDay, Limit: 100, Used: used}},
		}
	}
}

// losing has the hooks of a home note that so many payloads were lost.
func losing(t *testing.T, n int) func(x *examination) {
	return func(x *examination) {
		noted := fmt.Sprintf(`{"count":0,"last_notice":"","lost":%d,"lost_reason":"no room"}`, n)
		if err := errors.Join(os.MkdirAll(filepath.Join(x.paths.Home, "run"), 0o700), os.WriteFile(filepath.Join(x.paths.Home, "run", "unanswered.json"), []byte(noted), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, check string
		sick        func(x *examination)
		want        checkState
		words       string
	}{
		{"well", "daemon", func(*examination) {}, stateOK, "pid 7"},
		{"starting", "daemon", func(x *examination) { x.status.Ready, x.status.Phase = false, "views" }, stateNote, "starting: views"},
		{"a view that stopped", "daemon", func(x *examination) { x.status.Ready, x.status.Phase = false, server.StoppedPhase+"index" }, stateWrong, "stopped: index"},
		{"a daemon that hangs", "daemon", func(x *examination) { x.status, x.daemon = nil, errors.New("the daemon has not answered") }, stateWrong, "has not answered"},
		{"an address that another has", "address", func(x *examination) {
			x.status.Unserved = &api.Unserved{Addr: "127.0.0.1:37911", Port: 37911, Why: "address already in use", PID: 12, Command: "other"}
		}, stateWrong, "process 12 (other) has port 37911"},
		{"an address", "address", func(x *examination) { x.status.Settings["listen"] = "127.0.0.1:37911" }, stateOK, "127.0.0.1:37911"},
		{"no address", "address", func(*examination) {}, stateOK, "none is set"},
		{"an older daemon", "version", func(x *examination) { x.status.Version = "v1.1.9" }, stateWrong, "older"},
		{"a newer daemon", "version", func(x *examination) { x.status.Version = "v1.3.0" }, stateNote, "v1.3.0"},
		{"a full disk", "disk", func(x *examination) { x.config.MinFreeBytes = 1 << 60 }, stateWrong, "kept free"},
		{"room, where the home is not there yet", "disk", func(x *examination) { x.config.MinFreeBytes = 1; x.paths.Home += "/not/there" }, stateOK, "free"},
		{"no git", "git", func(x *examination) { x.config.Environ = nil }, stateNote, "not on the PATH"},
		{"a clock that forgot", "clock", func(x *examination) { x.now = time.Unix(0, 0) }, stateWrong, "1970"},
		{"views up to date", "views", func(x *examination) { x.status.Views = []api.ViewLag{{Name: "index", Lag: maxLag}} }, stateOK, "1000 records behind"},
		{"views behind", "views", func(x *examination) { x.status.Views = []api.ViewLag{{Name: "index", Lag: maxLag + 1}} }, stateWrong, "index is 1001 records behind"},
		{"views that stopped", "views", func(x *examination) {
			x.status.Views = []api.ViewLag{{Name: "views", Position: 7, Lag: 1, Stopped: "trying again at 12:00:01 because x: no space left on device"}}
		}, stateWrong, "views stopped at 7, trying again at 12:00:01 because x: no space left on device"},
		{"an index that is rebuilt", "views", func(x *examination) {
			x.status.Views = []api.ViewLag{{Name: "index", Lag: 3, Rebuilding: true}}
		}, stateNote, "index was damaged, and is being rebuilt: 3 records behind"},
		{"lost inputs", "inputs", func(x *examination) {
			x.status.Inputs = api.Balance{Balance: session.Balance{Captured: 2, Observed: 1}}
		}, stateWrong, "does not add up"},
		{"dropped inputs", "inputs", func(x *examination) {
			x.status.Inputs = api.Balance{Balance: session.Balance{Captured: 2, Observed: 1, Dropped: 1}}
		}, stateNote, "1 dropped"},
		{"a hold", "provider", func(x *examination) {
			x.status.Findings = []health.Finding{{What: health.FindHeld, Says: "it waits", Do: "pay"}}
		}, stateNote, "it waits"},
		{"a long hold", "provider", func(x *examination) {
			x.status.Findings = []health.Finding{{What: health.FindHeld, Degraded: true, Says: "it waits", Do: "pay"}}
		}, stateWrong, relay.Notice("it waits")},
		{"a pause", "provider", func(x *examination) {
			x.status.Providers = []api.ProviderStatus{{Name: "p", State: api.ProviderPaused, Class: "overload", Until: now.Add(time.Minute)}}
		}, stateNote, "p: paused (overload) until "},
		{"a pause that is over", "provider", func(x *examination) {
			x.status.Providers = []api.ProviderStatus{{Name: "p", State: api.ProviderTried, Class: "overload"}}
		}, stateNote, "p: tried, one turn at a time (overload)"},
		{"a hold is told once", "provider", func(x *examination) {
			x.status.Findings = []health.Finding{{What: health.FindHeld, Provider: "p", Says: "it waits", Do: "pay"}}
			x.status.Providers = []api.ProviderStatus{{Name: "p", State: api.ProviderPaused}, {Name: "q", State: api.ProviderInUse}}
		}, stateNote, "it waits"},
		{"somebody in use", "provider", func(x *examination) {
			x.status.Providers = []api.ProviderStatus{{Name: "p", Model: "m", State: api.ProviderInUse, Tiers: []string{api.TierTrivial}}}
		}, stateOK, "p m: in use; first for what is trivial"},
		{"a day that is used up", "provider", func(x *examination) {
			x.status.Providers = []api.ProviderStatus{{Name: "p", State: api.ProviderBudget, Until: now, PassedOver: true}}
		}, stateNote, ": the budget is used up; passed over"},
		{"no budget", "budget", func(*examination) {}, stateOK, "there is none"},
		{"a budget", "budget", budgetOf(policy.BudgetFree, 10), stateOK, "budget_tokens_day: 10 of 100 tokens (10 %)"},
		{"a budget that is nearly used up", "budget", budgetOf(policy.BudgetWarn, 80), stateNote, "(80 %), nearly used up"},
		{"a budget that is used up", "budget", func(x *examination) {
			budgetOf(policy.BudgetSpent, 100)(x)
			x.status.Findings = []health.Finding{{What: server.FindBudget, Says: "it is used up", Do: "raise it"}}
		}, stateNote, "it is used up"},
		{"a budget of which nothing is known", "budget", func(x *examination) {
			budgetOf(policy.BudgetFree, 0)(x)
			x.status.Actors.Budget.Known, x.status.Actors.Budget.Limit = false, ""
		}, stateNote, "what was used before is not known yet"},
		{"a budget is no fault of the observer", "observer", func(x *examination) {
			x.status.Findings = []health.Finding{{What: server.FindBudget, Says: "it is used up", Do: "raise it"}}
		}, stateOK, "24 h"},
		{"a sick observer", "observer", func(x *examination) {
			x.status.Findings = []health.Finding{{What: health.FindUnusable, Degraded: true, Says: "it talks", Do: "change it"}}
		}, stateWrong, "it talks"},
		{"bad settings", "settings", func(x *examination) { x.settings = errors.Join(errors.New("one"), errors.New("two")) }, stateWrong, "one"},
		{"no home", "home", func(x *examination) { x.paths.Home += "/not/there" }, stateNote, "not there yet"},
		{"the log is not there", "log", func(*examination) {}, stateNote, "none yet"},
		{"no socket beside a daemon", "socket", func(*examination) {}, stateWrong, "cmemd.sock"},
		{"a lost payload", "hooks", losing(t, 1), stateNote, "1 payload lost ever, the last one because: no room"},
		{"lost payloads", "hooks", losing(t, 2), stateNote, "2 payloads lost ever, the last one because: no room"},
		{"nothing was unanswered", "hooks", func(*examination) {}, stateOK, "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := patientAt(t, now)
			c.sick(x)
			got := checkNamed(t, x, c.check)
			if len(got) == 0 || got[0].Name != c.check || got[0].State != c.want || !strings.Contains(got[0].Detail, c.words) {
				t.Fatalf("got %+v, want %s with %q", got, c.want, c.words)
			}
			if got[0].State != stateOK && got[0].Mend == "" {
				t.Errorf("%+v lacks what mends it", got[0])
			}
		})
	}
}

// TestWithoutADaemon: no check fails for want of a daemon, and those that need one say so.
func TestWithoutADaemon(t *testing.T) {
	t.Parallel()
	x := patientAt(t, time.Now())
	x.status, x.daemon = nil, api.ErrNotRunning
	d := x.diagnose(t.Context(), checks())
	var bad []string
	for _, c := range d.Checks {
		if c.State == stateWrong {
			bad = append(bad, c.Name)
		}
	}
	if !slices.Equal(bad, []string{"daemon"}) || d.OK || !errors.Is(d.err(), errUnwell) {
		t.Errorf("got %v wrong, %v", bad, d.err())
	}
}

// TestClockBehindTheLog: a clock that shows less than the log's newest record was set back.
func TestClockBehindTheLog(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for ahead, want := range map[time.Duration]checkState{clockSlip: stateOK, clockSlip + time.Second: stateWrong} {
		x := patientAt(t, now)
		log, err := eventlog.Open(x.paths.Log, eventlog.Config{Now: func() time.Time { return now.Add(ahead) }})
		if err != nil {
			t.Fatal(err)
		}
		_, err = eventlog.AppendEnd(t.Context(), log, events.Daemon, events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: now, Event: events.DaemonStarted{}})
		if err := errors.Join(err, log.Close()); err != nil {
			t.Fatal(err)
		}
		if got := checkNamed(t, x, "clock"); got[0].State != want {
			t.Errorf("%s ahead: got %+v, want %s", ahead, got, want)
		}
	}
}

// TestFollows changes one thing of good records at a time.
func TestFollows(t *testing.T) {
	t.Parallel()
	log := logtest.Open(t, eventlog.Config{})
	for i := range 6 {
		stream := []events.StreamID{events.Daemon, "provider/p"}[i%2]
		d := events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(), Event: events.ProviderResumed{By: "probe"}}
		if _, err := eventlog.AppendEnd(t.Context(), log, stream, d); err != nil {
			t.Fatal(err)
		}
	}
	read := func() (all []api.LogRecord) {
		for r, err := range log.All(context.Background(), 1) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, api.RecordOf(r, false))
		}
		return all
	}
	for name, c := range map[string]struct {
		change func(r []api.LogRecord) []api.LogRecord
		ok     bool
	}{
		"as it is":            {func(r []api.LogRecord) []api.LogRecord { return r }, true},
		"from the middle":     {func(r []api.LogRecord) []api.LogRecord { return r[3:] }, true},
		"none":                {func(r []api.LogRecord) []api.LogRecord { return nil }, true},
		"one is missing":      {func(r []api.LogRecord) []api.LogRecord { return slices.Delete(r, 2, 3) }, false},
		"a version":           {func(r []api.LogRecord) []api.LogRecord { r[4].Version++; return r }, false},
		"a chain":             {func(r []api.LogRecord) []api.LogRecord { r[3].Chain[0]++; return r }, false},
		"a header":            {func(r []api.LogRecord) []api.LogRecord { r[4].Size++; return r }, false},
		"a back-pointer":      {func(r []api.LogRecord) []api.LogRecord { r[4].Previous--; return r }, false},
		"a stream's first":    {func(r []api.LogRecord) []api.LogRecord { r[0].Size++; return r }, false},
		"time that goes back": {func(r []api.LogRecord) []api.LogRecord { r[5].RecordedAt = r[4].RecordedAt.Add(-1); return r }, false},
	} {
		if err := follows(c.change(read())); (err == nil) != c.ok || err != nil && !errors.Is(err, errChain) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestOrderLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		last events.Position
		n    int
		want string
	}{
		{1, 1, "position 1; its one record is in order"},
		{12, 12, "position 12; the last 12 records are in order"},
		{1200, 1000, "position 1200; the last 1000 records are in order; the 200 before them were not looked at: `cmemd log verify` does"},
	} {
		if got := orderLine(c.last, c.n); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestDeepSpendsNoBudgetThatIsUsedUp: what a day's limit holds back is not asked for a look either.
func TestDeepSpendsNoBudgetThatIsUsedUp(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		limit    string
		used     float64
		notAsked bool
	}{
		"room":             {policy.LimitTokensDay, 99, false},
		"tokens of a day":  {policy.LimitTokensDay, 100, true},
		"dollars of a day": {policy.LimitUSDDay, 101, true},
		"a session's":      {policy.LimitUSDSession, 101, false},
	} {
		x := patientAt(t, now)
		x.deep = true
		x.config.Provider, x.config.PlaybackFile = "playback", x.paths.Home+"/not/there"
		x.status.Actors.Budget = &provider.BudgetStatus{Limits: []provider.BudgetLimit{{Name: c.limit, Limit: 100, Used: c.used}}}
		got := x.askModel(t.Context(), setting.Asked{Name: "playback"})
		if notAsked := got.State == stateNote && strings.Contains(got.Detail, "playback was not asked: "+c.limit+" is used up"); notAsked != c.notAsked {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	x := patientAt(t, now)
	x.status = nil
	if limit := x.daySpent(); limit != "" {
		t.Errorf("without a daemon %s is used up", limit)
	}
}
