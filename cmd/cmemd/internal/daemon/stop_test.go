package daemon

import (
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/internal/api/client"
)

// TestStopOfWhoDoesNotSayWhoItIs: where something refuses at the socket, and nothing tells which process that is, stop says why it refused.
func TestStopOfWhoDoesNotSayWhoItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	c := client.DialSocket(filepath.Join(dir, "s"))
	defer c.Close()
	pid, err := Stop(t.Context(), c, homedir.Paths{Daemon: filepath.Join(dir, "daemon")}, true)
	if pid != 0 || err == nil || !strings.Contains(err.Error(), "418") {
		t.Errorf("got pid %d, %v", pid, err)
	}
}
