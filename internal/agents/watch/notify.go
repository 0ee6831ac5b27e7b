package watch

import "github.com/fsnotify/fsnotify"

// notices tell of folders in which something happened. None comes after close.
type notices struct {
	changes <-chan fsnotify.Event
	lost    <-chan error // some did not come
	add     func(dir string) error
	close   func() error
}

// maxWaiting is how many notices may wait while a file is read. The system keeps some more, and says when it lost any.
const maxWaiting = 4096

// systemNotices are those of the system.
func systemNotices() (*notices, error) {
	w, err := fsnotify.NewBufferedWatcher(maxWaiting)
	if err != nil {
		return nil, err
	}
	return &notices{changes: w.Events, lost: w.Errors, add: w.Add, close: w.Close}, nil
}
