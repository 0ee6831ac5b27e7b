package jet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

// maxMessage leaves room for the headers of a message: those of this package have 150 bytes.
const maxMessage = store.MaxBody + 4<<10

// configOf is how the stream of a space is made.
func (j *Jet) configOf(space string) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: streamOf(space), Subjects: []string{filterOf(space + "/")},
		Storage: jetstream.FileStorage, Replicas: j.copies(), Retention: jetstream.LimitsPolicy,
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, MaxMsgSize: maxMessage,
		FirstSeq: uint64(time.Now().UnixMilli()),
	}
}

// inCluster is how many servers of a cluster keep a space: one of them may go and the others are still a majority.
const inCluster = 3

// copies is how many servers are to keep a space that is made over the present connection.
func (j *Jet) copies() int {
	if j.conn.ConnectedClusterName() != "" {
		return inCluster
	}
	return 1
}

// check returns ErrStream, and why, unless a stream keeps what store.Store promises.
func check(c jetstream.StreamConfig) error {
	why := ""
	switch {
	case len(c.Subjects) != 1 || c.Subjects[0] != subjectPrefix+c.Name[len(streamPrefix):]+".>":
		why = "it has other subjects"
	case c.MaxMsgsPerSubject != 1:
		why = "it keeps more than one message a subject"
	case c.AllowDirect, c.MirrorDirect:
		why = "it lets servers answer that may be behind (allow_direct)"
	case c.MaxAge != 0, c.MaxMsgs > 0, c.Retention != jetstream.LimitsPolicy, c.Discard != jetstream.DiscardNew:
		why = "it drops messages by itself"
	case c.DenyDelete, c.Sealed:
		why = "it lets nothing be deleted"
	case c.Storage != jetstream.FileStorage:
		why = "it keeps its messages in memory"
	case c.Mirror != nil, len(c.Sources) > 0, c.SubjectTransform != nil:
		why = "it takes messages from elsewhere"
	default:
		return nil
	}
	return fmt.Errorf("%w: %s: %s", ErrStream, c.Name, why)
}

// stream returns the stream of a space. The error is store.ErrNotFound where there is none.
func (j *Jet) stream(ctx context.Context, space string) (jetstream.Stream, error) {
	if s := j.known(space); s != nil {
		return s, nil
	}
	s, err := answered(ctx, func(ctx context.Context) (jetstream.Stream, error) { return j.js.Stream(ctx, streamOf(space)) })
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	if err := check(s.CachedInfo().Config); err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.streams[space] = s
	return s, nil
}

// makeStream returns the stream of a space, which it makes if there is none.
func (j *Jet) makeStream(ctx context.Context, space string) (jetstream.Stream, error) {
	s, err := j.stream(ctx, space)
	if !errors.Is(err, store.ErrNotFound) {
		return s, err
	}
	// Of several who make it at once one succeeds, for the first sequence numbers differ.
	config := j.configOf(space)
	_, err = answered(ctx, func(ctx context.Context) (jetstream.Stream, error) { return j.js.CreateStream(ctx, config) })
	if err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return nil, err
	}
	if s, err = j.stream(ctx, space); errors.Is(err, store.ErrNotFound) { // a cluster does not know it everywhere yet
		err = errBusy
	}
	return s, err
}

// answerIn is when a question of a stream is asked again: a cluster that is about to choose a stream's leader answers nothing.
const answerIn = 2 * time.Second

// answered asks what may be asked twice, until there is an answer.
func answered[T any](ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	for {
		limited, cancel := context.WithTimeout(ctx, answerIn)
		v, err := ask(limited)
		cancel()
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return v, err
		}
	}
}

func (j *Jet) known(space string) jetstream.Stream {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.streams[space]
}

// forget has the stream of a space looked for again: somebody deleted it.
func (j *Jet) forget(space string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.streams, space)
}
