package eventlog

import (
	"cmp"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Config is how a log is opened. Its zero value works.
type Config struct {
	// Timeout is how long Open waits for another process to let go of the file; 0 means 1 second, which rides out a
	// daemon that is just closing.
	Timeout time.Duration

	// MinFree is how many bytes the disk must keep free for appends to be taken; 0 means 64 MiB, less than 0 means that
	// the disk is not asked. Erasing is never refused.
	MinFree int64

	// Codec seals and reads payloads; nil means one of its own. Logs that share one share its 1 MiB.
	Codec *events.Codec

	// Now gives recorded_at; nil means time.Now. A clock that goes back is held still.
	Now func() time.Time

	// Free says how many bytes are free for the file at path; nil asks the file system. An error counts as plenty.
	Free func(path string) (uint64, error)

	// Found is called with each damage that a reader of the log meets, and with nil once all records were read and are what they say. It
	// is called by several goroutines at once, those of the readers, must be quick and must not use the log. nil: it is not noted.
	Found func(*CorruptError)

	// NoSync leaves syncing to the operating system: for a file that is synced once, when whole, and for tests.
	NoSync bool
}

// minFree leaves room for the daemon to stop, its log files and the views; a full disk breaks more than this log.
const minFree = 64 << 20

func (c Config) withDefaults() Config {
	c.Timeout = cmp.Or(c.Timeout, time.Second)
	c.MinFree = cmp.Or(c.MinFree, minFree)
	if c.Codec == nil {
		c.Codec = events.NewCodec()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Free == nil {
		c.Free = FreeBytes
	}
	return c
}
