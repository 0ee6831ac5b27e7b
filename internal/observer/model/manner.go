package model

import (
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// manner is a way to ask: in which form, and whether the model is told to think as little as it can.
type manner struct {
	form  events.Form
	least bool
}

// enoughDoubts is how many turns in a row have to be refused in one manner, and answered in another, until the first one is
// given up: a single answer may be any fault of a service or of a proxy before it.
const enoughDoubts = 2

// manners are the ways in which one service may be asked, and what has been learned of them. Nothing is kept beyond the
// life of a Provider. It is safe for concurrent use.
type manners struct {
	ladder []manner // the best first
	log    *slog.Logger

	mu       sync.Mutex // guards the fields below
	at       int        // in ladder: how a turn is asked
	answered bool       // in that manner
	doubts   int        // turns in a row that were refused in it and answered in another one
}

// newManners are the manners of c: without a form both, without a wish for least thinking no telling of it.
func newManners(c Config) *manners {
	forms := []events.Form{c.Form}
	if c.Form == "" {
		forms = []events.Form{events.FormStructured, events.FormXML}
	}
	m := &manners{log: c.Log.With("provider", c.Name, "model", c.Asker.Model())}
	for _, form := range forms {
		if c.LeastThinking {
			m.ladder = append(m.ladder, manner{form, true})
		}
		m.ladder = append(m.ladder, manner{form, false})
	}
	return m
}

// now is how a turn is asked, and whether that was answered before.
func (m *manners) now() (manner, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ladder[m.at], m.answered
}

// plainest is the manner of which the least can be refused. In a ladder of one form it is that form's.
func (m *manners) plainest() manner { return m.ladder[len(m.ladder)-1] }

// works enters that a question was answered in this manner.
func (m *manners) works(asked manner) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ladder[m.at] != asked {
		return
	}
	if !m.answered {
		m.tell("form settled")
	}
	m.answered, m.doubts = true, 0
}

// doubt enters that a question was not answered in the manner asked, and the same one was in a plainer manner. After
// enough of them the next one is taken that is left: after ignored, where the form was taken and not kept to, that is one
// of another form.
func (m *manners) doubt(asked manner, ignored bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ladder[m.at] != asked {
		return
	}
	if m.doubts++; m.doubts < enoughDoubts {
		return
	}
	next := m.at + 1
	if ignored {
		next = m.ofAnother(asked.form)
	}
	m.move(next)
}

// refuses enters that the service names a form as what it does not answer in. It reports whether there is another one.
func (m *manners) refuses(form events.Form) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ladder[m.at].form != form { // another turn has found it out before
		return true
	}
	next := m.ofAnother(form)
	if next < 0 {
		return false
	}
	m.move(next)
	return true
}

// ofAnother is where the first manner of another form stands behind the present one; -1 if there is none.
func (m *manners) ofAnother(form events.Form) int {
	return slices.IndexFunc(m.ladder, func(o manner) bool { return o.form != form && form == events.FormStructured })
}

// move takes another manner, if there is one. Mu is held.
func (m *manners) move(to int) {
	if to < 0 || to >= len(m.ladder) {
		return
	}
	m.at, m.answered, m.doubts = to, false, 0
	m.tell("form changed")
}

func (m *manners) tell(message string) {
	now := m.ladder[m.at]
	m.log.Info(message, "form", now.form, "least_thinking", now.least)
}

// doubtsRequest reports whether f may be about the manner of the question as well as about anything else in it.
func doubtsRequest(f *observer.Failure) bool {
	switch f.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return f.Class == events.FailRefused
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	}
	return false
}
