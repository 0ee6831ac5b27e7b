package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/eventlog/share/store/jet"
	"github.com/cmemd/cmemd/internal/transient"
	"github.com/cmemd/cmemd/testkit/storetest"
)

// cluster is servers of which three keep each object, with an account for each place of the suite.
type cluster struct{ servers []*server.Server }

const accounts = 30

func startCluster(t testing.TB, servers int) *cluster {
	t.Helper()
	var routes []string
	var ports []int
	for range servers {
		port := freePort(t)
		ports, routes = append(ports, port), append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	c := &cluster{}
	for i, port := range ports {
		s := newServer(t, fmt.Sprintf("server_name: hub%d\ncluster { name: hubs, listen: 127.0.0.1:%d, routes: [%s] }\n",
			i, port, strings.Join(routes, ", ")))
		c.servers = append(c.servers, s)
		t.Cleanup(func() {
			s.Shutdown()
			s.WaitForShutdown()
		})
	}
	for _, s := range c.servers {
		s.Start()
	}
	for until := time.Now().Add(time.Minute); !c.ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the cluster never had a leader")
		}
	}
	return c
}

// newServer is a server of that configuration and what all of them have.
func newServer(t testing.TB, text string) *server.Server {
	t.Helper()
	dir := t.TempDir()
	text += fmt.Sprintf("listen: 127.0.0.1:-1\njetstream { store_dir: %q, sync_interval: always }\naccounts {\n", dir)
	for n := range accounts {
		text += fmt.Sprintf("  A%d { jetstream: enabled, users: [ { user: u%d, password: word } ] }\n", n, n)
	}
	path := filepath.Join(dir, "server.conf")
	if err := os.WriteFile(path, []byte(text+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	options, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatal(err)
	}
	options.NoSigs, options.NoLog = true, true
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ready reports whether there is a leader that knows all servers.
func (c *cluster) ready() bool {
	for _, s := range c.servers {
		if s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) == len(c.servers) {
			return true
		}
	}
	return false
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (c *cluster) open(t testing.TB, config jet.Config, account int, servers ...*server.Server) *jet.Jet {
	t.Helper()
	var addresses []string
	for _, s := range servers {
		addresses = append(addresses, fmt.Sprintf("nats://u%d:word@%s", account, s.Addr()))
	}
	j, err := jet.Open(strings.Join(addresses, ","), config)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestCluster runs the suite over three servers, each connection being to the next one of them, so that most are not to the leader.
func TestCluster(t *testing.T) {
	t.Parallel()
	c, places := startCluster(t, 3), 0
	storetest.Run(t, func(testing.TB) storetest.Place {
		account, opened := places, 0
		places++
		return storetest.Place{Open: func(t testing.TB) store.Store {
			opened++
			return c.open(t, jet.Config{Timeout: time.Minute}, account, c.servers[opened%len(c.servers)])
		}}
	})
}

// TestLeaderGone ends the leader of a space in order while machines write: puts go on, and nothing that was answered is missing. Nobody was
// told how many servers are to keep a space: in a cluster it is on three.
func TestLeaderGone(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 3)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	w := newWriters(t, ctx, func() *jet.Jet { return c.open(t, jet.Config{}, 0, c.servers...) }, 4)
	w.await(t, ctx, 100)
	for i, s := range c.servers {
		if s.JetStreamIsStreamLeader("A0", "cm-kill") {
			began := time.Now()
			s.Shutdown()
			s.WaitForShutdown()
			c.servers = append(c.servers[:i:i], c.servers[i+1:]...)
			w.await(t, ctx, len(w.lines)+1)
			t.Logf("puts went on %v after the leader was told to go", time.Since(began).Round(time.Millisecond))
			break
		}
	}
	if len(c.servers) != 2 {
		t.Fatal("the space had no leader")
	}
	w.await(t, ctx, 100)
	w.stop()
	s := c.open(t, jet.Config{}, 0, c.servers...)
	defer s.Close()
	w.ledger.Check(ctx, t, s)
	t.Logf("%d objects", len(w.ledger.Created()))
	if _, err := s.Create(ctx, "new/a", nil); err != nil {
		t.Errorf("a new space while one of three servers is away: %v", err)
	}
}

// TestFewServers: a cluster that cannot keep a space on three servers makes none, and says so.
func TestFewServers(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2)
	s := c.open(t, jet.Config{}, 0, c.servers...)
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := s.Create(ctx, "few/a", nil); !transient.Is(err) || !strings.Contains(err.Error(), "start the others") {
		t.Errorf("a new space on two servers: %v", err)
	}
}
