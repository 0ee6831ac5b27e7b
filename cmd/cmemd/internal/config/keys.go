package config

import (
	"net"
	"strconv"

	"github.com/cmemd/cmemd/internal/capture/privacy"
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
	Reach
	ContextSettings
	Embeddings Embeddings
	WatchSettings
}

// A Setting is one row of the table.
type Setting = setting.Row

// daemonSettings is the part of the table that says where the daemon is reached.
func (c *Config) daemonSettings() []Setting {
	return []Setting{
		setting.Text(&c.Listen, "listen", "127.0.0.1:37911", "a loopback address with a port, or empty", "where HTTP listens beside the socket; empty: nowhere",
			func(address string) bool { return address == "" || isLoopback(address) }),
	}
}

// storeSettings is the part of the table that says what is kept where, and how much of it.
func (c *Config) storeSettings() []Setting {
	return []Setting{
		setting.Number(&c.MaxWaiting, "max_waiting", 1024, 1, 1<<20, "requests accepted and not yet on disk"),
		setting.Bytes(&c.MaxWaitingBytes, "max_waiting_bytes", 32<<20, 1<<20, 4<<30, "their payloads together"),
		setting.Bytes(&c.MinFreeBytes, "min_free_bytes", 64<<20, 0, 1<<40, "kept free on the disk; with less, nothing is captured"),
		setting.Word(&c.LogLevel, "log_level", "info", []string{"debug", "info", "warn", "error"}, "what the daemon logs"),
		setting.Word(&c.LogFormat, "log_format", "text", []string{"text", "json"}, "of the log file"),
		setting.Bytes(&c.LogMaxBytes, "log_max_bytes", 10<<20, 1<<20, 1<<30, "of one log file, in whole MiB; then it is rotated"),
		setting.Number(&c.LogFiles, "log_files", 5, 1, 100, "rotated log files that are kept"),
		setting.Number(&c.RetentionDays, "retention_days", 0, 0, 36_500, "after which what agents did is erased from the log once it is settled; what was made of it stays. 0: never"),
	}
}

// isLoopback reports whether address is one that no other machine can reach.
func isLoopback(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == port && isThisMachine(host)
}

// Service returns the settings of the service called name, as pointers into c; nil if it is none.
func (c *Config) Service(name string) *serviceConfig {
	if name == EmbeddingsName {
		return &c.Embeddings.Endpoint
	}
	if setting.ProviderNamed(name).New == nil {
		return nil
	}
	return c.Endpoints.Of(name)
}
