package salvage

import (
	"context"
	"io"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// Config is how a damaged log is read. Its zero value works.
type Config struct {
	// Name is what errors call the file.
	Name string

	// Forgotten are positions that were forgotten, whatever the file says of them.
	Forgotten []events.Position

	// MinFree is what the disk of the new log must keep free, as in eventlog.Config.
	MinFree int64

	// Progress, unless nil, is called now and then with how many bytes were looked at.
	Progress func(done, total int64)
}

// implausibleFormat is a number that no program will ever write: it is damage.
const implausibleFormat = 1 << 16

// Salvage is what can still be read of a log.
type Salvage struct {
	Last    events.Position // of the log, lost records included
	Records uint64          // that are there, those without their payload included
	Erased  uint64          // of them, by the person
	Lost    events.Spans    // positions of which nothing is left
	Unread  events.Spans    // positions whose header alone is left
	Moved   uint64          // records that get another version or chain
	Size    int64           // of the damaged file, in bytes
	BadDisk int64           // bytes that the disk could not read

	file      io.ReaderAt
	codec     *events.Codec
	slots     map[events.Position]slot
	lost      map[events.Position]place
	forgotten map[events.Position]bool
	minFree   int64
	room      [events.MaxHeader]byte
}

// Read looks at all bytes of a damaged log of size bytes, which nobody may change meanwhile nor before Write has returned. It writes
// nothing. It keeps about 300 bytes for each record, and 40 MiB. Errors: ctx.Err(), *eventlog.NewerFormatError, whose records nobody here
// can check, and the file's where nothing of it can be read.
func Read(ctx context.Context, file io.ReaderAt, size int64, cfg Config) (*Salvage, error) {
	if cfg.Progress == nil {
		cfg.Progress = func(int64, int64) {}
	}
	s := &Salvage{Size: size, file: file, codec: events.NewCodec(), forgotten: map[events.Position]bool{}, minFree: cfg.MinFree}
	t := treeOf(file, size)
	if t.format > eventlog.Format && t.format < implausibleFormat {
		return nil, &eventlog.NewerFormatError{Path: cfg.Name, Found: t.format, Known: eventlog.Format}
	}
	scan := scanner{file: file, size: size, codec: s.codec, live: t.live, progress: func(done int64) { cfg.Progress(done, size) }}
	if err := scan.run(ctx); err != nil {
		return nil, err
	}
	v := validator{tree: t, names: scan.names, all: scan.all, header: s.header}
	s.Last, s.BadDisk = v.run(), scan.unread
	s.slots, s.lost = v.slots, v.placesOfLost()
	for _, at := range cfg.Forgotten {
		s.forgotten[at] = true
	}
	if err := s.forget(ctx); err != nil {
		return nil, err
	}
	return s, s.count(ctx)
}

// Whole reports whether every record is there with all that it had.
func (s *Salvage) Whole() bool { return s.Lost.Count == 0 && s.Unread.Count == 0 && s.Moved == 0 }

// header reads the header of a record that was found.
func (s *Salvage) header(f found) (events.Record, error) {
	b := s.room[:f.head] // what is parsed of it are copies
	if _, err := s.file.ReadAt(b, f.offset); err != nil {
		return events.Record{}, err
	}
	r, _, _, err := s.codec.Carve(b)
	return r, err
}

// record reads a record that was found, with the chain that it must have. What was forgotten is erased.
func (s *Salvage) record(f slot) (r events.Record, err error) {
	if !f.whole || f.erased || s.forgotten[f.at] {
		r, err = s.header(f.found)
		r = r.Erase()
	} else {
		b := make([]byte, f.size)
		if _, err = s.file.ReadAt(b, f.offset); err == nil {
			r, _, _, err = s.codec.Carve(b)
		}
	}
	r.Chain = f.chain
	return r, err
}

// forget notes what the log itself says is forgotten. It is said behind the end, too: an older page in the place of a newer one has the
// log end earlier, and where the commit did fail the words were to go all the same.
func (s *Salvage) forget(ctx context.Context) error {
	for at, f := range s.slots {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.verdict == damaged && !f.behind || !f.forgets || !f.whole || f.erased {
			continue
		}
		r, err := s.record(f)
		if err != nil {
			continue // the disk gave it once and does not any more
		}
		e, err := r.Event()
		if err != nil {
			continue // it was forgotten itself, or nothing that this program knows
		}
		for _, p := range e.(events.MemoryForgotten).Positions {
			if p < at {
				s.forgotten[p] = true
			}
		}
	}
	return nil
}

// standing returns what stands at a position; false: it is lost.
func (s *Salvage) standing(at events.Position) (slot, bool) {
	f, ok := s.slots[at]
	return f, ok && f.verdict != damaged
}

// count says what was found.
func (s *Salvage) count(ctx context.Context) error {
	relay := eventlog.NewRelay(s.codec)
	return s.each(ctx, func(at events.Position, f slot, ok bool) error {
		switch {
		case !ok:
			s.Lost.Add(at)
			p := s.placeOf(at)
			_, err := relay.Lost(p.stream, p.version)
			return err
		case !f.whole && !s.forgotten[at]:
			s.Unread.Add(at)
		case f.erased || s.forgotten[at]:
			s.Erased++
		}
		s.Records++
		r, err := s.header(f.found)
		r.Chain = f.chain
		if _, moved := relay.Add(r); moved {
			s.Moved++
		}
		return err
	})
}

// placeOf is where a lost record was, as far as anybody says.
func (s *Salvage) placeOf(at events.Position) place {
	if p, ok := s.lost[at]; ok {
		return p
	}
	return place{stream: events.Lost}
}

// each calls do with every position, in order, and what stands there.
func (s *Salvage) each(ctx context.Context, do func(at events.Position, f slot, ok bool) error) error {
	for at := events.Position(1); at <= s.Last; at++ {
		if at%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		f, ok := s.standing(at)
		if err := do(at, f, ok); err != nil {
			return err
		}
	}
	return nil
}
