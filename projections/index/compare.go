package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/blevesearch/bleve/v2/index/scorch"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// Compare sets what x holds beside what other holds, an index over the same log: how far both are and which documents are in them.
// The files of x have to be whole by their own checksums. Each problem is a line for people that holds no word of a document.
// Errors are engine.ErrPositionsDiffer, ErrClosed, those of reading files, and ctx's.
func (x *Index) Compare(ctx context.Context, other *Index) (problems []string, err error) {
	if problems, err = x.compareDocuments(ctx, other); err == nil {
		err = x.verifySegments()
	}
	if errors.Is(err, errDamaged) {
		problems, err = append(problems, err.Error()), nil
	}
	return problems, err
}

func (x *Index) compareDocuments(ctx context.Context, other *Index) (problems []string, err error) {
	mine, at, err := x.documents(ctx)
	if err != nil {
		return nil, err
	}
	theirs, to, err := other.documents(ctx)
	if err != nil {
		return nil, err
	}
	if at != to {
		return nil, fmt.Errorf("%w: the index at %d and at %d", engine.ErrPositionsDiffer, at, to)
	}
	if n := missing(theirs, mine); n > 0 {
		problems = append(problems, fmt.Sprintf("lacks %d of %d documents", n, len(theirs)))
	}
	if n := missing(mine, theirs); n > 0 {
		problems = append(problems, fmt.Sprintf("holds %d documents that the log does not lead to", n))
	}
	return problems, nil
}

// documents are the names of all documents, in order, and the position up to which they are those of the log.
func (x *Index) documents(ctx context.Context) (names []string, at events.Position, err error) {
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	s, err := x.current()
	if err != nil {
		return nil, 0, err
	}
	snap, err := s.snapshot()
	if err != nil {
		return nil, 0, err
	}
	defer snap.Close()
	at = x.Position() // the store's own checkpoint is moved by documents alone
	names, err = namesIn(ctx, snap)
	slices.Sort(names)
	return names, at, err
}

func namesIn(ctx context.Context, snap *scorch.IndexSnapshot) (names []string, err error) {
	all, err := snap.DocIDReaderAll()
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	defer all.Close()
	for ctx.Err() == nil {
		id, err := all.Next()
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		if id == nil {
			return names, nil
		}
		name, err := snap.ExternalID(id)
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		names = append(names, name)
	}
	return nil, ctx.Err()
}

// missing counts those of wanted, which is sorted, that are not in sorted.
func missing(wanted, sorted []string) (n int) {
	for _, w := range wanted {
		if _, ok := slices.BinarySearch(sorted, w); !ok {
			n++
		}
	}
	return n
}

// verifySegments checks the checksums of the files in use. One that was merged away meanwhile is passed over.
func (x *Index) verifySegments() error {
	s, err := x.current()
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(s.dir, "*.zap"))
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	for _, name := range files {
		if err := verifySegment(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
