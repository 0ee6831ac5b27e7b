package replay

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

const (
	kept   = "<observation><title>t</title></observation>"
	phrase = "this session has ended"
)

// said is an observation turn of one input.
func said(at int64, output string) Event {
	return Event{AtMS: at, Kind: KindObservation, Batch: 1, Output: events.NewOutput(output), Tokens: Tokens{In: 10, Out: 1}}
}

func failed(at int64, code string) Event {
	e := said(at, "a notice")
	e.Provider = &Failure{IsError: true, Code: code}
	return e
}

func in(session, observer string, e Event) Event {
	e.Session, e.Observer = session, observer
	return e
}

func run(t *testing.T, name policy.Name, s *Scenario) Result {
	t.Helper()
	r, err := Run(s, name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if why := unbalanced(s, r); why != "" {
		t.Error(why)
	}
	return r
}

func decided(t *testing.T, r Result, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.Fields(want), r.Decisions); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

func TestOpenings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		opening string
		second  int64 // the time of the event behind the respawn
		end     int64
		want    string
		calls   int
	}{
		{"a delay later", "", 5000, 5000, "respawn keep+1", 3},
		{"exactly with the event", "", 1000, 5000, "respawn keep+1", 3},
		{"with the event, which comes sooner", "", 999, 5000, "respawn keep+1", 3},
		{"again and again: at 1,000 to 4,000, and with the event, which asks none of them", phrase, 4500, 4500, "respawn -+5", 6},
		{"none twice at the instant of the event", phrase, 4000, 4000, "respawn -+4", 5},
		{"and on to the end", phrase, 1500, 3500, "respawn -+2", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &Scenario{
				Respawn: Respawn{DelayMS: 1000, Output: events.NewOutput(c.opening), Tokens: Tokens{In: 100}}, EndMS: c.end,
				Events: []Event{said(0, phrase), said(c.second, kept)},
			}
			r := run(t, policy.LegacyKeyword, s)
			decided(t, r, c.want)
			openings := c.calls - 1
			if strings.Contains(c.want, "keep") {
				openings--
			}
			if r.Calls != c.calls || r.WastedTokens != int64(11+100*openings) {
				t.Errorf("%d calls, %d tokens wasted; want %d, %d", r.Calls, r.WastedTokens, c.calls, 11+100*openings)
			}
			if held := strings.Count(c.want, "-"); r.HeldBatches != held || r.LostBatches != 1 {
				t.Errorf("%d batches held, %d lost; want %d, 1", r.HeldBatches, r.LostBatches, held)
			}
		})
	}
}

func TestAnOpeningAtTheEndIsMade(t *testing.T) {
	t.Parallel()
	for end, calls := range map[int64]int{999: 1, 1000: 2, 1001: 2} {
		s := &Scenario{Respawn: Respawn{DelayMS: 1000}, EndMS: end, Events: []Event{said(0, phrase)}}
		if r := run(t, policy.LegacyKeyword, s); r.Calls != calls {
			t.Errorf("end at %d: %d calls, want %d", end, r.Calls, calls)
		}
	}
}

func TestOpeningsWithoutEndAreRefused(t *testing.T) {
	t.Parallel()
	s := &Scenario{Respawn: Respawn{Output: events.NewOutput(phrase)}, EndMS: 1, Events: []Event{said(0, phrase)}}
	if _, err := Run(s, policy.LegacyKeyword, Options{}); !errors.Is(err, ErrRunaway) {
		t.Errorf("got %v, want %v", err, ErrRunaway)
	}
	results, err := Compare(s, policy.Names(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range policy.Names() {
		r := results[name]
		if (r.Error != "") != name.ReadsPhrases() || r.Error == "" && unbalanced(s, r) != "" {
			t.Errorf("%s beside others that run away: %+v", name, r)
		}
	}
	s.Respawn.DelayMS, s.EndMS = 1, MaxOpenings
	if _, err := Run(s, policy.LegacyKeyword, Options{}); err != nil {
		t.Errorf("exactly as many as are allowed: %v", err)
	}
}

func TestWhoLosesTheBatchOfARespawn(t *testing.T) {
	t.Parallel()
	for name, want := range map[policy.Name]Result{
		policy.LegacyKeyword: {LostBatches: 3},
		policy.WindowedNoKW:  {LostBatches: 3},
		policy.Consecutive:   {LostBatches: 2, Recovered: 1},
	} {
		s := &Scenario{Events: []Event{said(0, "a"), said(1, "b"), said(2, "c"), said(3, kept)}}
		r := run(t, name, s)
		decided(t, r, "drop drop respawn keep+1")
		if r.LostBatches != want.LostBatches || r.Recovered != want.Recovered {
			t.Errorf("%s: %d lost, %d recovered; want %d, %d", name, r.LostBatches, r.Recovered, want.LostBatches, want.Recovered)
		}
	}
}

func TestACarriedBatchSharesTheNextFate(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]Result{
		kept:     {Recovered: 2},
		"":       {Recovered: 2},
		"prose":  {LostBatches: 3},
		"exit":   {HeldBatches: 2},
		"nobody": {HeldBatches: 3},
	} {
		s := &Scenario{Events: []Event{failed(0, "limit"), said(1, kept)}}
		switch output {
		case "exit":
			s.Events = append(s.Events, Event{AtMS: 60_000, Kind: KindExit})
		case "nobody":
			s.Events = append(s.Events, said(59_999, kept))
		default:
			s.Events = append(s.Events, said(60_000, output))
		}
		r := run(t, policy.OTPHold, s)
		got := Result{Recovered: r.Recovered, LostBatches: r.LostBatches, HeldBatches: r.HeldBatches}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", output, diff)
		}
	}
}

func TestFailuresByTheirCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"rate_limit": "hold - -", "limit": "hold - -", "auth": "hold - -", "of tomorrow": "hold - -", "": "hold - -",
		"refused": "retry keep keep", "overflow": "retry keep keep", "truncated": "retry keep keep",
		"crash": "restart keep keep", "interrupted": "restart keep keep",
	} {
		s := &Scenario{Events: []Event{failed(0, code), said(1, kept), said(2, kept)}}
		r := run(t, policy.OTPHold, s)
		decided(t, r, want)
		if wantCalls := 3 - strings.Count(want, "-") - strings.Count(want, "restart"); r.Calls != wantCalls {
			t.Errorf("%s: %d calls, want %d", code, r.Calls, wantCalls)
		}
		if r := run(t, policy.Ignore, s); !strings.HasPrefix(r.Decisions[0], "drop") && !strings.HasPrefix(r.Decisions[0], "restart") {
			t.Errorf("%s: who reads only outputs decides %s", code, r.Decisions[0])
		}
	}
	s := &Scenario{Events: []Event{failed(0, "limit"), said(3_600_000-1, kept), said(3_600_000, kept)}}
	s.Events[0].Provider.ResetsMS = 3_600_000
	decided(t, run(t, policy.OTPHold, s), "hold - keep")
	s.Events[0].Provider.IsError = false
	decided(t, run(t, policy.OTPHold, s), "drop keep keep")
}

func TestAProvidersHoldStopsAllItsSessionsOnce(t *testing.T) {
	t.Parallel()
	s := &Scenario{Events: []Event{
		in("a", "p", failed(0, "limit")), in("b", "p", said(1, kept)), in("c", "q", said(2, kept)),
		in("b", "p", said(60_000, kept)), in("a", "p", said(60_001, kept)),
	}}
	r := run(t, policy.OTPHold, s)
	decided(t, r, "hold - keep keep keep")
	if r.Recovered != 2 || r.WastedCalls != 1 {
		t.Errorf("%d recovered, %d calls wasted; want 2, 1", r.Recovered, r.WastedCalls)
	}
}

func TestOneSessionsHaltStopsNoOther(t *testing.T) {
	t.Parallel()
	s := &Scenario{}
	for i := range int64(6) {
		s.Events = append(s.Events, in("a", "p", Event{AtMS: i, Kind: KindExit}))
	}
	s.Events = append(s.Events, in("a", "p", said(7, kept)), in("b", "p", said(8, kept)), in("a", "p", said(60_005, kept)))
	r := run(t, policy.OTPHold, s)
	decided(t, r, "restart restart restart restart restart halt - keep keep")
	if r.HaltedAtMS == nil || *r.HaltedAtMS != 5 || r.Restarts != 6 {
		t.Errorf("halted at %v, %d restarts; want 5, 6", r.HaltedAtMS, r.Restarts)
	}
}

// TestAnObserverDoesNotOpenWhileItsProviderRests respawns one session, and lets another find the provider closed.
func TestAnObserverDoesNotOpenWhileItsProviderRests(t *testing.T) {
	t.Parallel()
	s := &Scenario{Respawn: Respawn{DelayMS: 1000}}
	for i := range int64(5) {
		s.Events = append(s.Events, in("a", "p", said(i, "prose")))
	}
	s.Events = append(s.Events, in("b", "p", failed(10, "limit")), in("a", "p", said(30_000, kept)), in("a", "p", said(60_010, kept)))
	r := run(t, policy.Supervised, s)
	decided(t, r, "drop drop drop drop respawn hold - keep+1")
	if r.Recovered != 2 || r.HeldBatches != 1 {
		t.Errorf("%d recovered, %d held; want 2, 1", r.Recovered, r.HeldBatches)
	}
}

func TestWhoIsFresh(t *testing.T) {
	t.Parallel()
	wedged := int64(100)
	fresh := func(at int64) Event {
		e := said(at, "prose")
		e.Fresh = &Fresh{Output: events.NewOutput(kept), Tokens: Tokens{In: 5}}
		return e
	}
	for _, c := range []struct {
		name   string
		policy policy.Name
		delay  int64
		events []Event
		want   string
	}{
		{"the first observer is not, however late", policy.Ignore, 0, []Event{fresh(200)}, "drop"},
		{"one opened a millisecond before", policy.LegacyKeyword, 99, []Event{said(0, phrase), fresh(200)}, "respawn drop+1"},
		{"one opened at that time", policy.LegacyKeyword, 100, []Event{said(0, phrase), fresh(200)}, "respawn keep+1"},
		{"one restarted before", policy.Ignore, 0, []Event{{AtMS: 99, Kind: KindExit}, fresh(200)}, "restart drop"},
		{"one restarted at that time", policy.Ignore, 0, []Event{{AtMS: 100, Kind: KindExit}, fresh(200)}, "restart keep"},
		{"a probe that is delivered", policy.OTPHold, 0, append(exits(6), fresh(60_005)), "restart restart restart restart restart halt keep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &Scenario{WedgedAtMS: &wedged, Respawn: Respawn{DelayMS: c.delay}, Events: c.events}
			decided(t, run(t, c.policy, s), c.want)
		})
	}
}

func exits(n int64) (es []Event) {
	for i := range n {
		es = append(es, Event{AtMS: i, Kind: KindExit})
	}
	return es
}

func TestMarksSumUp(t *testing.T) {
	t.Parallel()
	s := &Scenario{Respawn: Respawn{DelayMS: 10, Tokens: Tokens{In: 100}}, Events: []Event{said(0, "prose"), said(5, phrase), said(20, kept)}}
	want := []Mark{
		{AtMS: 0, Decision: policy.RuleDrop, WastedTokens: 11, Lost: 1},
		{AtMS: 5, Decision: policy.RuleRespawn, WastedTokens: 22, Lost: 2},
		{AtMS: 20, Decision: policy.RuleKeep, Openings: 1, WastedTokens: 122, Lost: 2},
	}
	if diff := cmp.Diff(want, run(t, policy.LegacyKeyword, s).Marks); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFlaggedCommitsAreThoseOfKeptTurns(t *testing.T) {
	t.Parallel()
	s := &Scenario{Events: []Event{said(0, kept), said(1, "prose")}}
	for i := range s.Events {
		s.Events[i].Commits = []Commit{{"0123456", false}, {"89abcde", true}}
	}
	if r := run(t, policy.Ignore, s); r.FlaggedCommits != 1 {
		t.Errorf("%d flagged, want 1", r.FlaggedCommits)
	}
}

// TestThousandsOfSessions compares 5,000 sessions in one scenario to as many scenarios of one: they share nothing but
// their provider, which is well.
func TestThousandsOfSessions(t *testing.T) {
	t.Parallel()
	const sessions = 5000
	one := &Scenario{Respawn: Respawn{DelayMS: 500, Tokens: Tokens{In: 7}}, EndMS: 40_000}
	all := &Scenario{Respawn: one.Respawn, EndMS: one.EndMS}
	for i, output := range []string{"a", phrase, "b", "", kept, "c", "d", "e", "f", "g", "h", kept} {
		e := said(int64(i)*3000, output)
		one.Events = append(one.Events, e)
		for n := range sessions {
			all.Events = append(all.Events, in(fmt.Sprint(n), "p", e))
		}
	}
	alone, err := Compare(one, policy.Names(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	together, err := Compare(all, policy.Names(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range policy.Names() {
		a, b := alone[name], together[name]
		if b.Calls != sessions*a.Calls || b.Respawns != sessions*a.Respawns || b.LostBatches != sessions*a.LostBatches || b.WastedTokens != sessions*a.WastedTokens {
			t.Errorf("%s: %d calls, %d respawns, %d lost, %d tokens; want %d times %d, %d, %d, %d", name,
				b.Calls, b.Respawns, b.LostBatches, b.WastedTokens, sessions, a.Calls, a.Respawns, a.LostBatches, a.WastedTokens)
		}
	}
	if alone[policy.Windowed].Respawns == 0 {
		t.Error("nobody is respawned: the comparison shows nothing")
	}
}

func TestRunRefusesWhatItCannotRun(t *testing.T) {
	t.Parallel()
	if _, err := Run(&Scenario{}, "sliding", Options{}); err == nil || !strings.Contains(err.Error(), "otp-hold") {
		t.Errorf("an unknown policy: got %v, want the names", err)
	}
	var bad *ScenarioError
	if _, err := Run(&Scenario{Events: []Event{{Kind: "dream"}}}, policy.OTP, Options{}); !errors.As(err, &bad) || bad.Event != 0 {
		t.Errorf("a scenario that makes no sense: got %v", err)
	}
	settings := policy.Settings{Windowed: policy.WindowedSettings{Threshold: 1000}}
	var out *policy.SettingError
	if _, err := Run(&Scenario{}, policy.OTP, Options{Settings: settings}); !errors.As(err, &out) {
		t.Errorf("settings out of range: got %v", err)
	}
	if r, err := Run(&Scenario{}, policy.Supervised, Options{}); err != nil || r.Calls != 0 {
		t.Errorf("nothing: %+v, %v", r, err)
	}
}

func TestSettingsAreHeeded(t *testing.T) {
	t.Parallel()
	s := &Scenario{Events: []Event{said(0, "prose"), said(1, "prose")}}
	opt := Options{Settings: policy.Settings{Windowed: policy.WindowedSettings{Threshold: 2}}}
	r, err := Run(s, policy.WindowedNoKW, opt)
	if err != nil {
		t.Fatal(err)
	}
	decided(t, r, "drop respawn")
}

// TestAFailedTurnCostsItsInputsWhereNobodyHolds plays turns that failed without a word, as a limit leaves them.
func TestAFailedTurnCostsItsInputsWhereNobodyHolds(t *testing.T) {
	t.Parallel()
	s := &Scenario{}
	for i := range 40 {
		e := failed(int64(i)*120_000, "limit")
		e.Output, e.Batch = events.Output{}, 2
		s.Events = append(s.Events, e)
	}
	for _, name := range policy.Names() {
		r := run(t, name, s)
		switch name {
		case policy.OTPHold, policy.Supervised:
			if r.LostBatches != 0 || r.HeldBatches != 80 {
				t.Errorf("%s: %d lost, %d held; want 0, 80", name, r.LostBatches, r.HeldBatches)
			}
		case policy.LegacyKeyword, policy.Consecutive: // blank ones count, openings too: the third respawns, then every second
			if r.LostBatches != 80 || r.Respawns != 19 || r.WastedCalls != 40+19 {
				t.Errorf("%s: %d lost, %d respawns, %d wasted; want 80, 19, 59", name, r.LostBatches, r.Respawns, r.WastedCalls)
			}
		default:
			if r.LostBatches != 80 || r.DroppedTurns != 40 || r.WastedCalls != 40 || r.Respawns != 0 {
				t.Errorf("%s: %d lost, %d dropped, %d wasted, %d respawns; want 80, 40, 40, 0", name, r.LostBatches, r.DroppedTurns, r.WastedCalls, r.Respawns)
			}
		}
	}
}
