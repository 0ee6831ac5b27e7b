package wiretest

import (
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// service is the API as a providertest.Service.
type service struct {
	suite
	server *Server
}

var _ providertest.Service = service{}

// behaves holds the API to what every service comes to.
func (s suite) behaves(t *testing.T) {
	providertest.RunService(t, func(t *testing.T) providertest.Service { return service{s, s.serve(t)} })
}

// Behave scripts the server.
func (s service) Behave(b providertest.Behaviour) {
	whole := s.api.Says(events.FormXML, b.Text)
	half := len(whole.Body) / 2
	switch b.Treatment {
	case providertest.Dawdles:
		whole.Pieces, whole.Pause = []int{half}, providertest.Pause
	case providertest.Bounds:
		whole = s.api.Stopped(events.FormXML, b.Text)
	case providertest.Blocks:
		whole = s.api.Blocked()
	case providertest.Breaks:
		whole = whole.until(half, Cut)
	case providertest.Hangs:
		whole = whole.until(half, Hang)
	case providertest.Refuses:
		whole = s.api.Refuses(b.Status, "some_error")
	}
	s.server.Script(whole)
}

// Provider asks the server.
func (s service) Provider(t *testing.T, limit time.Duration) observer.Provider {
	t.Helper()
	return s.ask(t, s.server.URL, func(c *model.Config) { c.Timeout = limit })
}
