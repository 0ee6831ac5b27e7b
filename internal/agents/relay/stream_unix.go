//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package relay

import (
	"context"
	"io"
	"os"
	"sync"
	"syscall"
)

// A socketStream is a Stream whose calls block: a short process is done before a poller and its thread are ready.
type socketStream struct {
	fd int

	mu     sync.Mutex // guards closed
	closed bool
}

// openStream connects to a unix socket. It does not wait: where too many wait already, the error is crowded.
func openStream(_ context.Context, path string) (Stream, error) {
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err = syscall.SetNonblock(fd, true); err == nil {
		err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: path})
	}
	if err == nil {
		err = syscall.SetNonblock(fd, false)
	}
	if err != nil {
		_ = syscall.Close(fd)
		return nil, &os.PathError{Op: "connect", Path: path, Err: err}
	}
	return &socketStream{fd: fd}, nil
}

func (s *socketStream) Read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(s.fd, p)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (s *socketStream) Write(p []byte) (written int, err error) {
	for written < len(p) {
		n, err := syscall.Write(s.fd, p[written:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return written, os.NewSyscallError("write", err)
		}
		written += n
	}
	return written, nil
}

// Close is called by whoever reads and writes.
func (s *socketStream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return syscall.Close(s.fd)
}

func (s *socketStream) Interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		_ = syscall.Shutdown(s.fd, syscall.SHUT_RDWR)
	}
}
