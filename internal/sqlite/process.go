package sqlite

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Program is the name of the child's program.
const Program = "cmemd-sqlite"

// ErrNoProgram is that the child's program is not installed.
var ErrNoProgram = errors.New("sqlite: there is no " + Program)

// Find returns the path of the child's program: beside this one, else on PATH. The error is ErrNoProgram.
func Find() (string, error) {
	name := Program
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil || !filepath.IsAbs(path) {
		return "", ErrNoProgram
	}
	return path, nil
}

// child is a running program. It is not safe for concurrent use, but for kill.
type child struct {
	kill  func()
	wait  func() error // for its end, once
	in    io.WriteCloser
	out   io.ReadCloser
	enc   *gob.Encoder
	dec   *gob.Decoder
	said  *tail
	ended sync.Once
	err   error // of its end
}

// helloLimit is how long a program may take to say hello: it opens a file before.
const helloLimit = 20 * time.Second

// start starts a program and hears its hello. ctx bounds that alone.
func start(ctx context.Context, program, address string) (*child, error) {
	cmd, said := exec.Command(program, address), &tail{}
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("sqlite: start %s: %w", program, err)
	}
	c := newChild(in, out, said, func() { _ = cmd.Process.Kill() }, cmd.Wait)
	ctx, cancel := context.WithTimeout(ctx, helloLimit)
	defer cancel()
	stop := c.watch(ctx)
	var h hello
	if err := c.dec.Decode(&h); err != nil {
		return nil, errors.Join(ctx.Err(), c.lost(err))
	}
	if !stop() {
		return nil, errors.Join(ctx.Err(), c.close())
	}
	if h.Version != wireVersion {
		return nil, errors.Join(fmt.Errorf("sqlite: %s is of another release of cmemd: install it anew", program), c.close())
	}
	return c, nil
}

func newChild(in io.WriteCloser, out io.ReadCloser, said *tail, kill func(), wait func() error) *child {
	return &child{
		kill: kill, wait: wait, in: in, out: out, said: said,
		enc: gob.NewEncoder(in), dec: gob.NewDecoder(bufio.NewReaderSize(out, 64<<10)),
	}
}

// ask sends a request. Its answers are to be read to their end before the next.
func (c *child) ask(q request) error {
	if err := c.enc.Encode(q); err != nil {
		return c.lost(err)
	}
	return nil
}

// next reads one answer. At the end it returns io.EOF, or what SQLite said.
func (c *child) next() (a answer, err error) {
	if err := c.dec.Decode(&a); err != nil {
		return a, c.lost(err)
	}
	switch {
	case !a.End:
		return a, nil
	case a.Code != 0:
		return a, &Error{Code: a.Code & 0xff, Text: a.Error}
	case a.Error != "":
		return a, fmt.Errorf("sqlite: %s", a.Error)
	}
	return a, io.EOF
}

// lost ends a child that does not answer any more, and says why.
func (c *child) lost(err error) error {
	c.kill()
	_ = c.close()
	return fmt.Errorf("sqlite: %s ended: %w", Program, errors.Join(err, c.said.error()))
}

// close lets the child end, and waits for that.
func (c *child) close() error {
	c.ended.Do(func() {
		_ = c.in.Close()
		_, _ = io.Copy(io.Discard, c.out)
		c.err = c.wait()
	})
	return c.err
}

// watch kills the child when ctx ends before stop is called.
func (c *child) watch(ctx context.Context) (stop func() bool) { return context.AfterFunc(ctx, c.kill) }

// tail keeps the end of what a child writes to its standard error.
type tail struct {
	mu   sync.Mutex // guards text
	text []byte
}

// maxSaid is how much of what a child says is kept, in bytes.
const maxSaid = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-maxSaid):]
	return len(p), nil
}

// error is what was said, as an error; nil: nothing.
func (t *tail) error() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if said := strings.TrimSpace(string(t.text)); said != "" {
		return errors.New(said)
	}
	return nil
}
