package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/process"
)

// KeySource says where a key comes from: exactly one of the environment, a file and a command.
type KeySource struct {
	Env     string              // the name of a variable
	File    string              // a file that nobody but its owner may read (0600); the first line is the key
	Command []string            // a program with its arguments, which prints the key within 5 s, without asking on the terminal
	Getenv  func(string) string // reads Env; needed with it: only whoever reads settings looks at the environment
}

// Key is the key of a service. It is read when it is first needed, and again after the service refused it. It never shows
// itself: neither in an error, nor printed, nor in a log, nor in the arguments of a process. A nil Key is none. It is safe
// for concurrent use.
type Key struct {
	from KeySource
	turn *semaphore.Weighted // of whoever reads the source

	mu    sync.Mutex    // guards value
	value func() string // nil: to be read. A function, because printing one prints its address
}

const (
	keyTimeout  = 5 * time.Second
	maxKeyBytes = 16 << 10 // of a file or of what a command prints; keys have less than 1 KiB
)

// NewKey checks that s names one source. It does not look whether there is a key.
func NewKey(s KeySource) (*Key, error) {
	n := 0
	for _, given := range []bool{s.Env != "", s.File != "", len(s.Command) > 0} {
		if given {
			n++
		}
	}
	if n != 1 {
		return nil, errors.New("model: a key comes from one of a variable, a file and a command")
	}
	if s.Env != "" && s.Getenv == nil {
		return nil, errors.New("model: nothing reads the variable that holds a key")
	}
	return &Key{from: s, turn: semaphore.NewWeighted(1)}, nil
}

// Get returns the key: one that is known at once, even when ctx is done. An error is a *observer.Failure of class setup that
// says what is wrong with the source, or ctx.Err().
func (k *Key) Get(ctx context.Context) (string, error) {
	if value := k.known(); value != nil {
		return value(), nil
	}
	if err := k.turn.Acquire(ctx, 1); err != nil {
		return "", err
	}
	defer k.turn.Release(1)
	if value := k.known(); value != nil {
		return value(), nil
	}
	key, err := k.from.read(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", &observer.Failure{Class: events.FailSetup, Message: fmt.Sprintf("no key from %s: %v", k, err)}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.value = func() string { return key }
	return key, nil
}

func (k *Key) known() func() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.value
}

// Forget has the key read again when it is next needed.
func (k *Key) Forget() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.value = nil
}

// String names the source of the key, without the arguments of a command, which may hold secrets of their own.
func (k *Key) String() string {
	switch {
	case k == nil:
		return "nowhere"
	case k.from.Env != "":
		return "the variable " + k.from.Env
	case k.from.File != "":
		return "the file " + k.from.File
	}
	return "the command " + k.from.Command[0]
}

// Format prints String for every verb.
func (k *Key) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, k.String()) }

// LogValue logs String.
func (k *Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText writes String: no encoder writes the key.
func (k *Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// read returns the key, which is one printable word.
func (s KeySource) read(ctx context.Context) (string, error) {
	var text string
	var err error
	switch {
	case s.Env != "":
		text = s.Getenv(s.Env)
	case s.File != "":
		text, err = readKeyFile(s.File)
	default:
		text, err = runKeyCommand(ctx, s.Command)
	}
	if err != nil {
		return "", err
	}
	key, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	key = strings.TrimSpace(key)
	switch {
	case key == "":
		return "", errors.New("it is not set or empty")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", errors.New("it holds more than a key: blanks or characters that no key has")
	}
	return key, nil
}

func readKeyFile(name string) (string, error) {
	f, info, err := durable.OpenLinked(name)
	if err != nil {
		return "", without(err)
	}
	defer f.Close()
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("its mode is %04o, so that others may read it; make it 0600", info.Mode().Perm())
	}
	b, err := io.ReadAll(io.LimitReader(f, maxKeyBytes))
	return string(b), without(err)
}

// without is what the operating system says, without the path: the source is named before it.
func without(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

// runKeyCommand returns what the command prints. Nothing of what it says in an error is shown: it may be the key. What it
// started ends with it, unless it made itself a group of its own, as agents that hold keys do.
func runKeyCommand(ctx context.Context, command []string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, keyTimeout)
	defer cancel()
	cmd := exec.CommandContext(limited, command[0], command[1:]...)
	cmd.WaitDelay = 100 * time.Millisecond // for children of it that keep its output open
	process.OwnGroup(cmd)
	cmd.Cancel = func() error { return process.KillGroup(cmd.Process) }
	out := &process.Output{Limit: maxKeyBytes}
	cmd.Stdout = out
	err := cmd.Run()
	if cmd.Process != nil {
		_ = process.KillGroup(cmd.Process)
	}
	exit, failed := errors.AsType[*exec.ExitError](err)
	_, absent := errors.AsType[*exec.Error](err)
	switch {
	case limited.Err() != nil:
		return "", cmp.Or(ctx.Err(), fmt.Errorf("it did not print one within %v", keyTimeout))
	case failed:
		return "", fmt.Errorf("it ended with status %d", exit.ExitCode())
	case absent:
		return "", errors.New("there is no such program")
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return "", errors.New("it could not be run")
	}
	return out.String(), nil
}
