package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Settings are the numbers of all policies. Zero fields mean the defaults.
type Settings struct {
	Windowed    WindowedSettings
	Restarts    Restarts
	Quarantine  Backoff // of a session's observer; zero means DefaultQuarantine
	Pause       Backoff // of a provider; zero means DefaultPause
	Unparseable Unparseable
	NoYield     NoYield // of a provider; it is none of the policies that are compared
}

// numericSetting is one of Settings: its key, its value, and what that may be, the ends included. Of a time they are nanoseconds.
type numericSetting struct {
	key                string
	value, least, most int64
	isDuration         bool
}

func count(key string, value, least, most int) numericSetting {
	return numericSetting{key: key, value: int64(value), least: int64(least), most: int64(most)}
}

func durationSetting(key string, value, least, most time.Duration) numericSetting {
	return numericSetting{key: key, value: int64(value), least: int64(least), most: int64(most), isDuration: true}
}

// numbers are those of s beside Windowed. They may be all that a policy can run with; a daemon's settings allow less of some.
func (s Settings) numbers() []numericSetting {
	const day = 24 * time.Hour
	return []numericSetting{
		count(KeyMaxRestarts, s.Restarts.Max, 1, 1000),
		count(KeyMaxConsecutive, s.Restarts.MaxConsecutive, 1, 1000),
		count(KeyMaxUnparseable, s.Unparseable.Max, 1, 100),
		durationSetting(KeyRestartWindow, s.Restarts.Window, time.Millisecond, day),
		durationSetting(KeyRestartDelay, s.Restarts.Base, time.Millisecond, time.Hour),
		durationSetting(KeyRestartDelayMax, s.Restarts.Cap, time.Millisecond, time.Hour),
		durationSetting(KeyQuarantineFirst, s.Quarantine.First, time.Millisecond, day),
		durationSetting(KeyQuarantineMax, s.Quarantine.Cap, time.Millisecond, 7*day),
		durationSetting(KeyPauseFirst, s.Pause.First, time.Millisecond, day),
		durationSetting(KeyPauseMax, s.Pause.Cap, time.Millisecond, 7*day),
		durationSetting(KeyUnparseableWindow, s.Unparseable.Window, time.Millisecond, day),
		durationSetting(KeyUnparseableEvery, s.Unparseable.Every, time.Millisecond, 30*day),
		count(KeyNoYieldMax, s.NoYield.Max, 2, MaxNoYield),
		durationSetting(KeyNoYieldWindow, s.NoYield.Window, time.Minute, 30*day),
	}
}

func (n numericSetting) check() error {
	if n.least <= n.value && n.value <= n.most {
		return nil
	}
	what := "a whole number"
	if n.isDuration {
		what = "a time"
	}
	return &SettingError{
		Key: n.key, Value: n.text(n.value), Range: fmt.Sprintf("%s from %s to %s", what, n.text(n.least), n.text(n.most)),
	}
}

func (n numericSetting) text(value int64) string {
	if n.isDuration {
		return time.Duration(value).String()
	}
	return strconv.FormatInt(value, 10)
}

// Range returns what the number of Settings that key names may be, the ends included; of a time they are nanoseconds. It panics
// where no number is called so.
func Range(key string) (least, most int64) {
	for _, n := range (Settings{}).numbers() {
		if n.key == key {
			return n.least, n.most
		}
	}
	panic("policy: no setting is called " + key)
}

// Check returns a *SettingError for the first value that is out of range. Zero fields are in it, but for half a Backoff.
func (s Settings) Check() error {
	if err := s.Windowed.Check(); err != nil {
		return err
	}
	for _, n := range s.withDefaults().numbers() {
		if err := n.check(); err != nil {
			return err
		}
	}
	return nil
}

// The keys of Settings beside those of the windowed policies, as SettingError names them: those of a daemon's settings.
const (
	KeyMaxRestarts       = "max_restarts"
	KeyRestartWindow     = "restart_window"
	KeyMaxConsecutive    = "max_consecutive"
	KeyRestartDelay      = "restart_delay"
	KeyRestartDelayMax   = "restart_delay_max"
	KeyQuarantineFirst   = "quarantine_first"
	KeyQuarantineMax     = "quarantine_max"
	KeyPauseFirst        = "pause_first"
	KeyPauseMax          = "pause_max"
	KeyMaxUnparseable    = "max_unparseable"
	KeyUnparseableWindow = "unparseable_window"
	KeyUnparseableEvery  = "unparseable_every"
	KeyNoYieldMax        = "no_yield_max"
	KeyNoYieldWindow     = "no_yield_window"
)

func (s Settings) withDefaults() Settings {
	s.Windowed = s.Windowed.withDefaults()
	s.Restarts = s.Restarts.withDefaults()
	s.Unparseable = s.Unparseable.withDefaults()
	s.NoYield = s.NoYield.withDefaults()
	s.Quarantine = cmp.Or(s.Quarantine, DefaultQuarantine())
	s.Pause = cmp.Or(s.Pause, DefaultPause())
	return s
}

// WindowedSettings are those of the windowed policies. Zero fields mean the defaults, which are those of the program
// that they come from; unlike it, a bad value is an error and not the default.
type WindowedSettings struct {
	Threshold int           // outputs within Window that cause a respawn, 1 to 100. 0 means 3
	Window    time.Duration // anchored at the first counted output, unless Sliding, and closed, 1 s to 1 h. 0 means 60 s
	Exempt    []Class       // neither counted nor clearing: idle, prose or both. nil means idle; empty exempts none
	Sliding   bool          // Window reaches back from each output, as that program's description has it; its code anchors it
}

// The keys of WindowedSettings, as Set and SettingError name them.
const (
	KeyThreshold = "threshold"
	KeyWindowMS  = "window_ms"
	KeyExempt    = "exempt"
	KeyWindow    = "window"
)

// The values of KeyWindow.
const (
	WindowAnchored = "anchored"
	WindowSliding  = "sliding"
)

// The ranges of WindowedSettings, from the program that it comes from.
const (
	maxThreshold = 100
	minWindowMS  = 1_000
	maxWindowMS  = 3_600_000
)

func (w WindowedSettings) withDefaults() WindowedSettings {
	w.Threshold = cmp.Or(w.Threshold, 3)
	w.Window = cmp.Or(w.Window, time.Minute)
	if w.Exempt == nil {
		w.Exempt = []Class{ClassIdle}
	}
	return w
}

// Check returns a *SettingError for the first value that is out of range. Zero fields are in it.
func (w WindowedSettings) Check() error {
	w = w.withDefaults()
	if w.Threshold < 1 || w.Threshold > maxThreshold {
		return badThreshold(strconv.Itoa(w.Threshold))
	}
	if w.Window < minWindowMS*time.Millisecond || w.Window > maxWindowMS*time.Millisecond {
		return badWindow(strconv.FormatFloat(w.Window.Seconds()*1000, 'f', -1, 64))
	}
	for _, c := range w.Exempt {
		if c != ClassIdle && c != ClassProse {
			return badExempt(string(c))
		}
	}
	return nil
}

// Set sets the field that key names from a person's text: a whole number, for KeyWindow a word, or for KeyExempt classes joined
// by commas, the empty text for none. A *SettingError says what is wrong with a value, or with a key; w is then unchanged.
func (w *WindowedSettings) Set(key, value string) error {
	switch key {
	case KeyThreshold:
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxThreshold {
			return badThreshold(value)
		}
		w.Threshold = n
	case KeyWindowMS:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < minWindowMS || n > maxWindowMS {
			return badWindow(value)
		}
		w.Window = time.Duration(n) * time.Millisecond
	case KeyExempt:
		return w.setExempt(value)
	case KeyWindow:
		if value != WindowAnchored && value != WindowSliding {
			return &SettingError{Key: KeyWindow, Value: value, Range: WindowAnchored + " or " + WindowSliding}
		}
		w.Sliding = value == WindowSliding
	default:
		return &SettingError{Key: key, Value: value, Range: "one of the keys " + strings.Join([]string{KeyThreshold, KeyWindowMS, KeyExempt, KeyWindow}, ", ")}
	}
	return nil
}

func (w *WindowedSettings) setExempt(value string) error {
	exempt := []Class{}
	for word := range strings.SplitSeq(value, ",") {
		c := Class(strings.TrimSpace(word))
		switch {
		case c == "" && value == "":
		case c != ClassIdle && c != ClassProse:
			return badExempt(string(c))
		case !slices.Contains(exempt, c):
			exempt = append(exempt, c)
		}
	}
	w.Exempt = exempt
	return nil
}

// SettingError is a value that a policy cannot run with.
type SettingError struct {
	Key   string // of the setting
	Value string // as it was given
	Range string // what it may be
}

// Error names the key, the value and the range.
func (e *SettingError) Error() string {
	return fmt.Sprintf("policy: %s is %q: want %s", e.Key, e.Value, e.Range)
}

func badThreshold(value string) error {
	return &SettingError{Key: KeyThreshold, Value: value, Range: fmt.Sprintf("a whole number from 1 to %d", maxThreshold)}
}

func badWindow(value string) error {
	return &SettingError{Key: KeyWindowMS, Value: value, Range: fmt.Sprintf("a whole number of milliseconds from %d to %d", minWindowMS, maxWindowMS)}
}

func badExempt(value string) error {
	return &SettingError{Key: KeyExempt, Value: value, Range: "idle, prose or both, joined by a comma"}
}
