package daemon

import (
	"io"
	"log/slog"
	"time"

	"github.com/lmittmann/tint"
	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// newLogger returns the daemon's logger: coloured lines on a terminal, else a file that is rotated. What is returned
// beside it is to be closed at the end.
func newLogger(a *terminal.App, c config.Config, p homedir.Paths) (*slog.Logger, io.Closer) {
	level := levelOf(c.LogLevel)
	if terminal.IsTerminal(a.Err) {
		return slog.New(tint.NewTextHandler(a.Err, &tint.Options{
			Level: level, TimeFormat: time.TimeOnly, NoColor: a.Getenv("NO_COLOR") != "" || a.Getenv("TERM") == "dumb",
		})), io.NopCloser(nil)
	}
	file := &lumberjack.Logger{
		Filename: p.LogFile, MaxSize: int(max(c.LogMaxBytes>>20, 1)), MaxBackups: c.LogFiles, Compress: true,
	}
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(file, options)), file
	}
	return slog.New(slog.NewTextHandler(file, options)), file
}

func levelOf(word string) slog.Level {
	var level slog.Level
	if level.UnmarshalText([]byte(word)) != nil {
		return slog.LevelInfo
	}
	return level
}
