package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

// The turns that tests speak of.
var (
	good  = Turn{Output: Output{Class: ClassXML, Disposition: Observations}}
	skip  = Turn{Output: Output{Class: ClassXML, Disposition: Skip}}
	blank = Turn{Output: Output{Class: ClassIdle, Disposition: Skip}}
	prose = Turn{Output: Output{Class: ClassProse, Disposition: Dropped}}
	bad   = Turn{Output: Output{Class: ClassXML, Disposition: Dropped}}
	says  = Turn{Output: Output{Class: ClassProse, Disposition: Dropped, PhraseFound: true}}
	limit = Turn{Output: prose.Output, Failure: events.FailLimit}
	big   = Turn{Output: blank.Output, Failure: events.FailOverflow}
	dead  = Turn{Failure: events.FailCrash}
)

// step is one thing that happens to an observer, at so long after the beginning.
type step struct {
	at   time.Duration
	turn *Turn // nil: it ended
}

func at(d time.Duration, t Turn) step { return step{d, &t} }

func exit(d time.Duration) step { return step{at: d} }

// every returns n steps like s, the first at its time and then one each interval.
func every(interval time.Duration, n int, s step) (steps []step) {
	for i := range n {
		steps = append(steps, step{s.at + time.Duration(i)*interval, s.turn})
	}
	return steps
}

// play returns the rulings on steps, one session of one provider, and how often the observer was started again.
func play(t *testing.T, name Name, s Settings, steps ...step) (rulings string, restarts int) {
	t.Helper()
	p, err := New(name, s)
	if err != nil {
		t.Fatal(err)
	}
	var state State
	var provider Pause
	var words []string
	for _, s := range steps {
		now := t0.Add(s.at)
		v := Verdict{Ruling: RuleNone}
		switch {
		case s.turn == nil:
			v = p.RuleOnExit(&state, now)
		case p.Delivers(&state, provider, now):
			v = p.RuleOnTurn(&state, *s.turn, now)
			provider = p.Pause(provider, *s.turn, now)
		}
		if v.Restarted {
			restarts++
		}
		words = append(words, string(v.Ruling))
	}
	return strings.Join(words, " "), restarts
}

const (
	ms  = time.Millisecond
	sec = time.Second
)

func TestBoundaries(t *testing.T) {
	t.Parallel()
	then := func(before []step, more ...step) []step { return append(before[:len(before):len(before)], more...) }
	five := every(sec, 5, exit(sec))
	halted := then(five, exit(10*sec)) // until 70 s
	fast := func(n int) (steps []step) {
		for i := range n { // a good turn before each exit, so that only the window counts
			d := time.Duration(i) * sec
			steps = append(steps, at(d, good), exit(d))
		}
		return steps
	}
	sliding := Settings{Windowed: WindowedSettings{Sliding: true}}
	eager := Settings{Windowed: WindowedSettings{Threshold: 2, Window: 10 * sec, Exempt: []Class{}}}
	brisk := Settings{Unparseable: Unparseable{Max: 2, Window: 10 * sec, Every: sec}}
	for _, c := range []struct {
		name     string
		policy   Name
		settings Settings
		steps    []step
		last     string // rulings on the last steps
	}{
		{"legacy: the third in a row, however slow", LegacyKeyword, Settings{}, []step{at(0, prose), at(time.Hour, blank), at(2*time.Hour, bad)}, "drop skip respawn"},
		{"legacy: a phrase at once", LegacyKeyword, Settings{}, []step{at(0, says)}, "respawn"},
		{"legacy: a skip in so many words clears", LegacyKeyword, Settings{}, []step{at(0, prose), at(1, prose), at(2, skip), at(3, prose), at(4, prose), at(5, prose)}, "skip drop drop respawn"},
		{"legacy: a respawn clears", LegacyKeyword, Settings{}, []step{at(0, says), at(1, prose), at(2, prose), at(3, prose)}, "respawn drop drop respawn"},
		{"consecutive: blank counts, phrases do not", Consecutive, Settings{}, []step{at(0, says), at(1, blank), at(2, blank)}, "drop skip respawn"},
		{"consecutive: content clears", Consecutive, Settings{}, []step{at(0, prose), at(1, prose), at(2, good), at(3, prose), at(4, prose)}, "keep drop drop"},

		{"windowed: exactly a window after the first", Windowed, Settings{}, []step{at(0, prose), at(1, prose), at(60*sec, prose)}, "respawn"},
		{"windowed: a millisecond sooner", Windowed, Settings{}, []step{at(0, prose), at(1, prose), at(60*sec-ms, prose)}, "respawn"},
		{"windowed: a millisecond later", Windowed, Settings{}, []step{at(0, prose), at(1, prose), at(60*sec+ms, prose)}, "drop"},
		{"windowed: anchored, not sliding", Windowed, Settings{}, []step{at(0, prose), at(59*sec, prose), at(61*sec, prose), at(62*sec, prose), at(63*sec, prose)}, "drop drop respawn"},
		{"windowed: sliding, not anchored", Windowed, sliding, []step{at(0, prose), at(50*sec, prose), at(70*sec, prose), at(100*sec, prose)}, "drop respawn"},
		{"windowed: sliding, exactly a window", Windowed, sliding, []step{at(0, prose), at(1, prose), at(60*sec, prose)}, "respawn"},
		{"windowed: sliding, a millisecond later", Windowed, sliding, []step{at(0, prose), at(1*sec, prose), at(60*sec+ms, prose), at(61*sec, prose)}, "drop respawn"},
		{"windowed: sliding, cleared by a kept one", Windowed, sliding, []step{at(0, prose), at(1, prose), at(2, good), at(3, prose), at(4, prose)}, "keep drop drop"},
		{"windowed: blank neither counts nor clears", Windowed, Settings{}, []step{at(0, prose), at(1, blank), at(2, prose), at(3, blank), at(4, bad)}, "skip respawn"},
		{"windowed: a phrase at once", Windowed, Settings{}, []step{at(0, says)}, "respawn"},
		{"windowed: a respawn begins a new window", Windowed, Settings{}, []step{at(0, says), at(1, prose), at(2, prose), at(3, prose)}, "drop drop respawn"},
		{"windowed-nokw: no phrases", WindowedNoKW, Settings{}, []step{at(0, says), at(1, says), at(60*sec, says)}, "drop drop respawn"},
		{"windowed: its settings", WindowedNoKW, eager, []step{at(0, blank), at(10*sec, blank), at(30*sec, prose), at(40*sec+ms, prose)}, "respawn drop drop"},

		{"ignore: restarts without limit", Ignore, Settings{}, every(ms, 40, exit(0)), "restart restart"},
		{"window-only: ten in a row", WindowOnly, Settings{}, every(ms, 10, exit(0)), "restart restart"},
		{"window-only: the eleventh", WindowOnly, Settings{}, every(ms, 12, exit(0)), "restart halt -"},
		{"window-only: the first is exactly a window old", WindowOnly, Settings{}, then(every(ms, 10, exit(0)), exit(60*sec)), "halt"},
		{"window-only: the first is a millisecond younger", WindowOnly, Settings{}, then(every(ms, 10, exit(0)), exit(60*sec-ms)), "halt"},
		{"window-only: the first is a millisecond older", WindowOnly, Settings{}, then(every(ms, 10, exit(0)), exit(60*sec+ms)), "restart"},
		{"window-only: slow ones never trip it", WindowOnly, Settings{}, every(8*sec, 200, exit(0)), "restart restart"},

		{"otp: the fifth and the sixth in a row", OTP, Settings{}, every(8*sec, 6, exit(0)), "restart halt"},
		{"otp: a good turn between", OTP, Settings{}, then(five, at(6*sec, good), exit(7*sec)), "keep restart"},
		{"otp: a blank turn is no success", OTP, Settings{}, then(five, at(6*sec, blank), exit(7*sec)), "skip halt"},
		{"otp: a dropped turn is no success", OTP, Settings{}, then(five, at(6*sec, prose), exit(7*sec)), "drop halt"},
		{"otp: a halt is for good", OTP, Settings{}, then(halted, at(48*time.Hour, good), exit(49*time.Hour)), "halt - -"},
		{"otp: what a transport says is not heard", OTP, Settings{}, []step{at(0, limit), at(1, big)}, "drop drop"},
		{"otp: the window trips between good turns", OTP, Settings{}, fast(11), "keep halt"},
		{"otp: a crash with a turn in hand is an end", OTP, Settings{}, then(five, at(7*sec, dead)), "halt"},

		{"otp-hold: a halt has not ended", OTPHold, Settings{}, then(halted, at(70*sec-ms, good)), "-"},
		{"otp-hold: exactly at its end", OTPHold, Settings{}, then(halted, at(70*sec, good)), "keep"},
		{"otp-hold: a millisecond after it", OTPHold, Settings{}, then(halted, at(70*sec+ms, good)), "keep"},
		{"otp-hold: an end during a halt", OTPHold, Settings{}, then(halted, exit(70*sec-ms)), "-"},
		{"otp-hold: a failed probe doubles", OTPHold, Settings{}, then(halted, exit(70*sec), exit(190*sec-ms), exit(190*sec)), "halt - halt"},
		{"otp-hold: an answered probe releases, however", OTPHold, Settings{}, then(halted, then([]step{at(70*sec, prose)}, every(sec, 6, exit(71*sec))...)...), "drop restart restart restart restart restart halt"},
		{"otp-hold: and the next halt is short again", OTPHold, Settings{}, then(halted, then([]step{exit(70 * sec), at(190*sec, prose)}, then(every(sec, 6, exit(191*sec)), at(256*sec-ms, good), at(256*sec, good))...)...), "halt - keep"},
		{"otp-hold: a probe that dies is a failed one", OTPHold, Settings{}, then(halted, at(70*sec, dead), at(190*sec-ms, good), at(190*sec, good)), "halt - keep"},

		{"otp-hold: a pause has not ended", OTPHold, Settings{}, []step{at(0, limit), at(60*sec-ms, good)}, "hold -"},
		{"otp-hold: exactly at its end", OTPHold, Settings{}, []step{at(0, limit), at(60*sec, good)}, "hold keep"},
		{"otp-hold: it doubles", OTPHold, Settings{}, []step{at(0, limit), at(60*sec, limit), at(180*sec-ms, good), at(180*sec, good)}, "hold - keep"},
		{"otp-hold: a parsed turn ends the doubling", OTPHold, Settings{}, []step{at(0, limit), at(60*sec, good), at(61*sec, limit), at(121*sec, good)}, "keep hold keep"},
		{"otp-hold: a blank one does not", OTPHold, Settings{}, []step{at(0, limit), at(60*sec, blank), at(61*sec, limit), at(181*sec-ms, good), at(181*sec, good)}, "skip hold - keep"},
		{"otp-hold: an end while the provider rests is one", OTPHold, Settings{}, []step{at(0, limit), exit(1)}, "hold restart"},
		{"otp-hold: the turn's own fault pauses nobody", OTPHold, Settings{}, []step{at(0, big), at(1, good)}, "retry keep"},
		{"otp-hold: unparsed outputs earn nothing", OTPHold, Settings{}, every(sec, 20, at(0, says)), "drop drop"},

		{"supervised: the first of five is exactly a window old", Supervised, Settings{}, then(every(sec, 4, at(0, prose)), at(60*sec, bad)), "drop respawn"},
		{"supervised: a millisecond older", Supervised, Settings{}, then(every(sec, 4, at(0, prose)), at(60*sec+ms, bad)), "drop drop"},
		{"supervised: it slides", Supervised, Settings{}, then(every(sec, 4, at(0, prose)), at(60*sec+ms, bad), at(60*sec+2*ms, bad)), "drop respawn"},
		{"supervised: blank neither counts nor clears", Supervised, Settings{}, then(every(sec, 4, at(0, prose)), at(5*sec, blank), at(6*sec, prose)), "skip respawn"},
		{"supervised: a parsed turn clears", Supervised, Settings{}, then(every(sec, 4, at(0, prose)), at(5*sec, skip), at(6*sec, prose)), "skip drop"},
		{"supervised: its settings, and a respawn clears", Supervised, brisk, every(sec, 5, at(0, prose)), "drop respawn drop respawn drop"},
		{"supervised: exactly ten minutes later again", Supervised, Settings{}, then(every(sec, 5, at(0, prose)), every(sec, 5, at(600*sec, prose))...), "drop drop drop drop respawn"},
		{"supervised: a millisecond sooner not", Supervised, Settings{}, then(every(sec, 5, at(0, prose)), every(sec, 5, at(600*sec-ms, prose))...), "drop drop drop drop drop"},
	} {
		t.Run(string(c.policy)+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			got, _ := play(t, c.policy, c.settings, c.steps...)
			if !strings.HasSuffix(" "+got, " "+c.last) {
				t.Errorf("got ... %s, want ... %s", got[max(0, len(got)-80):], c.last)
			}
		})
	}
}

// TestHistoryIsForgottenOnce lets a good turn, ten restarts and then an eleventh come, each side of five minutes.
func TestHistoryIsForgottenOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		eleven time.Duration
		want   string
	}{
		{"a millisecond sooner", 300*sec - ms, "restart halt -"},
		{"exactly five minutes after the success", 300 * sec, "restart restart restart"},
		{"a millisecond later", 300*sec + ms, "restart restart restart"},
	} {
		steps := append([]step{at(0, good)}, every(sec, 10, exit(280*sec))...)
		steps = append(steps, exit(c.eleven), exit(c.eleven+1))
		got, _ := play(t, WindowOnly, Settings{}, steps...)
		if !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: got %s, want ... %s", c.name, got, c.want)
		}
	}
	steps := append([]step{at(0, good)}, every(ms, 12, exit(301*sec))...)
	if got, _ := play(t, WindowOnly, Settings{}, steps...); !strings.HasSuffix(got, "restart halt -") {
		t.Errorf("a crash loop long after the last success: got %s, want it to be halted", got)
	}
	steps = append([]step{at(0, good)}, every(60*sec, 6, exit(60*sec))...)
	if got, _ := play(t, OTP, Settings{}, steps...); !strings.HasSuffix(got, "restart halt") {
		t.Errorf("six in a row over six minutes: got %s, want the sixth halted: those in a row are not forgotten", got)
	}
}

func TestProbesCountAsRestarts(t *testing.T) {
	t.Parallel()
	steps := append(every(8*sec, 6, exit(0)), exit(100*sec), exit(219*sec), exit(220*sec), at(500*sec, prose))
	got, restarts := play(t, OTPHold, Settings{}, steps...)
	if want := "restart restart restart restart restart halt halt - halt drop"; got != want || restarts != 8 {
		t.Errorf("got %s, %d restarts; want %s, 8: five, two failed probes and the one that lived", got, restarts, want)
	}
}

func TestAPauseIsAProvidersOwn(t *testing.T) {
	t.Parallel()
	p, err := New(OTPHold, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	var one, other State
	if v := p.RuleOnTurn(&one, limit, t0); v.Ruling != RuleHold {
		t.Fatalf("got %q, want a hold", v.Ruling)
	}
	paused := p.Pause(Pause{}, limit, t0)
	if p.Delivers(&other, paused, t0.Add(sec)) || !p.Delivers(&other, Pause{}, t0.Add(sec)) {
		t.Error("a hold is the session's, not the provider's")
	}
	reset := Turn{Output: limit.Output, Failure: events.FailLimit, ResetsAt: t0.Add(3 * time.Hour)}
	if got := p.Pause(Pause{}, reset, t0); !got.Until.Equal(reset.ResetsAt) {
		t.Errorf("paused until %v, want the time that the provider gave", got.Until)
	}
	reset.ResetsAt = t0.Add(1000 * time.Hour)
	if got := p.Pause(Pause{}, reset, t0); !got.Until.Equal(t0.Add(MaxReset)) {
		t.Errorf("paused until %v, want no longer than %v", got.Until, MaxReset)
	}
	if diff := cmp.Diff(paused, p.Pause(paused, big, t0.Add(time.Minute))); diff != "" {
		t.Errorf("a turn that blames itself changed the pause:\n%s", diff)
	}
}
