package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

const secret = "sk-test-0123456789"

func key(t *testing.T, s model.KeySource) *model.Key {
	t.Helper()
	k, err := model.NewKey(s)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// mustWrite writes a file of a mode and returns its name.
func mustWrite(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestKeyHasOneSource(t *testing.T) {
	t.Parallel()
	for _, s := range []model.KeySource{
		{}, {Env: "A", Getenv: os.Getenv, File: "f"}, {File: "f", Command: []string{"c"}}, {Env: "A"},
	} {
		if k, err := model.NewKey(s); err == nil {
			t.Errorf("%v: got no error", k)
		}
	}
}

// TestKeys holds the sources to what they give, and to what they say where they give nothing: what is wrong, never what
// was read.
func TestKeys(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes and commands are those of Unix")
	}
	env := func(value string) model.KeySource {
		return model.KeySource{Env: "TEST_KEY", Getenv: func(name string) string {
			return map[string]string{"TEST_KEY": value}[name]
		}}
	}
	sh := func(script string) model.KeySource { return model.KeySource{Command: []string{"sh", "-c", script}} }
	for name, tc := range map[string]struct {
		from model.KeySource
		want string // the key, or what the error says
	}{
		"variable":          {env(secret), secret},
		"variable, spaces":  {env(" " + secret + "\n"), secret},
		"variable, not set": {env(""), "no key from the variable TEST_KEY: it is not set or empty"},
		"variable, phrase":  {env(secret + " and more"), "no key from the variable TEST_KEY: it holds more than a key"},
		"variable, control": {env(secret + "\x00"), "it holds more than a key"},
		"file":              {model.KeySource{File: mustWrite(t, secret+"\n", 0o600)}, secret},
		"file, read-only":   {model.KeySource{File: mustWrite(t, secret+"\n# mine", 0o400)}, secret},
		"file, for all":     {model.KeySource{File: mustWrite(t, secret, 0o644)}, "its mode is 0644, so that others may read it; make it 0600"},
		"file, for a group": {model.KeySource{File: mustWrite(t, secret, 0o640)}, "its mode is 0640"},
		"file, empty":       {model.KeySource{File: mustWrite(t, "\n", 0o600)}, "it is not set or empty"},
		"file, absent":      {model.KeySource{File: "/nowhere/key"}, "no key from the file /nowhere/key: no such file"},
		"file, a folder":    {model.KeySource{File: t.TempDir()}, "not a regular file"},
		"command":           {sh("echo " + secret), secret},
		"command, status":   {sh("echo " + secret + "; echo " + secret + " >&2; exit 3"), "no key from the command sh: it ended with status 3"},
		"command, silent":   {sh("true"), "it is not set or empty"},
		"command, absent":   {model.KeySource{Command: []string{"/nowhere/pass", secret}}, "no key from the command /nowhere/pass"},
		"command, endless":  {sh("yes " + secret + " | head -c 100000"), secret},
		"command, a child":  {sh("sleep 2 & echo " + secret), secret},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := key(t, tc.from).Get(t.Context())
			if tc.want == secret {
				if got != secret || err != nil {
					t.Errorf("got %q, %v, want the key", got, err)
				}
				return
			}
			f, ok := errors.AsType[*observer.Failure](err)
			if !ok || f.Class != events.FailSetup || !strings.Contains(f.Message, tc.want) || strings.Contains(fmt.Sprintf("%+v", f), secret) {
				t.Errorf("got %q, %v, want setup with %q", got, err, tc.want)
			}
		})
	}
}

// TestKeyIsReadOnce, by whoever needs it first, and once more after it was forgotten.
func TestKeyIsReadOnce(t *testing.T) {
	t.Parallel()
	reads := 0
	k := key(t, model.KeySource{Env: "K", Getenv: func(string) string { reads++; return fmt.Sprint("key", reads) }})
	if reads != 0 {
		t.Error("it was read before it was needed")
	}
	ask := func(want string) {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if got, err := k.Get(t.Context()); got != want || err != nil {
					t.Errorf("got %q, %v, want %q", got, err, want)
				}
			})
		}
		all.Wait()
	}
	ask("key1")
	k.Forget()
	ask("key2")
	(*model.Key)(nil).Forget()
}

// TestKeyCommandIsStopped: it ends with the turn that needs it.
func TestKeyCommandIsStopped(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the command is one of Unix")
	}
	k := key(t, model.KeySource{Command: []string{"sleep", "60"}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := k.Get(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want the deadline", err)
			}
		})
	}
	all.Wait()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestKeyCommandHasFiveSeconds runs while the other tests do.
func TestKeyCommandHasFiveSeconds(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || testing.Short() {
		t.Skip("it takes five seconds, and the command is one of Unix")
	}
	began := time.Now()
	_, err := key(t, model.KeySource{Command: []string{"sleep", "60"}}).Get(t.Context())
	f, ok := errors.AsType[*observer.Failure](err)
	if took := time.Since(began); !ok || f.Class != events.FailSetup || took < 5*time.Second || took > 30*time.Second {
		t.Errorf("got %v after %v", err, took)
	}
}

// TestKeyIsNotShown prints and logs a key that was read, alone and inside other things.
func TestKeyIsNotShown(t *testing.T) {
	t.Parallel()
	k := key(t, model.KeySource{Env: "K", Getenv: func(string) string { return secret }})
	if _, err := k.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	e := model.Endpoint{Key: k}
	within := struct{ key *model.Key }{k}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		_, _ = fmt.Fprintf(&out, verb+verb+verb, k, e, within)
	}
	b, err := json.Marshal(e.Key)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(b)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "key", k, "endpoint", e)
	for _, told := range []string{secret, fmt.Sprintf("%x", secret)} {
		if strings.Contains(out.String(), told) {
			t.Errorf("it is told: %s", out.String())
		}
	}
	if k.String() != "the variable K" || !strings.Contains(out.String(), "the variable K") {
		t.Errorf("got %q and %q, want where it comes from", k, out.String())
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	for url, ok := range map[string]bool{
		"": true, "https://api.example.com": true, "http://127.0.0.1:11434/v1": true, "ftp://x": false, "api.example.com": false,
		"https://": false, "https://x/?key=" + secret: false, "https://me:" + secret + "@x": false, "https://x/#" + secret: false,
		"https://x/%zz" + secret: false, "http://[::1]:1/": true,
	} {
		err := model.Endpoint{URL: url}.Check()
		if (err == nil) != ok || err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v, want it taken: %t", url, err, ok)
		}
	}
}
