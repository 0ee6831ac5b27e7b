package storetest

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// echo answers each connection with what it sends.
func echo(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	return l.Addr().String()
}

// TestProxySlows: what a slow proxy carries is the same, and takes as long as it has to; a cut one refuses.
func TestProxySlows(t *testing.T) {
	t.Parallel()
	p := NewProxy(t, echo(t))
	p.Slow(50*time.Millisecond, 100<<10)
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sent := bytes.Repeat([]byte("0123456789abcdef"), 20<<10/16)
	began := time.Now()
	if _, err := c.Write(sent); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("got other bytes, %v", err)
	}
	if took := time.Since(began); took < 250*time.Millisecond { // 100 ms there and back, and four of five pieces of 40 ms
		t.Errorf("20 KiB went there and back in %v", took)
	}
	p.Set(Cut)
	if _, err := io.ReadFull(c, got[:1]); err == nil {
		t.Error("a cut connection goes on")
	}
	again, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := again.Read(got[:1]); err == nil {
		t.Error("a connection is accepted while it is cut")
	}
}
