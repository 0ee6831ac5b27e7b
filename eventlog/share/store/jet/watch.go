package jet

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/transient"
)

const (
	heartbeat  = 5 * time.Second // of a server that has nothing to tell; after two that are missing the watch begins anew
	watchAgain = 500 * time.Millisecond
)

// Watch implements store.Store. Whenever the server, the stream or the connection went it begins anew with what is there, and tells
// what it did not tell before. The headers alone come over the wire.
func (j *Jet) Watch(ctx context.Context, prefix string) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		w := watch{jet: j, prefix: prefix, seen: map[store.Key]store.Rev{}, yield: yield}
		for ctx.Err() == nil {
			err := w.run(ctx)
			if w.ended || ctx.Err() != nil {
				return
			}
			if err != nil && !transient.Is(err) && !errors.Is(err, store.ErrNotFound) {
				yield(store.Entry{}, err)
				return
			}
			select {
			case <-ctx.Done():
			case <-j.done:
			case <-time.After(watchAgain):
			}
		}
	}
}

// watch is one Watch under way.
type watch struct {
	jet    *Jet
	prefix string
	seen   map[store.Key]store.Rev
	yield  func(store.Entry, error) bool
	ended  bool // by who ranges over it
}

// run yields what is there and what changes, until something ends it: the loss of the connection too. A server that comes back with an older
// state counts on from there, and nats.go would have it pass over all up to where it was.
func (w *watch) run(ctx context.Context) error {
	connected, cancel := context.WithCancel(ctx)
	c := w.jet.begin(cancel)
	defer w.jet.end(c)
	err := w.follow(connected)
	if ctx.Err() == nil && connected.Err() != nil {
		err = w.jet.wrap("watch", w.prefix, errUnanswered)
	}
	return err
}

// follow is run as long as there is a connection.
func (w *watch) follow(ctx context.Context) error {
	messages, err := w.begin(ctx)
	if err != nil {
		return err
	}
	defer messages.Stop()
	for !w.ended {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if err == nil {
			err = w.pass(msg)
		}
		if err != nil {
			return w.jet.wrap("watch", w.prefix, err)
		}
	}
	return nil
}

// begin asks for the newest message of each subject, and for those to come.
func (w *watch) begin(ctx context.Context) (messages jetstream.MessagesContext, err error) {
	err = w.jet.do(ctx, "watch", w.prefix, 0, store.CheckWatch(w.prefix), func(ctx context.Context) error {
		s, err := w.jet.stream(ctx, store.Key(w.prefix).Space())
		if err != nil {
			return err
		}
		consumer, err := s.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
			FilterSubjects: []string{filterOf(w.prefix)}, DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy,
			HeadersOnly: true, MaxResetAttempts: 1,
		})
		if err != nil {
			return err
		}
		messages, err = consumer.Messages(jetstream.PullHeartbeat(heartbeat))
		return err
	})
	return messages, err
}

func (w *watch) pass(msg jetstream.Msg) error {
	meta, err := msg.Metadata()
	if err != nil {
		return err
	}
	key, ok := keyOf(msg.Subject())
	rev := revOf(meta.Sequence.Stream)
	if !ok || w.seen[key] == rev {
		return nil
	}
	w.seen[key] = rev
	w.ended = !w.yield(store.Entry{Key: key, Rev: rev}, nil)
	return nil
}
