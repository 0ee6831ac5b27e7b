package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	api "github.com/blevesearch/bleve_index_api"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

const (
	// maxBatch and maxBatchBytes bound one batch, in documents and their text: enough for speed, as every batch makes a
	// dictionary of its own, and few enough for memory.
	maxBatch      = 2000
	maxBatchBytes = 8 << 20

	// maxSlice and maxSliceBytes bound what is read of the log at once.
	maxSlice      = 1000
	maxSliceBytes = 4 << 20

	// idleCheckpointRecords is how many records without a document move the checkpoint by themselves.
	idleCheckpointRecords = 20_000

	// maxFacts bounds the sessions remembered while building; the log knows the rest.
	maxFacts = 4096
)

// facts is what a session's latest start said of it.
type facts struct {
	agent, native, project, root string
}

// builder turns records into batches of one store. It is used by one goroutine.
type builder struct {
	store    *store
	log      eventlog.Reader
	analyzer *analyzer
	sessions map[events.SessionID]facts // by engine.Record.Part
	origin   engine.Origin

	batch *api.Batch
	docs  []*document // in the batch
	bytes int         // of their text
	next  checkpoint  // what the batch would move the store to
	quiet int         // records since the last write

	forgotten   map[events.ID]bool // known to be forgotten by a later record: not to be indexed at all
	forgottenAt *roaring64.Bitmap  // the same by position
}

func newBuilder(s *store, log eventlog.Reader, a *analyzer) *builder {
	return &builder{
		store: s, log: log, analyzer: a, sessions: map[events.SessionID]facts{}, batch: api.NewBatch(), next: s.point,
		forgotten: map[events.ID]bool{}, forgottenAt: roaring64.New(),
	}
}

// catchUp applies all records there are behind what the store holds. Progress, if not nil, is called with how far it is.
func (b *builder) catchUp(ctx context.Context, progress func(events.Position)) error {
	if b.next.Position == 0 {
		if err := b.lookAhead(ctx); err != nil {
			return err
		}
	}
	var slice []events.Record
	size := 0
	for r, err := range b.log.All(ctx, b.next.Position+1) {
		if err != nil {
			return fmt.Errorf("index: %w", err)
		}
		slice, size = append(slice, r), size+int(r.Size)
		if len(slice) < maxSlice && size < maxSliceBytes {
			continue
		}
		if err := b.addAll(ctx, slice); err != nil {
			return err
		}
		slice, size = slice[:0], 0
		if progress != nil {
			progress(b.store.point.Position) // what is read and not written is not known yet
		}
	}
	return errors.Join(b.apply(ctx, slice), b.flush())
}

// lookAhead reads what has been forgotten, so that it never gets into the files of a store that is made anew.
func (b *builder) lookAhead(ctx context.Context) error {
	for r, err := range b.log.All(ctx, 1) {
		if err != nil {
			return fmt.Errorf("index: %w", err)
		}
		if r.Kind != events.KindMemoryForgotten {
			continue
		}
		e, err := r.Event()
		if err != nil {
			return fmt.Errorf("index: %w", err)
		}
		if e, ok := e.(events.MemoryForgotten); ok {
			for _, id := range e.IDs {
				b.forgotten[id] = true
			}
			for _, p := range e.Positions {
				b.forgottenAt.Add(uint64(p))
			}
		}
	}
	return nil
}

// apply adds records, in order, and writes what they led to.
func (b *builder) apply(ctx context.Context, records []events.Record) error {
	if err := b.addAll(ctx, records); err != nil {
		return err
	}
	if len(b.docs) > 0 || b.next.Stale != b.store.point.Stale {
		return b.flush()
	}
	return nil
}

// addAll adds records, in order, and writes when a batch is full. Records that the store already holds are passed over.
func (b *builder) addAll(ctx context.Context, records []events.Record) error {
	for _, r := range records {
		if r.Position <= b.next.Position {
			continue
		}
		if err := b.join(ctx, r); err != nil {
			return err
		}
		if err := b.add(ctx, r); err != nil {
			return err
		}
		b.next.Position, b.next.Chain = r.Position, r.Chain
		b.quiet++
		if len(b.docs) >= maxBatch || b.bytes >= maxBatchBytes || b.quiet >= idleCheckpointRecords {
			if err := b.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// join learns whose records there are, at the first that shows that there are others' than this machine's. What was indexed
// before stays as it is: those are this machine's own.
func (b *builder) join(ctx context.Context, r events.Record) (err error) {
	if b.origin.Joined || !r.IsMoved() {
		return nil
	}
	if b.origin, b.next.Order, err = engine.OriginOf(ctx, b.log); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

// flush writes the batch at hand.
func (b *builder) flush() error {
	if b.next == b.store.point {
		return nil
	}
	for _, d := range b.docs {
		b.batch.Update(d)
	}
	point := b.next
	point.Added += uint64(len(b.docs))
	point.Length += measure(b.docs)
	if err := b.store.write(b.batch, point); err != nil {
		return err
	}
	b.batch, b.docs, b.bytes, b.next, b.quiet = api.NewBatch(), b.docs[:0], 0, point, 0
	return nil
}

// add looks at one record. An erased payload is passed over: what it said is to be in no index.
func (b *builder) add(ctx context.Context, r events.Record) error {
	if t, _ := r.Kind.Traits(); !t.Indexed {
		return nil
	}
	e, err := r.Event()
	if errors.Is(err, events.ErrErased) || errors.Is(err, events.ErrUnknownKind) && !r.Place().Log.IsZero() { // or of a newer program of another machine
		return nil
	}
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	as := b.origin.NewRecord(r)
	session := as.Session
	switch e := e.(type) {
	case events.SessionOpened:
		b.remember(&as, e)
		return nil
	case events.MemoryForgotten:
		return b.forget(e)
	}
	f, err := b.factsOf(ctx, &as)
	if err != nil {
		return err
	}
	switch e := e.(type) {
	case events.PromptSubmitted:
		if !e.Private {
			b.keep(promptDocument(r, session, f, e, b.analyzer))
		}
	case events.ObservationParsed:
		b.keep(observationDocument(r, session, f, e, b.analyzer))
	case events.MemorySaved:
		e.ProjectRoot = as.Root(e.ProjectRoot)
		b.keep(memoryDocument(r, session, f, e, b.analyzer))
	case events.PreferenceStated:
		said := events.MemorySaved{Memory: r.ID, Type: events.TypePreference, Title: e.Sentence}
		b.keep(memoryDocument(r, session, f, said, b.analyzer))
	case events.SummaryParsed:
		b.keep(summaryDocument(r, session, f, e, b.analyzer))
	}
	return nil
}

func (b *builder) keep(d *document) {
	if !b.forgotten[d.id] && !b.forgottenAt.Contains(uint64(d.position)) {
		b.docs = append(b.docs, d)
		for _, p := range d.fields[0].parts {
			b.bytes += len(p.text)
		}
	}
}

func (b *builder) remember(r *engine.Record, e events.SessionOpened) facts {
	if len(b.sessions) >= maxFacts {
		clear(b.sessions)
	}
	f := facts{agent: e.Agent, native: e.AgentSession, project: e.Project, root: r.Root(e.ProjectRoot)}
	b.sessions[r.Part] = f
	return f
}

// factsOf returns what the latest start of the session before r said; after a restart it reads the session's stream.
func (b *builder) factsOf(ctx context.Context, r *engine.Record) (facts, error) {
	if f, ok := b.sessions[r.Part]; ok || r.Session.IsZero() {
		return f, nil
	}
	var found events.SessionOpened
	for rec, err := range b.log.Stream(ctx, r.Stream, 1) {
		if err != nil {
			return facts{}, fmt.Errorf("index: %w", err)
		}
		if rec.Position >= r.Position {
			break
		}
		if rec.Kind != events.KindSessionOpened || rec.Place().Log != r.Place().Log {
			continue
		}
		if e, err := rec.Event(); err == nil { // an erased start leaves the one before it
			found, _ = e.(events.SessionOpened)
		}
	}
	return b.remember(r, found), nil
}

// forget removes what e names, by id and by position.
func (b *builder) forget(e events.MemoryForgotten) error {
	if err := b.flush(); err != nil {
		return err
	}
	snap, err := b.store.snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	names, err := b.store.namesOf(snap, e.IDs, e.Positions)
	if err != nil {
		return err
	}
	for _, name := range names {
		b.batch.Delete(name)
		b.next.Stale = true
	}
	return nil
}
