package vectors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/internal/sleep"
)

const (
	// immediateRetries is how often a request is tried again at once where that may help, before the pauses begin.
	immediateRetries = 2

	// quickWait is before the first of these; it doubles.
	quickWait = time.Second

	// batchBytes is how many bytes the texts of a request have together at most, about.
	batchBytes = 128 << 10

	// requestTimeout is how long a request that fills may take.
	requestTimeout = time.Minute

	// maxHalvings is how often a text that is refused is halved before its row is given up.
	maxHalvings = 3

	// probe is what an endpoint is asked that refused a single text: if it answers that, the text was to blame.
	probe = "memory"
)

// fill embeds what is pending until ctx is done. The error is errAnew, or one of the views or of writing.
func (v *Vectors) fill(ctx context.Context) error {
	tries := 0
	for ctx.Err() == nil {
		batch := v.next(ctx)
		if len(batch) == 0 {
			return nil
		}
		err := v.embedBatch(ctx, batch)
		if ctx.Err() != nil {
			return nil
		}
		var f *Failure
		switch {
		case err == nil:
			tries = 0
			_ = sleep.For(ctx, v.cfg.Rest)
		case !errors.As(err, &f):
			return err
		case f.Retryable && f.Until.IsZero() && tries < immediateRetries:
			_ = sleep.For(ctx, quickWait<<tries)
			tries++
		default:
			tries = 0
			v.awaitRetry(ctx, f)
		}
	}
	return nil
}

// awaitRetry waits out a pause.
func (v *Vectors) awaitRetry(ctx context.Context, f *Failure) {
	v.pause.failed(f)
	v.mu.Lock()
	v.signal()
	v.mu.Unlock()
	left, says := v.pause.left()
	v.cfg.Logger.Warn("vectors are not filled: the endpoint fails", "err", says, "again_in", left.Round(time.Second))
	_ = sleep.For(ctx, left)
}

// next waits until something is pending, and then a little for more of it, and returns the first of it; nothing once ctx is
// done. What it returns stays pending.
func (v *Vectors) next(ctx context.Context) []item {
	for waited := false; ctx.Err() == nil; {
		v.mu.Lock()
		batch := slices.Clone(v.pending[:min(len(v.pending), v.size)])
		v.mu.Unlock()
		switch n := len(batch); {
		case n == v.size || n > 0 && waited:
			return batch
		case n > 0:
			_ = sleep.For(ctx, v.cfg.Rest)
			waited = true
		default:
			select {
			case <-v.more:
			case <-ctx.Done():
			}
		}
	}
	return nil
}

// embedBatch embeds the first of what is pending, or fewer of them. A *Failure leaves them pending.
func (v *Vectors) embedBatch(ctx context.Context, batch []item) error {
	texts, batch, err := v.texts(ctx, batch)
	if err != nil {
		return err
	}
	asked := slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return t == "" })
	var vectors [][]float32
	if len(asked) > 0 {
		vectors, err = v.ask(ctx, asked)
	}
	if f, ok := errors.AsType[*Failure](err); ok && f.BlamesTexts {
		if len(batch) > 1 {
			v.size = max(1, len(batch)/2)
			return nil
		}
		if vectors, err = v.askShortened(ctx, asked[0], f); err == nil && vectors == nil {
			vectors = [][]float32{nil}
		}
	}
	if err != nil {
		return err
	}
	v.pause.answered()
	v.size = min(v.cfg.Batch, v.size+1) // what was too much once may be so again
	return v.write(ctx, func() error { return v.keep(batch, texts, vectors) })
}

// texts returns what is to be sent for a batch, and the part of it that fits into one request. An item without words, or
// that is gone, has none.
func (v *Vectors) texts(ctx context.Context, batch []item) ([]string, []item, error) {
	if err := v.cfg.Rows.Wait(ctx, batch[len(batch)-1].position); err != nil {
		return nil, nil, fmt.Errorf("vectors: %w", err)
	}
	ids := make([]events.ID, len(batch))
	for i, it := range batch {
		ids[i] = it.id
	}
	rows, err := v.cfg.Rows.Rows(ctx, ids...)
	if err != nil {
		return nil, nil, fmt.Errorf("vectors: %w", err)
	}
	bytes := 0
	var texts []string
	for _, row := range rows {
		text := ""
		if row.Kind != "" && !row.Forgotten && !row.Private {
			text = v.redactedText(textOf(row))
		}
		if bytes += len(text); bytes > batchBytes && len(texts) > 0 {
			break
		}
		texts = append(texts, text)
	}
	return texts, batch[:len(texts)], nil
}

// redactedText is what of a text may leave: secrets are taken out before it is cut, so that none is cut in two and missed.
// Of a very long text only the beginning is looked at.
func (v *Vectors) redactedText(text string) string {
	return clip.Head(v.cfg.Redact(clip.Head(text, 4*maxText)), maxText)
}

// ask asks for the vectors of texts, which must be of the size of the rows' before.
func (v *Vectors) ask(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := v.cfg.embed(ctx, requestTimeout, "no answer", texts)
	if err != nil {
		return nil, err
	}
	if dims := v.store.stats().Dimensions; dims > 0 && len(vectors[0]) != dims {
		return nil, v.sizeChanged(len(vectors[0]), dims)
	}
	return vectors, nil
}

// sizeChanged is the error of an answer with vectors of another size than those of the rows: all are to be made anew, or, where that
// was just done, the endpoint fails.
func (v *Vectors) sizeChanged(got, want int) error {
	if !v.anew.IsZero() && time.Since(v.anew) < anewEvery {
		return &Failure{Says: fmt.Sprintf("its vectors have %d dimensions, and had %d", got, want)}
	}
	v.anew = time.Now()
	return fmt.Errorf("%w: %d dimensions, not %d", errAnew, got, want)
}

// askShortened asks for one text that was refused, shorter and shorter. No vectors and no error: it is given up, as the endpoint
// answers other texts.
func (v *Vectors) askShortened(ctx context.Context, text string, refused *Failure) ([][]float32, error) {
	for range maxHalvings {
		text = clip.Head(text, len(text)/2)
		if text == "" {
			break
		}
		vectors, err := v.ask(ctx, []string{text})
		if f, ok := errors.AsType[*Failure](err); !ok || !f.BlamesTexts {
			return vectors, err
		}
	}
	_, err := v.ask(ctx, []string{probe})
	if f, ok := errors.AsType[*Failure](err); ok && f.BlamesTexts {
		return nil, &Failure{Says: refused.Says, Until: refused.Until}
	}
	return nil, err
}

// keep stores the vectors of a batch, which is the first of what is pending, and takes it from there.
func (v *Vectors) keep(batch []item, texts []string, vectors [][]float32) error {
	v.mu.Lock()
	now := slices.Clone(v.pending[:len(batch)])
	v.mu.Unlock()
	var rows []row
	for i, it := range now {
		if texts[i] == "" {
			continue
		}
		if !it.gone {
			rows = append(rows, row{it.rowRef, vectors[0]})
		}
		vectors = vectors[1:]
	}
	if err := v.store.append(rows, batch[len(batch)-1].rowRef); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pending = v.pending[len(batch):]
	if len(v.pending) == 0 {
		v.pending = nil // let go of what was gathered while it was long
	}
	v.signal()
	return nil
}
