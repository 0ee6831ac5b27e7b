package model

import (
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// requestMode is a way to ask: in which form, and whether the model is told to think as little as it can.
type requestMode struct {
	form          events.Form
	leastThinking bool
}

// maxDoubts is how many turns in a row have to be refused in one mode, and answered in another, until the first one is
// given up: a single answer may be any fault of a service or of a proxy before it.
const maxDoubts = 2

// requestModes are the ways in which one service may be asked, and what has been learned of them. Nothing is kept beyond the
// life of a Provider. It is safe for concurrent use.
type requestModes struct {
	ladder []requestMode // the best first
	log    *slog.Logger

	mu       sync.Mutex // guards the fields below
	index    int        // in ladder: how a turn is asked
	answered bool       // in that mode
	doubts   int        // turns in a row that were refused in it and answered in another one
}

// newRequestModes are the modes of c: without a form both, without a setting for least thinking nothing is said of it.
func newRequestModes(c Config) *requestModes {
	forms := []events.Form{c.Form}
	if c.Form == "" {
		forms = []events.Form{events.FormStructured, events.FormXML}
	}
	m := &requestModes{log: c.Log.With("provider", c.Name, "model", c.Asker.Model())}
	for _, form := range forms {
		if c.LeastThinking {
			m.ladder = append(m.ladder, requestMode{form, true})
		}
		m.ladder = append(m.ladder, requestMode{form, false})
	}
	return m
}

// current is how a turn is asked, and whether that was answered before.
func (m *requestModes) current() (requestMode, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ladder[m.index], m.answered
}

// plainest is the mode of which the least can be refused. In a ladder of one form it is that form's.
func (m *requestModes) plainest() requestMode { return m.ladder[len(m.ladder)-1] }

// confirm enters that a question was answered in this mode.
func (m *requestModes) confirm(asked requestMode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ladder[m.index] != asked {
		return
	}
	if !m.answered {
		m.logMode("form settled")
	}
	m.answered, m.doubts = true, 0
}

// doubt enters that a question was not answered in the mode asked, and the same one was in a plainer mode. After
// enough of them the next one is taken that is left: after ignored, where the form was taken and not kept to, that is one
// of another form.
func (m *requestModes) doubt(asked requestMode, ignored bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ladder[m.index] != asked {
		return
	}
	if m.doubts++; m.doubts < maxDoubts {
		return
	}
	next := m.index + 1
	if ignored {
		next = m.ofAnother(asked.form)
	}
	m.move(next)
}

// dropForm enters that the service names a form as what it does not answer in. It reports whether there is another one.
func (m *requestModes) dropForm(form events.Form) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ladder[m.index].form != form { // another turn has found it out before
		return true
	}
	next := m.ofAnother(form)
	if next < 0 {
		return false
	}
	m.move(next)
	return true
}

// ofAnother is where the first mode of another form stands behind the present one; -1 if there is none.
func (m *requestModes) ofAnother(form events.Form) int {
	return slices.IndexFunc(m.ladder, func(o requestMode) bool { return o.form != form && form == events.FormStructured })
}

// move takes another mode, if there is one. Mu is held.
func (m *requestModes) move(to int) {
	if to < 0 || to >= len(m.ladder) {
		return
	}
	m.index, m.answered, m.doubts = to, false, 0
	m.logMode("form changed")
}

func (m *requestModes) logMode(message string) {
	now := m.ladder[m.index]
	m.log.Info(message, "form", now.form, "least_thinking", now.leastThinking)
}

// doubtsRequest reports whether f may be about the mode of the question as well as about anything else in it.
func doubtsRequest(f *observer.Failure) bool {
	switch f.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return f.Class == events.FailRefused
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	}
	return false
}
