package config

import (
	"cmp"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/capture/privacy"
	"github.com/cmemd/cmemd/internal/observer/extractive"
)

// Config is the settings in force. Each field has one line in settings, which says what it means and may be.
type Config struct {
	Listen          string
	Provider        string
	PlaybackFile    string
	Slots           int
	TurnTimeout     time.Duration
	Passivate       time.Duration
	IdleStop        time.Duration
	SessionSilence  time.Duration
	MaxAttempts     int
	MaxRestarts     int
	RestartWindow   time.Duration
	MaxConsecutive  int
	RestartDelay    time.Duration
	RestartDelayMax time.Duration
	QuarantineFirst time.Duration
	QuarantineMax   time.Duration
	PauseFirst      time.Duration
	PauseMax        time.Duration
	HeldMaxInputs   int
	HeldMaxAge      time.Duration

	Policy            string
	MaxUnparseable    int
	UnparseableWindow time.Duration
	UnparseableEvery  time.Duration

	MaxWaiting      int
	MaxWaitingBytes int64
	MinFreeBytes    int64
	LogLevel        string
	LogFormat       string
	LogMaxBytes     int64
	LogFiles        int
	RetentionDays   int

	privacy.Switches
	Choice
	Models
	Given
	Embeddings Embeddings
	Watched
}

// valueKind is how a setting is written in the file.
type valueKind string

const (
	kindText     valueKind = "text"
	KindNumber   valueKind = "number"
	kindBytes    valueKind = "bytes"
	KindDuration valueKind = "duration"
	kindMoney    valueKind = "money" // a number with decimals, too
	kindList     valueKind = "list"  // of texts without commas; its text has commas between them
)

// A Setting is one line of the table: everything that is known of a key.
type Setting struct {
	Key      string
	Kind     valueKind
	Standard string // the default, as it would be written
	Limits   string // what it may be, for people
	Doc      string
	Set      func(c *Config, text string) bool // false: not within limits
	Get      func(c *Config) string            // as it may be shown and recorded
	Words    []string                          // the only ones that it may be, or be made of; nil: it is no choice of words
	open     bool                              // what it may be is not told by a list or a range
	secret   bool                              // no value of it is repeated in an error
}

// Env is the variable that sets s.
func (s Setting) Env() string { return "CMEMD_" + strings.ToUpper(s.Key) }

// Settings is the table of all keys. It is the only place that knows them.
func Settings() []Setting {
	return slices.Concat(daemonSettings(), superviseSettings(), storeSettings(), captureSettings(), contextSettings(), ChoiceSettings(), modelSettings(), vectorSettings(), watchSettings())
}

// daemonSettings is the part of the table that says where the daemon is reached, who observes, and how long it waits for what.
func daemonSettings() []Setting {
	return []Setting{
		addressKey("listen", "127.0.0.1:37911", "where HTTP listens beside the socket; empty: nowhere",
			func(c *Config) *string { return &c.Listen }),
		wordKey("provider", extractive.Name, ProviderNames(), "what observes the sessions",
			func(c *Config) *string { return &c.Provider }),
		pathKey("playback_file", "what the provider playback plays: a script or a scenario: see `cmemd help playback`",
			func(c *Config) *string { return &c.PlaybackFile }),
		numberKey("slots", 2, 1, 64, "turns at once, over all sessions",
			func(c *Config) *int { return &c.Slots }),
		durationKey("turn_timeout", time.Minute, time.Second, time.Hour, "for one turn",
			func(c *Config) *time.Duration { return &c.TurnTimeout }),
		durationKey("passivate", 10*time.Minute, time.Second, 24*time.Hour, "after which a silent session leaves memory",
			func(c *Config) *time.Duration { return &c.Passivate }),
		durationKey("idle_stop", 30*time.Minute, time.Second, 24*time.Hour, "silence after which unfinished work counts as stopped",
			func(c *Config) *time.Duration { return &c.IdleStop }),
		durationKey("session_silence", 24*time.Hour, time.Minute, 30*24*time.Hour, "silence after which a session counts as closed",
			func(c *Config) *time.Duration { return &c.SessionSilence }),
	}
}

// superviseSettings is the part of the table that says what is done about what fails.
func superviseSettings() []Setting {
	return []Setting{
		numberKey("max_attempts", 3, 1, 10, "failures of one batch before it is halved or given up",
			func(c *Config) *int { return &c.MaxAttempts }),
		numberKey("max_restarts", 10, 1, 1000, "observer restarts allowed in restart_window; one more is a quarantine",
			func(c *Config) *int { return &c.MaxRestarts }),
		durationKey("restart_window", time.Minute, time.Millisecond, 24*time.Hour, "in which max_restarts are counted",
			func(c *Config) *time.Duration { return &c.RestartWindow }),
		numberKey("max_consecutive", 5, 1, 1000, "observer restarts allowed without a parsed turn between them",
			func(c *Config) *int { return &c.MaxConsecutive }),
		durationKey("restart_delay", 500*time.Millisecond, time.Millisecond, time.Hour, "before the first restart; doubles",
			func(c *Config) *time.Duration { return &c.RestartDelay }),
		durationKey("restart_delay_max", 30*time.Second, time.Millisecond, time.Hour, "the longest delay before a restart",
			func(c *Config) *time.Duration { return &c.RestartDelayMax }),
		durationKey("quarantine_first", time.Minute, time.Millisecond, 24*time.Hour, "the first quarantine; doubles",
			func(c *Config) *time.Duration { return &c.QuarantineFirst }),
		durationKey("quarantine_max", time.Hour, time.Millisecond, 7*24*time.Hour, "the longest quarantine",
			func(c *Config) *time.Duration { return &c.QuarantineMax }),
		durationKey("pause_first", time.Minute, time.Millisecond, 24*time.Hour, "a provider's first pause, where it names no time; doubles",
			func(c *Config) *time.Duration { return &c.PauseFirst }),
		durationKey("pause_max", 30*time.Minute, time.Millisecond, 7*24*time.Hour, "a provider's longest pause, where it names no time",
			func(c *Config) *time.Duration { return &c.PauseMax }),
		numberKey("held_max_inputs", 10_000, 100, 1_000_000, "inputs that a session holds while it may try nothing; the oldest go first",
			func(c *Config) *int { return &c.HeldMaxInputs }),
		durationKey("held_max_age", 14*24*time.Hour, time.Hour, 365*24*time.Hour, "for which an input is held while its session may try nothing",
			func(c *Config) *time.Duration { return &c.HeldMaxAge }),
		wordKey("policy", string(policy.OTPHold), livePolicies(), "otp-hold drops outputs that do not parse; supervised also tries a fresh observer",
			func(c *Config) *string { return &c.Policy }),
		numberKey("max_unparseable", 5, 2, 100, "with supervised: outputs in unparseable_window that earn a fresh observer",
			func(c *Config) *int { return &c.MaxUnparseable }),
		durationKey("unparseable_window", time.Minute, time.Second, 24*time.Hour, "in which max_unparseable are counted",
			func(c *Config) *time.Duration { return &c.UnparseableWindow }),
		durationKey("unparseable_every", 10*time.Minute, time.Second, 30*24*time.Hour, "the least time between two fresh observers of a session",
			func(c *Config) *time.Duration { return &c.UnparseableEvery }),
	}
}

// storeSettings is the part of the table that says what is kept where, and how much of it.
func storeSettings() []Setting {
	return []Setting{
		numberKey("max_waiting", 1024, 1, 1<<20, "requests accepted and not yet on disk",
			func(c *Config) *int { return &c.MaxWaiting }),
		bytesKey("max_waiting_bytes", 32<<20, 1<<20, 4<<30, "their payloads together",
			func(c *Config) *int64 { return &c.MaxWaitingBytes }),
		bytesKey("min_free_bytes", 64<<20, 0, 1<<40, "kept free on the disk; with less, nothing is captured",
			func(c *Config) *int64 { return &c.MinFreeBytes }),
		wordKey("log_level", "info", []string{"debug", "info", "warn", "error"}, "what the daemon logs",
			func(c *Config) *string { return &c.LogLevel }),
		wordKey("log_format", "text", []string{"text", "json"}, "of the log file",
			func(c *Config) *string { return &c.LogFormat }),
		bytesKey("log_max_bytes", 10<<20, 1<<20, 1<<30, "of one log file, in whole MiB; then it is rotated",
			func(c *Config) *int64 { return &c.LogMaxBytes }),
		numberKey("log_files", 5, 1, 100, "rotated log files that are kept",
			func(c *Config) *int { return &c.LogFiles }),
		numberKey("retention_days", 0, 0, 36_500, "after which what agents did is erased from the log once it is settled; what was made of it stays. 0: never",
			func(c *Config) *int { return &c.RetentionDays }),
	}
}

func livePolicies() []string {
	var words []string
	for _, n := range policy.Live() {
		words = append(words, string(n))
	}
	return words
}

func wordKey(key, standard string, words []string, doc string, at func(*Config) *string) Setting {
	return Setting{
		Key: key, Kind: kindText, Standard: standard, Limits: strings.Join(words, ", "), Doc: doc,
		Set:   func(c *Config, text string) bool { *at(c) = text; return slices.Contains(words, text) },
		Get:   func(c *Config) string { return *at(c) },
		Words: words,
	}
}

func addressKey(key, standard, doc string, at func(*Config) *string) Setting {
	return Setting{
		Key: key, Kind: kindText, Standard: standard, Doc: doc, Limits: "a loopback address with a port, or empty",
		Set: func(c *Config, text string) bool { *at(c) = text; return text == "" || isLoopback(text) },
		Get: func(c *Config) string { return *at(c) },
	}
}

func pathKey(key, doc string, at func(*Config) *string) Setting {
	return Setting{
		Key: key, Kind: kindText, Doc: doc, Limits: "an absolute path, or empty",
		Set: func(c *Config, text string) bool { *at(c) = text; return text == "" || filepath.IsAbs(text) },
		Get: func(c *Config) string { return *at(c) },
	}
}

// isLoopback reports whether address is one that no other machine can reach.
func isLoopback(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	ip := net.ParseIP(host)
	return err == nil && strconv.FormatUint(n, 10) == port && (host == "localhost" || ip != nil && ip.IsLoopback())
}

func numberKey(key string, standard, low, high int, doc string, at func(*Config) *int) Setting {
	return Setting{
		Key: key, Kind: KindNumber, Standard: strconv.Itoa(standard), Doc: doc, Limits: fmt.Sprintf("%d to %d", low, high),
		Set: func(c *Config, text string) bool {
			n, err := strconv.Atoi(text)
			*at(c) = n
			return err == nil && within(n, low, high)
		},
		Get: func(c *Config) string { return strconv.Itoa(*at(c)) },
	}
}

func durationKey(key string, standard, low, high time.Duration, doc string, at func(*Config) *time.Duration) Setting {
	return Setting{
		Key: key, Kind: KindDuration, Standard: terminal.ShortDuration(standard), Doc: doc,
		Limits: terminal.ShortDuration(low) + " to " + terminal.ShortDuration(high),
		Set: func(c *Config, text string) bool {
			d, err := time.ParseDuration(text)
			*at(c) = d
			return err == nil && within(d, low, high)
		},
		Get: func(c *Config) string { return terminal.ShortDuration(*at(c)) },
	}
}

func bytesKey(key string, standard, low, high int64, doc string, at func(*Config) *int64) Setting {
	return Setting{
		Key: key, Kind: kindBytes, Standard: FormatBytes(standard), Doc: doc,
		Limits: FormatBytes(low) + " to " + FormatBytes(high),
		Set: func(c *Config, text string) bool {
			n, ok := parseBytes(text)
			*at(c) = n
			return ok && within(n, low, high)
		},
		Get: func(c *Config) string { return FormatBytes(*at(c)) },
	}
}

func within[T cmp.Ordered](v, low, high T) bool { return low <= v && v <= high }

// byteUnits are what a number of bytes may be written in, the largest first.
func byteUnits() []string { return []string{"TiB", "GiB", "MiB", "KiB"} }

// parseBytes reads a number of bytes: 67108864 or 64MiB. ok is false for anything else, and for what overflows.
func parseBytes(text string) (n int64, ok bool) {
	factor := int64(1) << 40
	for _, unit := range byteUnits() {
		if digits, found := strings.CutSuffix(text, unit); found {
			text = digits
			break
		}
		factor >>= 10
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/factor {
		return 0, false
	}
	return n * factor, true
}

// FormatBytes writes n so that parseBytes reads it back, in the largest unit that leaves it whole.
func FormatBytes(n int64) string {
	factor := int64(1) << 40
	for _, unit := range byteUnits() {
		if n >= factor && n%factor == 0 {
			return strconv.FormatInt(n/factor, 10) + unit
		}
		factor >>= 10
	}
	return strconv.FormatInt(n, 10)
}
