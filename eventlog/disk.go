package eventlog

import (
	"fmt"
	"time"
)

const (
	// askAfter and askBytes are how long and how far the last answer about free space is trusted: the rest of the
	// machine cannot fill the 64 MiB kept free in between unless it writes faster than that.
	askAfter = time.Second
	askBytes = 8 << 20

	// commitOverhead is what a commit writes beside the records: a leaf, branches, the free list, the meta page.
	commitOverhead = 64 << 10
)

// disk decides whether there is room to append. Only the writer uses it.
type disk struct {
	path  string
	keep  int64 // bytes to keep free; below 0 there is always room
	free  func(path string) (uint64, error)
	left  int64 // at the last answer, less what was written since
	asked time.Time
	spent int64 // since the last answer
}

// room returns ErrDiskFull if writing n more bytes would leave less than what is to be kept.
func (d *disk) room(n int64) error {
	if d.keep < 0 {
		return nil
	}
	n += commitOverhead
	if d.left-n < d.keep || d.spent > askBytes || time.Since(d.asked) > askAfter {
		d.ask()
	}
	if d.left-n < d.keep {
		return fmt.Errorf("%w: %d MiB free, %d MiB are kept", ErrDiskFull, d.left>>20, d.keep>>20)
	}
	return nil
}

func (d *disk) wrote(n int64) {
	d.left -= n
	d.spent += n
}

func (d *disk) ask() {
	free, err := d.free(d.path)
	if err != nil || free > 1<<62 {
		free = 1 << 62
	}
	d.left, d.spent, d.asked = int64(free), 0, time.Now()
}
