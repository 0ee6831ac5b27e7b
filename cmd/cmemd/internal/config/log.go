package config

import (
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
)

// Log is how the settings have logs of their home opened.
func (c *Config) Log() eventlog.Config {
	if c.MinFreeBytes == 0 {
		return eventlog.Config{MinFree: -1}
	}
	return eventlog.Config{MinFree: c.MinFreeBytes}
}

// LogOf is Config.Log for a command of this home. A setting that cannot be used keeps nobody from reading a log, and stands at its default.
func LogOf(a *terminal.App) eventlog.Config {
	l, _ := ForHome(a)
	if l == nil {
		l = Standard()
	}
	return l.Log()
}
