package actors

import (
	"context"
	"log/slog"

	"github.com/cmemd/cmemd/actors/session"
)

// warnDropped logs that an output was dropped, and at debug level what it said, for a person who looks for what a model does wrong.
func (a *sessionActor) warnDropped(ans *session.Answer) {
	d := ans.Dropped
	if d == nil {
		return
	}
	log := a.sys.cfg.Logger
	log.Warn("output dropped", "session", a.id, "turn", d.Turn, "class", d.Class, "reason", d.Reason, "length", d.Length)
	if log.Enabled(context.Background(), slog.LevelDebug) {
		log.Debug("what the dropped output said", "session", a.id, "turn", d.Turn, "output", ans.Received.Output.RawText())
	}
}
