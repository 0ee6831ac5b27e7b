package evidence

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/cmemd/cmemd/internal/process"
)

const (
	// killDelay is how long a killed child's pipes may stay open, held by children of its own.
	killDelay = 200 * time.Millisecond
	// maxStderr is how much of what git complains about is kept: its first line is the reason.
	maxStderr = 1 << 10
)

// batch is one `git cat-file --batch-check`. Only one goroutine may ask at a time; kill may be called by any.
type batch struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	lines  *bufio.Reader
	stderr *prefix
	killed sync.Once
}

// startBatch starts git in dir. The child lives until close.
func startBatch(cfg Config, dir string) (*batch, error) {
	cmd := exec.Command(cfg.Git, "cat-file", "--batch-check")
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, cfg.Env, killDelay
	process.OwnGroup(cmd)
	b := &batch{cmd: cmd, stderr: &prefix{}}
	cmd.Stderr = b.stderr
	var errs [2]error
	b.in, errs[0] = cmd.StdinPipe()
	b.out, errs[1] = cmd.StdoutPipe()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	b.lines = bufio.NewReader(b.out)
	return b, cmd.Start()
}

// ask writes one line and reads one. After an error, a done ctx included, the child is of no more use.
func (b *batch) ask(ctx context.Context, question string) (string, error) {
	stop := context.AfterFunc(ctx, b.kill)
	defer stop()
	if _, err := io.WriteString(b.in, question+"\n"); err != nil {
		return "", err
	}
	line, err := b.lines.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	b.stderr.reset() // what was said up to here, such as the candidates of an ambiguous hash, is no reason to die
	return string(bytes.TrimRight(line, "\r\n")), nil
}

// kill ends the child and its children and closes the pipes, so that whoever waits for an answer goes on.
func (b *batch) kill() {
	b.killed.Do(func() {
		_ = process.KillGroup(b.cmd.Process)
		_ = b.in.Close()
		_ = b.out.Close()
	})
}

// close kills the child, waits for its end, and returns what it complained about, in one line.
func (b *batch) close() string {
	if b.stderr.empty() { // a child that is just dying may not have said why
		_ = b.in.Close()
		b.linger()
	}
	b.kill()
	_ = b.cmd.Wait()
	return b.stderr.firstLine()
}

// linger gives a child whose output has ended the time to end by itself.
func (b *batch) linger() {
	stop := time.AfterFunc(killDelay, b.kill)
	defer stop.Stop()
	_, _ = io.Copy(io.Discard, b.lines)
}

// prefix keeps the first bytes that are written to it.
type prefix struct {
	mu sync.Mutex // guards the field below
	b  []byte
}

func (p *prefix) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.b = append(p.b, b[:min(len(b), maxStderr-len(p.b))]...)
	return len(b), nil
}

func (p *prefix) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.b = p.b[:0]
}

func (p *prefix) empty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.b) == 0
}

func (p *prefix) firstLine() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	line, _, _ := strings.Cut(strings.TrimSpace(string(p.b)), "\n")
	return line[:min(len(line), 200)]
}

// startFailure says why git could not be started.
func startFailure(err error) string {
	if errors.Is(err, exec.ErrNotFound) {
		return "git not found"
	}
	return fmt.Sprintf("git does not start: %v", err)
}
