package watch

import (
	"github.com/fsnotify/fsnotify"
)

// notifier tells of folders in which something happened. Its channel may be closed by close alone.
type notifier interface {
	add(dir string) error
	changes() <-chan string // a path; "" says that some were lost
	close() error
}

// maxWaiting is how many notices may wait while a file is read.
const maxWaiting = 4096

// system is the system's notifier. Its goroutine ends with close.
type system struct {
	w    *fsnotify.Watcher
	out  chan string
	done chan struct{}
}

func newSystem() (notifier, error) {
	w, err := fsnotify.NewBufferedWatcher(maxWaiting)
	if err != nil {
		return nil, err
	}
	s := &system{w: w, out: make(chan string, maxWaiting), done: make(chan struct{})}
	go s.run() // close waits for it
	return s, nil
}

// run hands notices on. When too many wait, one that says so stands for the rest.
func (s *system) run() {
	defer close(s.done)
	lost := false
	tell := func(path string) {
		if lost {
			path = ""
		}
		select {
		case s.out <- path:
			lost = false
		default:
			lost = true
		}
	}
	for {
		select {
		case e, ok := <-s.w.Events:
			if !ok {
				return
			}
			if e.Op != fsnotify.Chmod {
				tell(e.Name)
			}
		case _, ok := <-s.w.Errors:
			if !ok {
				return
			}
			lost = true
			tell("")
		}
	}
}

func (s *system) add(dir string) error   { return s.w.Add(dir) }
func (s *system) changes() <-chan string { return s.out }

func (s *system) close() error {
	err := s.w.Close()
	<-s.done
	return err
}
