package actors

import (
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/turn"
)

// request is commands for one session, and who waits for them. It is answered exactly once.
type request struct {
	session     events.SessionID
	cmds        []session.Command
	reply       chan result // buffered; nil: nobody waits
	byteSize    int64
	sys         *System
	once        sync.Once
	afterCommit func(actor.Context, error) // run by the session actor after the commit; nil: nothing
	receipt     Receipt
	err         error // a refusal of one of its commands
	draftCount  int   // that it led to
	draftEnd    int   // drafts of its batch up to and with its last one
}

type result struct {
	receipt Receipt
	err     error
}

func (r *request) answer(err error) {
	r.once.Do(func() {
		if r.reply == nil {
			return
		}
		r.sys.leave(r.byteSize)
		r.reply <- result{r.receipt, err}
	})
}

// giveUp is called by a caller who waits no longer. What became of the request nobody will hear.
func (r *request) giveUp() { r.once.Do(func() { r.sys.leave(r.byteSize) }) }

// internal reports whether the request is the actor's own, with something to do after its commit.
func (r *request) internal() bool { return r.afterCommit != nil }

// To the sessions supervisor.
type (
	wakeSession  struct{ session events.SessionID }
	mayPassivate struct {
		session events.SessionID
		next    time.Time // when it has to be awake again; zero: never
	}
	passivationRefused struct{ session events.SessionID }
	sessionRecovered   struct{ session events.SessionID }
	quarantined        struct {
		session events.SessionID
		since   time.Time
	}
	released struct {
		session events.SessionID
		by      string
	}
	restartChild struct{ who *actor.PID }
	answeredTurn struct{} // some turn was, while only probes are granted
)

// To a session actor.
type (
	passivate struct{}
	askAgain  struct{} // the dispatcher forgot who wants what; also to the sessions supervisor, for all
	wake      struct{}
	committed struct {
		by      *sessionActor
		append  int // which of its appends
		batch   []*request
		records []events.Record
		err     error
	}
	granted  struct{ lease provider.Lease }
	prepared struct {
		turn    events.ID
		prompt  observer.Prompt
		notable int  // inputs that were an edit, a commit or a failed test
		trivial bool // all inputs are
		err     error
	}
	holdStatus struct { // pauses or the budget keep it waiting; the zero value: they do not
		since time.Time // when the last of those that it could be asked of was lost to it
		until time.Time // when one of them may be tried again: until that is answered, nobody knows
	}
	outcome struct {
		turn events.ID
		turn.Result
	}
	turnCost struct { // what a turn cost whose observer is about to crash, or was cancelled
		failed events.TurnFailed
		cut    bool // the latter
	}
	observerCrashed struct {
		who    *actor.PID
		reason string
	}
)

// To an observer actor.
type (
	prepare struct{ turn.Request }
	ask     struct {
		prompt observer.Prompt
		route  *Route
	}
	panicked struct{ reason string } // for people; what it said is logged at debug level only
)

// To the dispatcher.
type (
	leaseRequest struct {
		session     events.SessionID
		holder      *actor.PID
		requirement provider.Requirement
		alternative provider.Requirement // is served where nobody may be asked for requirement; the zero value: nothing is
		held        *session.Held        // what the session's last failure was; nil: it waits for no provider
	}
	ended struct {
		holder       *actor.PID
		provider.End // its Holder is set by the dispatcher
	}
	providerSwitched struct { // the turn's inputs are trivial
		holder   *actor.PID
		provider string // that is asked instead
	}
	degrade   struct{ on bool }
	wakeQueue struct{}
	askStatus struct{ reply chan provider.Status }
	resume    struct { // what a person says
		provider string
		reply    chan resumed
	}
	resumed struct {
		at  events.Position // of the event
		err error
	}
)

// left tells the dispatcher that a holder is gone. The library's own word of it is a system message, which is handed out before
// what the holder sent; this one comes behind it.
type left struct{ holder string }
