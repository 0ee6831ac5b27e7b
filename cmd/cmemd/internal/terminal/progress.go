package terminal

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/cmemd/cmemd/internal/api"
)

// A Meter shows how far a long piece of work has come, on a standard error that is a terminal; elsewhere it is silent.
type Meter struct {
	bar *progressbar.ProgressBar // nil: silent
}

// spinnerInterval is the library's time between two turns of the sign of an unknown total; 0: it turns with each line that is drawn.
// Otherwise a goroutine of the library's own turns it: nobody waits for that one, and it reads what the others change.
const spinnerInterval = 0

// Meter begins one. Total is what is to be done in all; below 1 it is not known yet. With bytes the numbers are bytes.
func (a *App) Meter(what string, total int64, bytes bool) *Meter {
	if a.JSON || !IsTerminal(a.Err) {
		return &Meter{}
	}
	if total < 1 {
		total = -1
	}
	return &Meter{progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(a.Err), progressbar.OptionSetDescription(what), progressbar.OptionShowBytes(bytes),
		progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionFullWidth(),
		progressbar.OptionUseANSICodes(false), progressbar.OptionEnableColorCodes(false),
		progressbar.OptionSetSpinnerChangeInterval(spinnerInterval),
	)}
}

// Set says that done of total have been done.
func (m *Meter) Set(done, total uint64) {
	if m.bar == nil {
		return
	}
	if total > 0 && m.bar.GetMax64() != int64(total) {
		m.bar.ChangeMax64(int64(total))
	}
	_ = m.bar.Set64(int64(done)) // a display only
}

// Progress says how far the daemon has come.
func (m *Meter) Progress(p api.Progress) { m.Set(p.Done, p.Total) }

// Measured does work behind a meter that is called what, and clears its line.
func Measured[A any](a *App, what string, work func(*Meter) (A, error)) (A, error) {
	m := a.Meter(what, 0, false)
	defer m.End()
	return work(m)
}

// Reader returns r, and counts what is read from it.
func (m *Meter) Reader(r io.Reader) io.Reader {
	if m.bar == nil {
		return r
	}
	return io.TeeReader(r, m.bar)
}

// End clears the line.
func (m *Meter) End() {
	if m.bar != nil {
		_ = m.bar.Finish()
	}
}
