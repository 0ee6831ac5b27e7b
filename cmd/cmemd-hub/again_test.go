package main

import (
	"bytes"
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/store/jet"
)

// TestPortTaken: it is said at once, with what to do.
func TestPortTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	began := time.Now()
	_, err = start(config{dir: filepath.Join(t.TempDir(), "hub"), listen: l.Addr().String()}, t.Output())
	if err == nil || !strings.Contains(err.Error(), "choose another address with --listen") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > readyIn/2 {
		t.Errorf("it took %s", took)
	}
}

// TestSecondStart: a hub in which there is a space does not print what is of no use there, and lets in whoever reads it.
func TestSecondStart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hub")
	h := startHub(t, dir, "127.0.0.1:0")
	s, err := jet.Open(h.joining.Address, jet.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), "s/now/space", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if err := run(ctx, []string{"--dir", dir, "--listen", "127.0.0.1:0"}, &out, t.Output()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "`cmemd invite`") || strings.Contains(out.String(), "nats://") {
		t.Errorf("got %q", out.String())
	}
}
