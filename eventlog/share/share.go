package share

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/share/segment"
	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
)

// Copies keeps what comes from other machines: a *union.Union.
type Copies interface {
	copyReader
	// Add takes runs that continue a copy; what is here already is passed over. They are on disk when Add returns.
	Add(ctx context.Context, runs ...union.Run) error
	// Settle gives a place to what has waited long enough for what it names, and says when to call it again; zero: nothing waits.
	Settle(ctx context.Context) (next time.Time, err error)
	// Erase removes payloads of copies, also of records that are not here yet. It is on disk when it returns.
	Erase(ctx context.Context, at ...events.Place) error
	// Compact leaves no trace of what was erased.
	Compact(ctx context.Context) error
}

// copyReader is the part of Copies that changes nothing.
type copyReader interface {
	// Copies says how far each copy is.
	Copies() []union.Copy
	// Reads says how far other logs stood before a record of the own log: what was known here as it was written.
	Reads(at events.Position) []events.Place
	// Same says at which places logs have the record that is at one: that place among them, and the own log's without a log.
	Same(at events.Place) []events.Place
}

// Config is what a Share works with. Every, Poll, Now and Log may be zero.
type Config struct {
	Dir    string          // of its files; it is made, 0700
	Space  *space.Space    // opened
	Own    eventlog.Reader // the own log
	Copies Copies
	Codec  *events.Codec // that records of copies are read with

	// Forget erases what of these records the own log holds, and sees to it that no view, index or vector holds words of any of them.
	// Records of copies are erased already. It is called until it returns nil, and may be called for the same ones again.
	Forget func(ctx context.Context, at []events.Place) error

	Every time.Duration // that records may wait for others to travel with; 0 means 2 s
	Poll  time.Duration // after which what the store's watch missed is found; 0 means one minute
	Now   func() time.Time
	Log   *slog.Logger
}

const (
	shipEvery     = 2 * time.Second // an object in two seconds of work, and a second machine is behind by little more
	pollEvery     = time.Minute
	minRetryPause = time.Second      // between two tries of what failed, doubling to
	maxRetryPause = 30 * time.Second // this
	heartbeat     = 5 * time.Minute  // a machine that is on reports at least as often
)

// Share carries a machine's log to the others of its space, and theirs here. Its methods are safe for concurrent use.
type Share struct {
	cfg   Config
	space *space.Space
	store store.Store
	codec *segment.Codec
	keys  keys

	problems problems
	doubts   chan *ForkedError    // has what a look at the store, or at a report, says against the own log; nil: the head is to be looked at
	shipping *semaphore.Weighted  // holds one token, for whoever reads the own log in order to put it into the store
	missed   map[events.Place]int // how often in a row a record that is to be cleaned was in no segment; guarded by the token of shipping
	hurry    chan struct{}        // has a token where shipping is not to wait
	wake     chan struct{}        // has a token where there is something to do
	ready    chan struct{}        // closed once what others forgot before this life is forgotten here

	files sync.Mutex // is held while a file is written, so that the later one is of the later state; before mu

	mu           sync.Mutex   // guards the fields below
	root         events.LogID // the own log's id, by its first record; zero while it is empty
	own          events.LogID // what it is called in the store
	identity     identity
	life         uint64                  // of the writer of the own log, as the head says; 0: none has begun
	sure         map[space.MemberID]feed // up to where what a machine read of the own log is what is here
	began        feed                    // how far the own log was shipped as the life began
	feeds        map[events.LogID]feed
	heads        map[events.LogID]head
	behind       map[events.LogID]time.Time       // since when a log's head is ahead of its copy
	wants        map[events.LogID]events.Position // a record whose segment could not be fetched: it is missing or damaged
	unclean      map[events.LogID]events.Position // the same, of one that is to be sealed anew
	notes        map[noteID]noteState
	reports      map[space.MemberID]report
	dirty        map[store.Key]bool      // to look at
	handled      map[store.Key]store.Rev // as they were looked at last
	forked       *ForkedError
	renewed      bool            // the home is another one: this Share is not to be used any more
	rolledBackAt time.Time       // when the store last had an older state
	headAt       events.Position // up to where the own log's head in the store says that the log is there
	advanced     chan struct{}   // closed, and made anew, as shipping advances or ends
}

// New returns a Share that does nothing yet. It returns ErrState, or what reading its files returned.
func New(cfg Config) (*Share, error) {
	cfg.Every, cfg.Poll = cmp.Or(cfg.Every, shipEvery), cmp.Or(cfg.Poll, pollEvery)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("share: %w", err)
	}
	if _, err := durable.Sweep(cfg.Dir, cfg.Now(), time.Minute); err != nil {
		return nil, fmt.Errorf("share: %w", err)
	}
	root, err := eventlog.ID(context.Background(), cfg.Own)
	if err != nil {
		return nil, err
	}
	who, err := loadIdentity(cfg.Dir)
	if err != nil {
		return nil, err
	}
	n, err := loadNotes(cfg.Dir, who.renamed(root), root)
	if err != nil {
		return nil, err
	}
	f, err := loadFeeds(cfg.Dir)
	if err != nil {
		return nil, err
	}
	s := &Share{
		problems: problems{words: map[string]string{}},
		cfg:      cfg, space: cfg.Space, store: cfg.Space.Store(), codec: segment.NewCodec(cfg.Codec), keys: keys{cfg.Space.ID()},
		doubts: make(chan *ForkedError, 1), shipping: semaphore.NewWeighted(1),
		hurry: make(chan struct{}, 1), wake: make(chan struct{}, 1), ready: make(chan struct{}),
		root: root, own: who.nameOf(root), identity: who, feeds: f, notes: n, advanced: make(chan struct{}),
		heads: map[events.LogID]head{}, behind: map[events.LogID]time.Time{},
		wants: map[events.LogID]events.Position{}, missed: map[events.Place]int{}, unclean: map[events.LogID]events.Position{},
		sure: map[space.MemberID]feed{}, reports: map[space.MemberID]report{}, dirty: map[store.Key]bool{}, handled: map[store.Key]store.Rev{},
	}
	s.believeCopies()
	return s, nil
}

// believeCopies drops what is known of logs whose copies have less: they are read again from the beginning, and what is here is
// passed over. The own log has no copy.
func (s *Share) believeCopies() {
	last := map[events.LogID]events.Position{}
	for _, c := range s.cfg.Copies.Copies() {
		last[s.storeLog(c.Log)] = c.Last
	}
	maps.DeleteFunc(s.feeds, func(log events.LogID, f feed) bool { return log != s.own && f.Last > last[log] })
}

// Ready is closed once what other machines asked to forget, before this life and as far as the store was reached, is forgotten here.
func (s *Share) Ready() <-chan struct{} { return s.ready }

// shipSoon has what is recorded shipped without waiting for more.
func (s *Share) shipSoon() { signal(s.hurry) }

// signal leaves a token in a channel that holds one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Flush returns once all that the own log held when it was called is in the store, and the log's head there says so: others find it. It
// returns a *ForkedError, or ctx.Err().
func (s *Share) Flush(ctx context.Context) error {
	last, err := s.cfg.Own.Last(ctx)
	if err != nil {
		return err
	}
	for {
		s.shipSoon()
		s.mu.Lock()
		found, forked, advanced := s.headAt, s.forked, s.advanced
		s.mu.Unlock()
		if forked != nil {
			return forked
		}
		if found >= last {
			return nil
		}
		select {
		case <-advanced:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Forget has records forgotten on all machines and in the store. It returns once the requests are on disk, of which one names
// 5,000 records at most; they are carried out here, and the others are notified, whenever the store is reached. The names it
// returns stand in Status until all have confirmed. A place without a log is of the own one. Where other logs have the same
// records those are named too.
func (s *Share) Forget(ctx context.Context, at ...events.Place) (names []string, err error) {
	if err := s.identify(ctx); err != nil {
		return nil, err
	}
	names, err = s.addNotes(s.everywhere(at))
	signal(s.wake)
	return names, err
}

// addNotes has records forgotten, by the names that their logs have in the store.
func (s *Share) addNotes(places []events.Place) (names []string, err error) {
	slices.SortFunc(places, func(a, b events.Place) int {
		return cmp.Or(slices.Compare(a.Log[:], b.Log[:]), cmp.Compare(a.Position, b.Position))
	})
	all := map[noteID]noteState{}
	for part := range slices.Chunk(slices.Compact(places), notePlaces) {
		id, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("share: %w", err)
		}
		n := note{Machine: s.space.Self(), ID: id, At: s.cfg.Now().UTC(), Logs: targets(part)}
		all[n.ID] = noteState{Note: &n, At: n.At, By: n.Machine.String()}
		names = append(names, n.ID.String())
	}
	return names, s.setNotes(all)
}

// targets sorts places, which are in order, by logs.
func targets(at []events.Place) (all []target) {
	for len(at) > 0 {
		var spans events.Spans
		log := at[0].Log
		for len(at) > 0 && at[0].Log == log {
			spans.Add(at[0].Position)
			at = at[1:]
		}
		all = append(all, target{Log: log, Spans: spans.List})
	}
	return all
}

// Revoke takes a machine out of the space: it gets no later key, and its logs are believed as far as they were read here. It returns
// space.ErrNoMachine, or what the store returned.
func (s *Share) Revoke(ctx context.Context, id space.MemberID) error {
	var read []space.Feed
	s.mu.Lock()
	for log, f := range s.feeds {
		if f.Machine == id {
			read = append(read, space.Feed{Log: log, Last: f.Last})
		}
	}
	s.mu.Unlock()
	slices.SortFunc(read, func(a, b space.Feed) int { return slices.Compare(a.Log[:], b.Log[:]) })
	return s.space.Revoke(ctx, id, read, s.cfg.Now())
}

// Leave takes this machine out of the space. What it sent until then is believed for ever; what somebody sends with its key later is not.
// It returns what the store returned.
func (s *Share) Leave(ctx context.Context) error {
	if err := s.shipping.Acquire(ctx, 1); err != nil { // nothing is sent meanwhile, and nothing is sealed afterwards
		return err
	}
	defer s.shipping.Release(1)
	self, last := s.space.Self(), map[events.LogID]events.Position{}
	s.mu.Lock()
	for log, h := range s.heads { // what this home called its log before
		if h.Machine == self {
			last[log] = h.Last
		}
	}
	if !s.own.IsZero() {
		last[s.own] = s.feeds[s.own].Last
	}
	s.mu.Unlock()
	var sent []space.Feed
	for _, log := range slices.SortedFunc(maps.Keys(last), func(a, b events.LogID) int { return slices.Compare(a[:], b[:]) }) {
		sent = append(sent, space.Feed{Log: log, Last: last[log]})
	}
	return s.space.Leave(ctx, s.cfg.Now(), sent...)
}

// setNotes keeps what became of notes; it is on disk when it returns.
func (s *Share) setNotes(changed map[noteID]noteState) error {
	s.files.Lock()
	defer s.files.Unlock()
	s.mu.Lock()
	after, root, as := maps.Clone(s.notes), s.root, s.identity.renamed(s.root)
	s.mu.Unlock()
	maps.Copy(after, changed)
	if err := saveNotes(s.cfg.Dir, as, root, after); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = after
	return nil
}

// setFeed keeps how far a log was read, or shipped.
func (s *Share) setFeed(log events.LogID, f feed) error {
	s.files.Lock()
	defer s.files.Unlock()
	s.mu.Lock()
	s.feeds[log] = f
	after := maps.Clone(s.feeds)
	s.mu.Unlock()
	return saveFeeds(s.cfg.Dir, after)
}

// mark has an object looked at, unless it was in this state. Notes do not change.
func (s *Share) mark(e store.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Rev != "" && s.handled[e.Key] == e.Rev || s.isKnownNote(e.Key) {
		return
	}
	s.dirty[e.Key] = true
	signal(s.wake)
}

// isKnownNote reports whether a key is that of a note that was taken. It needs mu.
func (s *Share) isKnownNote(key store.Key) bool {
	name, ok := strings.CutPrefix(string(key), s.keys.notePrefix())
	if !ok {
		return false
	}
	id, err := uuid.Parse(name)
	_, known := s.notes[id]
	return err == nil && known
}

func (s *Share) feedOf(log events.LogID) feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.feeds[log]
}

func (s *Share) ownLog() events.LogID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own
}
