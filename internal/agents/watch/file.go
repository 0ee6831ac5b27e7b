package watch

import (
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"time"
)

// file is one transcript that is followed.
type file struct {
	File
	rule       string    // by which it was found
	inLastScan bool      // found by the latest scan
	decided    bool      // it was decided what is done about it
	old        bool      // it was done with before it was watched, and has not grown since: left alone
	changed    time.Time // of its latest change that is not read yet, by our clock; zero: all is read
	since      time.Time // of the first of those
	reading    Reading   // nil: it is read from its beginning when it grows
	handle     *os.File  // what the reading is of, whatever the path leads to by now
	used       uint64    // when its reading was used last
	notBefore  time.Time // not before
	pause      time.Duration
}

// due reports whether what f has grown by is to be read now: it has rested for a moment, or grown for too long.
func (f *file) due(now time.Time) bool {
	if f.changed.IsZero() || now.Before(f.notBefore) {
		return false
	}
	return now.Sub(f.changed) >= settleTime || now.Sub(f.since) >= settleMost
}

// resting reports whether f's reading is to know that nothing comes for now.
func (f *file) resting(now time.Time) bool {
	return f.reading != nil && !f.Rested && f.changed.IsZero() && !now.Before(f.notBefore) && now.Sub(f.ReadAt) >= restAfter
}

// same reports whether the file that is open still begins with what was read of it.
func (f *file) same(info fs.FileInfo) bool {
	if info.Size() < f.Offset {
		return false
	}
	sum, err := sumBefore(f.handle, f.Offset)
	return err == nil && sum == f.Before
}

// summed is how many bytes before an offset tell a file from another.
const summed = 1024

// sumBefore is a sum over the last bytes before an offset. It is short on purpose: nobody tries out words with it.
func sumBefore(in io.ReaderAt, offset int64) (uint32, error) {
	b := make([]byte, min(offset, summed))
	if _, err := in.ReadAt(b, offset-int64(len(b))); err != nil && !(errors.Is(err, io.EOF) && len(b) == 0) {
		return 0, err
	}
	return crc32.ChecksumIEEE(b), nil
}

// kept reports whether a file is part of a state that is made now: one that changed within the backlog, or that is not read to its end,
// however long ago that was. So is one that was read later than that after it changed: where the log lacks what was read since some time,
// other files are found by when they changed.
func (f *file) kept(now time.Time, backlog time.Duration) bool {
	recent := !f.old && !f.Changed.Before(now.Add(-backlog))
	return !f.changed.IsZero() || f.Error != "" || recent || f.ReadAt.Sub(f.Changed) > backlog
}
