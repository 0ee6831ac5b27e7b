package terminal

import (
	"context"
	"os/signal"
	"syscall"
)

// UntilHangup returns a context that also ends when the terminal is closed, for commands that leave something behind if they are killed.
// It does not where that signal is ignored, as under nohup: such a command is to go on.
func UntilHangup(ctx context.Context) (context.Context, context.CancelFunc) {
	if signal.Ignored(syscall.SIGHUP) {
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, syscall.SIGHUP)
}
