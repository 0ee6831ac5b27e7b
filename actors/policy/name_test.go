package policy

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

func TestNames(t *testing.T) {
	t.Parallel()
	want := strings.Fields("legacy-keyword windowed windowed-nokw consecutive ignore window-only otp otp-hold supervised")
	var got []string
	for _, n := range Names() {
		got = append(got, string(n))
		if p, err := Parse(string(n)); err != nil || p != n {
			t.Errorf("%s: got %q, %v", n, p, err)
		}
		if p, err := New(n, Settings{}); err != nil || p.Name() != n {
			t.Errorf("%s: %v", n, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, bad := range []string{"", "OTP", "all", "otp-hold "} {
		_, err := Parse(bad)
		if err == nil || !strings.Contains(err.Error(), strings.Join(want, ", ")) {
			t.Errorf("%q: got %v, want the names", bad, err)
		}
		if _, err := New(Name(bad), Settings{}); err == nil {
			t.Errorf("New took %q", bad)
		}
	}
}

func TestWindowedSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key, value string
		ok         bool
	}{
		{KeyThreshold, "1", true}, {KeyThreshold, "100", true}, {KeyThreshold, "0", false}, {KeyThreshold, "101", false},
		{KeyThreshold, "", false}, {KeyThreshold, "3.5", false}, {KeyThreshold, "-1", false}, {KeyThreshold, "three", false},
		{KeyWindowMS, "1000", true}, {KeyWindowMS, "3600000", true}, {KeyWindowMS, "999", false},
		{KeyWindowMS, "3600001", false}, {KeyWindowMS, "60s", false}, {KeyWindowMS, "99999999999999999999", false},
		{KeyExempt, "idle", true}, {KeyExempt, "prose, idle", true}, {KeyExempt, "", true}, {KeyExempt, "xml", false},
		{KeyExempt, "Idle", false}, {KeyExempt, "idle,", false},
		{KeyWindow, "anchored", true}, {KeyWindow, "sliding", true}, {KeyWindow, "", false}, {KeyWindow, "Sliding", false}, {"treshold", "3", false},
	} {
		var w WindowedSettings
		err := w.Set(c.key, c.value)
		if (err == nil) != c.ok {
			t.Errorf("%s = %q: got %v, want it taken %v", c.key, c.value, err, c.ok)
		}
		var bad *SettingError
		if err != nil && (!errors.As(err, &bad) || bad.Key != c.key || bad.Range == "" || !strings.Contains(c.value, bad.Value)) {
			t.Errorf("%s = %q: got %#v, want an error of key, value and range", c.key, c.value, err)
		}
		if err := w.Check(); err != nil {
			t.Errorf("%s = %q: what was set is refused: %v", c.key, c.value, err)
		}
	}
}

func TestWindowedSettingsAreSet(t *testing.T) {
	t.Parallel()
	var w WindowedSettings
	for key, value := range map[string]string{KeyThreshold: "7", KeyWindowMS: "1500", KeyExempt: "prose,idle,prose", KeyWindow: WindowSliding} {
		if err := w.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	want := WindowedSettings{Threshold: 7, Window: 1500 * time.Millisecond, Exempt: []Class{ClassProse, ClassIdle}, Sliding: true}
	if diff := cmp.Diff(want, w); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := w.Set(KeyExempt, ""); err != nil || w.Exempt == nil || len(w.Exempt) != 0 {
		t.Errorf("no class exempt: got %#v, %v", w.Exempt, err)
	}
}

func TestBadSettingsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		w   WindowedSettings
		key string
	}{
		"threshold below":   {WindowedSettings{Threshold: -1}, KeyThreshold},
		"threshold above":   {WindowedSettings{Threshold: 101}, KeyThreshold},
		"window below":      {WindowedSettings{Window: time.Second - time.Nanosecond}, KeyWindowMS},
		"window above":      {WindowedSettings{Window: time.Hour + time.Nanosecond}, KeyWindowMS},
		"malformed exempt":  {WindowedSettings{Exempt: []Class{ClassXML}}, KeyExempt},
		"an unknown exempt": {WindowedSettings{Exempt: []Class{ClassIdle, "poisoned"}}, KeyExempt},
	} {
		var bad *SettingError
		if _, err := New(Windowed, Settings{Windowed: c.w}); !errors.As(err, &bad) || bad.Key != c.key {
			t.Errorf("%s: got %v, want an error of %s", name, err, c.key)
		}
	}
	err := &SettingError{Key: "threshold", Value: "0", Range: "a whole number from 1 to 100"}
	if got, want := err.Error(), `policy: threshold is "0": want a whole number from 1 to 100`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestEveryLimitHasARange sets each number of all policies to the ends of its range, and just beyond them.
func TestEveryLimitHasARange(t *testing.T) {
	t.Parallel()
	const ms, day = time.Millisecond, 24 * time.Hour
	number := func(to func(*Settings) *int) func(*Settings, int64) {
		return func(s *Settings, n int64) { *to(s) = int(n) }
	}
	duration := func(to func(*Settings) *time.Duration) func(*Settings, int64) {
		return func(s *Settings, n int64) { *to(s) = time.Duration(n) }
	}
	for key, c := range map[string]struct {
		set         func(*Settings, int64)
		least, most int64
	}{
		KeyMaxRestarts:       {number(func(s *Settings) *int { return &s.Restarts.Max }), 1, 1000},
		KeyMaxConsecutive:    {number(func(s *Settings) *int { return &s.Restarts.MaxConsecutive }), 1, 1000},
		KeyMaxUnparseable:    {number(func(s *Settings) *int { return &s.Unparseable.Max }), 1, 100},
		KeyRestartWindow:     {duration(func(s *Settings) *time.Duration { return &s.Restarts.Window }), int64(ms), int64(day)},
		KeyRestartDelay:      {duration(func(s *Settings) *time.Duration { return &s.Restarts.Base }), int64(ms), int64(time.Hour)},
		KeyRestartDelayMax:   {duration(func(s *Settings) *time.Duration { return &s.Restarts.Cap }), int64(ms), int64(time.Hour)},
		KeyQuarantineFirst:   {duration(func(s *Settings) *time.Duration { return &s.Quarantine.First }), int64(ms), int64(day)},
		KeyQuarantineMax:     {duration(func(s *Settings) *time.Duration { return &s.Quarantine.Cap }), int64(ms), int64(7 * day)},
		KeyPauseFirst:        {duration(func(s *Settings) *time.Duration { return &s.Pause.First }), int64(ms), int64(day)},
		KeyPauseMax:          {duration(func(s *Settings) *time.Duration { return &s.Pause.Cap }), int64(ms), int64(7 * day)},
		KeyUnparseableWindow: {duration(func(s *Settings) *time.Duration { return &s.Unparseable.Window }), int64(ms), int64(day)},
		KeyUnparseableEvery:  {duration(func(s *Settings) *time.Duration { return &s.Unparseable.Every }), int64(ms), int64(30 * day)},
	} {
		if least, most := Range(key); least != c.least || most != c.most {
			t.Errorf("%s: got %d to %d, want %d to %d", key, least, most, c.least, c.most)
		}
		for value, good := range map[int64]bool{c.least: true, c.most: true, c.most + 1: false, -1: false} {
			s := Settings{Quarantine: DefaultQuarantine(), Pause: DefaultPause()}
			c.set(&s, value)
			_, err := New(Supervised, s)
			var bad *SettingError
			switch {
			case good && err != nil:
				t.Errorf("%s = %d: %v", key, value, err)
			case !good && (!errors.As(err, &bad) || bad.Key != key || bad.Value == "" || bad.Range == ""):
				t.Errorf("%s = %d: got %v, want an error of it", key, value, err)
			}
		}
	}
	var bad *SettingError
	if err := (Settings{Pause: Backoff{First: time.Minute}}).Check(); !errors.As(err, &bad) || bad.Key != KeyPauseMax {
		t.Errorf("half a pause: got %v", err)
	}
	if err := (Settings{}).Check(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
}

// TestNoNumberIsWithoutARange sets each number of Settings beside the windowed ones below all ranges.
func TestNoNumberIsWithoutARange(t *testing.T) {
	t.Parallel()
	of := reflect.TypeFor[Settings]()
	for i := range of.NumField() {
		group := of.Field(i)
		for j := range group.Type.NumField() {
			s := Settings{}.withDefaults()
			field := reflect.ValueOf(&s).Elem().Field(i).Field(j)
			if group.Name == "Windowed" || !field.CanInt() {
				continue
			}
			field.SetInt(-1)
			if _, err := New(Supervised, s); err == nil {
				t.Errorf("%s.%s is -1, and taken", group.Name, group.Type.Field(j).Name)
			}
		}
	}
}

func TestPhrases(t *testing.T) {
	t.Parallel()
	for _, p := range legacyPhrases() {
		if p != strings.ToLower(p) {
			t.Errorf("%q can never be found", p)
		}
		if !HasPhrase(events.NewOutput("So: " + strings.ToUpper(p) + ".")) {
			t.Errorf("%q is not found in any letter case", p)
		}
	}
	for _, benign := range []string{"", "No observations to record.", "You've hit your weekly limit", "the session is closed"} {
		if HasPhrase(events.NewOutput(benign)) {
			t.Errorf("%q has none of them", benign)
		}
	}
}
