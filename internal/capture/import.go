package capture

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/agents/importer"
	"github.com/cmemd/cmemd/internal/refusal"
)

// Import records what another memory kept and the log does not have yet. The body has one importer.Entry a line.
func (p *Pipeline) Import(ctx context.Context, source string, body io.Reader) (Imported, error) {
	if !slices.Contains(importer.Sources(), source) {
		return Imported{}, refusal.Absent("nothing is imported from %q; known are %q", source, importer.Sources())
	}
	im := newImport(p, source)
	if err := im.run(ctx, body); err != nil {
		return Imported{}, err
	}
	return im.done(), nil
}

// imported is one import under way.
type imported struct {
	*ingest
	convert   *importer.Converter
	line      int
	sessionID events.SessionID // the session that entries are of
	captured  bool             // hooks or transcripts have captured it
	end       *session.Capture // its end, for behind all else of it
	result    Imported
}

func newImport(p *Pipeline, source string) *imported {
	im := &imported{convert: importer.NewConverter(source, p.cfg.Secrets), result: Imported{
		Recorded: map[importer.Kind]int{}, Known: map[importer.Kind]int{}, LeftOut: map[importer.Kind]importer.ReasonCount{},
		Shortened: map[importer.Kind]importer.ReasonCount{},
	}}
	im.ingest = newIngest(p, func() agents.Progress { return agents.Progress{Lines: im.line} })
	im.took = im.count
	return im
}

// count counts what became of a capture. A session's end is no entry.
func (im *imported) count(c session.Capture, known bool) {
	kind := importer.KindOf(c.Event)
	switch {
	case kind == "":
	case known:
		im.result.Known[kind]++
	default:
		im.result.Recorded[kind]++
	}
}

func (im *imported) run(ctx context.Context, body io.Reader) error {
	in := bufio.NewScanner(body)
	in.Buffer(make([]byte, 0, 64<<10), importer.MaxLine+1)
	for in.Scan() {
		im.line++
		if err := im.take(ctx, in.Bytes()); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = refusal.At("", "line %d is longer than %d bytes", im.line+1, importer.MaxLine)
		} else {
			err = fmt.Errorf("%w: %w", ErrBodyCut, err)
		}
		return errors.Join(err, im.finish(ctx))
	}
	return im.finish(ctx)
}

// take takes one line.
func (im *imported) take(ctx context.Context, line []byte) error {
	var e importer.Entry
	if err := json.Unmarshal(line, &e); err != nil {
		im.malformed("is no entry")
		return nil
	}
	if err := im.switchTo(ctx, importer.OriginOf(&e).Session()); err != nil {
		return err
	}
	made, err := im.convert.Convert(&e, im.captured)
	if err != nil {
		im.malformed("names no session, no row, or a time that no clock shows")
		return nil
	}
	if made.LeftOut != "" {
		importer.Count(im.result.LeftOut, e.Kind, made.LeftOut, 1)
	}
	if end, ok := im.convert.End(&e); ok && !im.captured {
		im.end = &end
	}
	for _, c := range made.Captures {
		repeated, private := im.repeated, im.private
		if err := im.add(ctx, c); err != nil {
			return err
		}
		switch {
		case im.repeated > repeated:
			importer.Count(im.result.LeftOut, e.Kind, importer.ReasonEcho, 1)
		case im.private > private:
			importer.Count(im.result.LeftOut, e.Kind, importer.ReasonPrivate, 1)
		case made.Shortened:
			importer.Count(im.result.Shortened, e.Kind, importer.ReasonShort, 1)
		}
	}
	return nil
}

func (im *imported) malformed(detail string) {
	im.result.Malformed++
	im.addBad(im.line, detail)
}

// switchTo ends the session before, if id is another one, and looks whether hooks or transcripts have captured that.
func (im *imported) switchTo(ctx context.Context, id events.SessionID) error {
	if id == im.sessionID {
		return nil
	}
	if err := im.close(ctx); err != nil {
		return err
	}
	im.sessionID, im.captured = id, false
	for r, err := range im.p.cfg.Log.Stream(ctx, id.Stream(), 1) {
		if err != nil {
			return fmt.Errorf("capture: import: %w", err)
		}
		if importer.Captured(r.Header) {
			im.captured = true
			break
		}
	}
	return nil
}

// close records the end of the session that entries were of.
func (im *imported) close(ctx context.Context) error {
	end := im.end
	if im.end = nil; end == nil {
		return nil
	}
	return im.add(ctx, *end)
}

func (im *imported) finish(ctx context.Context) error {
	return errors.Join(im.close(ctx), im.flush(ctx))
}

func (im *imported) done() Imported {
	out := im.result
	out.Sessions, out.Entries = append([]events.SessionID{}, im.order...), im.line-out.Malformed
	out.Refused, out.Bad, out.Position = im.out.Refused, im.out.Bad, im.out.Position
	return out
}
