package space

import (
	"context"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

// answerTimeout is how long a store may take to answer: 512 KiB take 4 s at 1 Mbit/s, an election of a leader takes 8.
const answerTimeout = time.Minute

// patient is a store whose calls end after answers, also where the engine would wait for ever.
type patient struct{ store.Store }

func (p patient) Create(ctx context.Context, key store.Key, body []byte) (store.Rev, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return p.Store.Create(ctx, key, body)
}

func (p patient) Replace(ctx context.Context, key store.Key, rev store.Rev, body []byte) (store.Rev, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return p.Store.Replace(ctx, key, rev, body)
}

func (p patient) Get(ctx context.Context, key store.Key) ([]byte, store.Rev, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return p.Store.Get(ctx, key)
}

func (p patient) List(ctx context.Context, prefix string, after store.Key, limit int) ([]store.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return p.Store.List(ctx, prefix, after, limit)
}

func (p patient) Delete(ctx context.Context, key store.Key, rev store.Rev) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return p.Store.Delete(ctx, key, rev)
}
