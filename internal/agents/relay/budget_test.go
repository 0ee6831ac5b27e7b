package relay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// dialPipe returns a dialer whose other end is served in the same bubble.
func dialPipe(serve func(net.Conn)) func(context.Context) (Stream, error) {
	return func(context.Context) (Stream, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			serve(far)
		}()
		return pipeStream{near}, nil
	}
}

// pipeStream is a Stream over what package net gives.
type pipeStream struct{ net.Conn }

func (s pipeStream) Interrupt() { _ = s.SetDeadline(time.Unix(1, 0)) }

// hangs reads and never answers.
func hangs(conn net.Conn) { io.Copy(io.Discard, conn) }

// answersAfter answers when d has passed since the request.
func answersAfter(d time.Duration, text string) func(net.Conn) {
	return func(conn net.Conn) {
		new(daemon).take(conn)
		time.Sleep(d)
		io.WriteString(conn, text)
	}
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
	slowInput := func(d time.Duration, text string) func() io.Reader {
		return func() io.Reader {
			r, w := io.Pipe()
			go func() {
				time.Sleep(d)
				io.WriteString(w, text)
				w.Close()
			}()
			return r
		}
	}
	now := func(text string) func() io.Reader { return func() io.Reader { return strings.NewReader(text) } }
	for _, c := range []struct {
		name  string
		agent string
		stdin func() io.Reader
		serve func(net.Conn)
		want  Outcome
		took  time.Duration
	}{
		{"ordinary, hanging", "claude-code", now(toolUse), hangs, Spooled, ordinaryBudget},
		{"ordinary, just in time", "claude-code", now(toolUse), answersAfter(ordinaryBudget-1, ok), Posted, ordinaryBudget - 1},
		{"ordinary, just too late", "claude-code", now(toolUse), answersAfter(ordinaryBudget+1, ok), Spooled, ordinaryBudget},
		{"a session's start, hanging", "claude-code", now(sessionStart), hangs, Spooled, contextBudget},
		{"a session's start of codex", "codex", now(sessionStart), answersAfter(time.Second, ok), Posted, time.Second},
		{"a session's start of an unknown agent", "other", now(sessionStart), hangs, Spooled, ordinaryBudget},
		{"a trickle", "claude-code", now(toolUse), func(conn net.Conn) {
			new(daemon).take(conn)
			for _, b := range []byte(ok) {
				time.Sleep(50 * time.Millisecond)
				if _, err := conn.Write([]byte{b}); err != nil {
					return
				}
			}
		}, Spooled, ordinaryBudget},
		{"the input is part of the budget", "claude-code", slowInput(100*time.Millisecond, toolUse), hangs, Spooled, ordinaryBudget},
		{"slow input leaves the least", "claude-code", slowInput(900*time.Millisecond, toolUse), hangs, Spooled, 900*time.Millisecond + minAnswerTime},
		{"very slow input, quick answer", "claude-code", slowInput(4*time.Second, toolUse), answersAfter(0, ok), Posted, 4 * time.Second},
		{"slow input, quick answer", "claude-code", slowInput(900*time.Millisecond, toolUse), answersAfter(0, ok), Posted, 900 * time.Millisecond},
		{"input too late", "claude-code", slowInput(time.Hour, toolUse), hangs, Lost, inputWait},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				r := runTimed(t, Config{Agent: c.agent, Home: home, Stdin: c.stdin(), Dial: dialPipe(c.serve)})
				took := time.Since(start)
				time.Sleep(2 * time.Hour) // the late input ends its reader
				if r.Outcome != c.want || took != c.took {
					t.Errorf("got %+v after %v, want %s after %v", r, took, c.want, c.took)
				}
			})
		})
	}
}

// TestOpenPipe covers agents that write a payload and keep the pipe.
func TestOpenPipe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want Outcome
	}{
		"a whole value":    {toolUse, Posted},
		"half a value":     {toolUse[:40], Spooled},
		"only white space": {"  \n", Nothing},
	} {
		home := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			r, w := io.Pipe()
			defer w.Close()
			go io.WriteString(w, c.text)
			res := runTimed(t, Config{Home: home, Stdin: r, Dial: dialPipe(answersAfter(0, "HTTP/1.1 204 OK\r\n\r\n"))})
			if res.Outcome != c.want {
				t.Errorf("%s: got %+v, want %s", name, res, c.want)
			}
		})
	}
}

func TestRunReturnsThoughStdoutHangs(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		defer r.Close()
		start := time.Now()
		res := runTimed(t, Config{
			Home: home, Stdin: strings.NewReader(toolUse), Stdout: w,
			Dial: dialPipe(answersAfter(0, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")),
		})
		if took := time.Since(start); res.Outcome != Abandoned || took != ordinaryBudget+diskWait {
			t.Errorf("got %+v after %v, want Abandoned after %v", res, took, ordinaryBudget+diskWait)
		}
	})
}

// TestAbandonedIsCounted where it may be lost, and not where it was answered.
func TestAbandonedIsCounted(t *testing.T) {
	t.Parallel()
	for want, dial := range []func(hang chan struct{}) func(context.Context) (Stream, error){
		func(chan struct{}) func(context.Context) (Stream, error) {
			return dialPipe(answersAfter(0, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"))
		},
		func(hang chan struct{}) func(context.Context) (Stream, error) {
			return func(context.Context) (Stream, error) {
				<-hang
				return nil, io.ErrClosedPipe
			}
		},
	} {
		home := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			hang := make(chan struct{})
			r, w := io.Pipe()
			res := runTimed(t, Config{Home: home, Stdin: strings.NewReader(toolUse), Stdout: w, Dial: dial(hang)})
			u, err := ReadUnanswered(home)
			if err != nil || res.Outcome != Abandoned || u.Lost != want {
				t.Errorf("got %+v, %+v, %v; want %d lost", res, u, err, want)
			}
			r.Close()
			close(hang)
		})
	}
}

func TestInterruptGoesToTheSpool(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		start := time.Now()
		r := runUntilAbandoned(ctx, Config{Agent: "codex", Home: home, Stdin: strings.NewReader(toolUse), Dial: dialPipe(hangs)})
		if took := time.Since(start); r.Outcome != Spooled || took != 10*time.Millisecond {
			t.Errorf("got %+v after %v, want Spooled at once", r, took)
		}
	})
}

func TestCrowdedSocketIsTriedAgain(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		dial := dialPipe(answersAfter(0, "HTTP/1.1 204 OK\r\n\r\n"))
		cfg := Config{Home: home, Stdin: strings.NewReader(toolUse), Dial: func(ctx context.Context) (Stream, error) {
			if tries++; tries < 4 {
				return nil, syscall.EAGAIN
			}
			return dial(ctx)
		}}
		start := time.Now()
		if r, took := runTimed(t, cfg), time.Since(start); r.Outcome != Posted || tries != 4 || took != 3*crowdedPause {
			t.Errorf("got %+v after %d tries and %v", r, tries, took)
		}
		cfg.Stdin, tries = strings.NewReader(toolUse), -1000
		start = time.Now()
		if r, took := runTimed(t, cfg), time.Since(start); r.Outcome != Spooled || took != ordinaryBudget {
			t.Errorf("got %+v after %v, want Spooled", r, took)
		}
	})
}

func TestSessionStartWaitsForTheDaemonItStarts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		upAfter time.Duration
		startup error
		answer  string
		payload string
		want    Outcome
		stdout  string
		took    time.Duration
		left    int
	}{
		{"up in time", 95 * time.Millisecond, nil, "200", sessionStart, Posted, "{}", 100 * time.Millisecond, 0},
		{"never up", time.Hour, nil, "200", sessionStart, Spooled, "", contextBudget - upPause, 1},
		{"busy for ever", 0, nil, "503", sessionStart, Spooled, "", contextBudget - upPause, 1},
		{"not startable", 0, errors.New("no cmemd"), "200", sessionStart, Spooled, "", 0, 1},
		{"ordinary hooks do not wait", 95 * time.Millisecond, nil, "200", toolUse, Spooled, "", 0, 1},
		{"refused", 15 * time.Millisecond, nil, "400", sessionStart, Refused, "", 20 * time.Millisecond, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				var up time.Time
				serve := dialPipe(answersAfter(0, "HTTP/1.1 "+c.answer+" X\r\nContent-Length: 2\r\n\r\n{}"))
				start := time.Now()
				r := runTimed(t, Config{
					Home: home, Stdin: strings.NewReader(c.payload), Stdout: &out,
					Start: func(string) error { up = time.Now().Add(c.upAfter); return c.startup },
					Dial: func(ctx context.Context) (Stream, error) {
						if up.IsZero() || time.Now().Before(up) {
							return nil, syscall.ENOENT
						}
						return serve(ctx)
					},
				})
				took, left := time.Since(start), len(waiting(t, home))
				if r.Outcome != c.want || out.String() != c.stdout || took != c.took || left != c.left {
					t.Errorf("got %+v, %q after %v with %d left; want %s, %q after %v with %d", r, out.String(), took, left, c.want, c.stdout, c.took, c.left)
				}
				if r.Started != (c.startup == nil) {
					t.Errorf("Started is %v", r.Started)
				}
			})
		})
	}
}

// TestNoBudgetIsNegative: such a one is the usual one.
func TestNoBudgetIsNegative(t *testing.T) {
	t.Parallel()
	h := newHook(Config{Agent: "claude-code", Home: t.TempDir(), Ordinary: -1, Context: -1, InputWait: -1, DiskWait: -1})
	got := []time.Duration{h.Ordinary, h.Context, h.InputWait, h.DiskWait}
	want := []time.Duration{ordinaryBudget, contextBudget, inputWait, diskWait}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
