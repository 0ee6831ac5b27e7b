package config

import (
	"net"
	"slices"
	"strconv"

	"github.com/cmemd/cmemd/internal/capture/privacy"
	"github.com/cmemd/cmemd/internal/observer/anthropic"
	"github.com/cmemd/cmemd/internal/observer/gemini"
	"github.com/cmemd/cmemd/internal/observer/openai"
	"github.com/cmemd/cmemd/internal/setting"
)

// Config is the settings in force. Each field has one row in the table, which says what it means and may be.
type Config struct {
	setting.InForce

	Listen          string
	MaxWaiting      int
	MaxWaitingBytes int64
	MinFreeBytes    int64
	LogLevel        string
	LogFormat       string
	LogMaxBytes     int64
	LogFiles        int
	RetentionDays   int

	privacy.Switches
	Services
	Given
	Embeddings Embeddings
	Watched
}

// A Setting is one row of the table.
type Setting = setting.Row[Config]

// Settings is the table of all keys. Those by which turns are decided come from package setting, which replay reads too.
func Settings() []Setting {
	return slices.Concat(
		daemonSettings(), decisive(setting.TurnRows()...), decisive(setting.SuperviseRows()...), storeSettings(),
		setting.Within(captureSettings(), func(c *Config) *privacy.Switches { return &c.Switches }),
		setting.Within(contextSettings(), func(c *Config) *Given { return &c.Given }),
		decisive(setting.ChoiceRows()...), modelSettings(),
		setting.Within(vectorSettings(), func(c *Config) *Embeddings { return &c.Embeddings }),
		setting.Within(watchSettings(), func(c *Config) *Watched { return &c.Watched }),
	)
}

// decisive is rows as part of the table.
func decisive(rows ...setting.Row[setting.InForce]) []Setting {
	return setting.Within(rows, func(c *Config) *setting.InForce { return &c.InForce })
}

// daemonSettings is the part of the table that says where the daemon is reached.
func daemonSettings() []Setting {
	return []Setting{
		setting.Text("listen", "127.0.0.1:37911", "a loopback address with a port, or empty", "where HTTP listens beside the socket; empty: nowhere",
			func(address string) bool { return address == "" || isLoopback(address) }, func(c *Config) *string { return &c.Listen }),
	}
}

// storeSettings is the part of the table that says what is kept where, and how much of it.
func storeSettings() []Setting {
	return []Setting{
		setting.Number("max_waiting", 1024, 1, 1<<20, "requests accepted and not yet on disk",
			func(c *Config) *int { return &c.MaxWaiting }),
		setting.Bytes("max_waiting_bytes", 32<<20, 1<<20, 4<<30, "their payloads together",
			func(c *Config) *int64 { return &c.MaxWaitingBytes }),
		setting.Bytes("min_free_bytes", 64<<20, 0, 1<<40, "kept free on the disk; with less, nothing is captured",
			func(c *Config) *int64 { return &c.MinFreeBytes }),
		setting.Word("log_level", "info", []string{"debug", "info", "warn", "error"}, "what the daemon logs",
			func(c *Config) *string { return &c.LogLevel }),
		setting.Word("log_format", "text", []string{"text", "json"}, "of the log file",
			func(c *Config) *string { return &c.LogFormat }),
		setting.Bytes("log_max_bytes", 10<<20, 1<<20, 1<<30, "of one log file, in whole MiB; then it is rotated",
			func(c *Config) *int64 { return &c.LogMaxBytes }),
		setting.Number("log_files", 5, 1, 100, "rotated log files that are kept",
			func(c *Config) *int { return &c.LogFiles }),
		setting.Number("retention_days", 0, 0, 36_500, "after which what agents did is erased from the log once it is settled; what was made of it stays. 0: never",
			func(c *Config) *int { return &c.RetentionDays }),
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

// Service returns the settings of the service called name, as pointers into c; nil if it is none.
func (c *Config) Service(name string) *serviceConfig {
	switch name {
	case anthropic.Name:
		return &c.Anthropic
	case openai.Name:
		return &c.OpenAI
	case gemini.Name:
		return &c.Gemini
	case EmbeddingsName:
		return &c.Embeddings.Endpoint
	}
	return nil
}
