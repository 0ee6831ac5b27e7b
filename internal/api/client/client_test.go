package client

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/testkit/socket"
)

// The socket that daemon.json names is called only where nobody else may have made it.
func TestClientOfAnAdvertisedSocket(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		mode os.FileMode
		want error
	}{{"ours alone", 0o700, nil}, {"anybody's", 0o777, relay.ErrSocketDir}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), socket.Dir(t)
			if err := os.Chmod(dir, c.mode); err != nil {
				t.Fatal(err)
			}
			socket := filepath.Join(dir, "s.sock")
			l, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
			note, err := json.Marshal(map[string]any{"socket": socket})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(home, "run"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, "run", "daemon.json"), note, 0o600); err != nil {
				t.Fatal(err)
			}
			conn, err := dialHome(t.Context(), home)
			if err == nil {
				conn.Close()
			}
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if c.want == nil {
				return
			}
			client := Dial(home)
			defer client.Close()
			if _, err := api.StatusRoute.Call(t.Context(), client, api.NoQuery{}); err == nil || !strings.HasPrefix(err.Error(), c.want.Error()) {
				t.Errorf("status: got %v, want %v first", err, c.want)
			}
		})
	}
}

// TestHomeThatIsAFile: nobody listens below a file.
func TestHomeThatIsAFile(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.WriteFile(home, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	client := Dial(home)
	defer client.Close()
	if err := client.Alive(t.Context()); !errors.Is(err, api.ErrNotRunning) {
		t.Errorf("got %v, want %v", err, api.ErrNotRunning)
	}
}
