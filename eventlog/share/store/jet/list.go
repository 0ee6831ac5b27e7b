package jet

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

// List implements store.Store. The leader is asked for all subjects of the prefix, which takes 100,000 of them at once.
func (j *Jet) List(ctx context.Context, prefix string, after store.Key, limit int) (found []store.Entry, err error) {
	err = j.do(ctx, "list", prefix, bodyBytes, store.CheckPrefix(prefix), func(ctx context.Context) error {
		prefixes, err := j.prefixes(ctx, prefix)
		for _, p := range prefixes {
			if err != nil || len(found) >= store.Limit(limit) {
				break
			}
			var some []store.Entry
			some, err = j.list(ctx, p, after)
			found = append(found, some...)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return found[:min(len(found), store.Limit(limit))], nil
}

// prefixes are those of all spaces in their order where prefix is empty.
func (j *Jet) prefixes(ctx context.Context, prefix string) ([]string, error) {
	if prefix != "" {
		return []string{prefix}, nil
	}
	var all []string
	names := j.js.StreamNames(ctx, jetstream.WithStreamListSubject(subjectPrefix+">"))
	for name := range names.Name() {
		if space, ok := spaceOf(name); ok {
			all = append(all, space+"/")
		}
	}
	slices.Sort(all)
	return all, names.Err()
}

// list returns what a prefix has behind after, in the order of the keys.
func (j *Jet) list(ctx context.Context, prefix string, after store.Key) ([]store.Entry, error) {
	space := store.Key(prefix).Space()
	s, err := j.stream(ctx, space)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(filterOf(prefix)))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		j.forget(space)
		return nil, nil
	}
	if err == nil {
		err = check(info.Config)
	}
	if err != nil {
		return nil, err
	}
	var found []store.Entry
	for subject := range info.State.Subjects {
		if key, ok := keyOf(subject); ok && key > after {
			found = append(found, store.Entry{Key: key})
		}
	}
	slices.SortFunc(found, func(a, b store.Entry) int { return cmp.Compare(a.Key, b.Key) })
	return found, nil
}
