package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// peers is how a store finds the others of its cluster; the zero value is a store by itself.
type peers struct {
	Number int      `json:"number"` // of this one, from 1
	Routes []string `json:"routes"` // HOST:PORT by which the stores reach each other, in the order of their numbers
	Secret string   `json:"secret"` // lets them into each other
}

// membership is what --dev writes to a member's standard input, as one line; the member ends when that input ends. It names no secret on
// a command line, and no member outlives whoever started it.
type membership struct {
	Dir    string `json:"dir"`
	Listen string `json:"listen"`
	Peers  peers  `json:"peers"`
}

// report is a line of a member's standard output: what it is joined by once it listens, then each change of the rest.
type report struct {
	Joining *joining `json:"joining,omitempty"`
	Leader  bool     `json:"leader"` // of the cluster, which knows all its members: spaces can be made
	Leads   int      `json:"leads"`  // so many spaces
}

const (
	clusterName = "cmemd-hubs"
	routeUser   = "cmemd"
	reportEvery = 100 * time.Millisecond
)

func nameOf(number int) string { return fmt.Sprint("cmemd-hub-", number) }

// set has options be those of a member. Its errors are of what --dev wrote.
func (p peers) set(options *server.Options) error {
	if p.Number == 0 {
		return nil
	}
	if p.Number > len(p.Routes) {
		return fmt.Errorf("%w: store %d of %d", errUsage, p.Number, len(p.Routes))
	}
	host, port, err := splitListen(p.Routes[p.Number-1])
	if err != nil {
		return err
	}
	options.ServerName = nameOf(p.Number)
	options.Cluster = server.ClusterOpts{Name: clusterName, Host: host, Port: port, Username: routeUser, Password: p.Secret}
	for _, to := range p.Routes {
		options.Routes = append(options.Routes, &url.URL{Scheme: "nats", User: url.UserPassword(routeUser, p.Secret), Host: to})
	}
	return nil
}

// runMember is one store of --dev's until ctx is done or stdin ends. Ctrl-C is for whoever started it.
func runMember(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	signal.Ignore(os.Interrupt)
	in := bufio.NewReader(stdin)
	line, err := in.ReadBytes('\n')
	var m membership
	if err == nil {
		err = json.Unmarshal(line, &m)
	}
	if err != nil {
		return fmt.Errorf("%w: --member is for --dev, which says on standard input what to be: %w", errUsage, err)
	}
	ctx, cancel := untilEnd(ctx, in)
	defer cancel()
	h, err := start(config{dir: m.Dir, listen: m.Listen, peers: m.Peers}, io.Discard) // what it says of the others coming and going
	if err != nil {
		return err
	}
	reported := make(chan error, 1)
	go func() {
		err := h.report(ctx, len(m.Peers.Routes), stdout)
		cancel()
		reported <- err
	}()
	err = h.wait(ctx)
	cancel()
	return errors.Join(err, <-reported, h.stop())
}

// report writes what changes until ctx is done.
func (h *hub) report(ctx context.Context, members int, stdout io.Writer) error {
	out := json.NewEncoder(stdout)
	last := report{Joining: &h.joining}
	err := out.Encode(last)
	look := time.NewTicker(reportEvery)
	defer look.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
		now := report{Leader: h.server.JetStreamIsLeader() && len(h.server.JetStreamClusterPeers()) == members, Leads: h.leads()}
		if now.Leader != last.Leader || now.Leads != last.Leads {
			err, last = out.Encode(now), now
		}
	}
	return err
}

// leads is how many spaces this store leads: whoever wants to see a leader go asks that.
func (h *hub) leads() (n int) {
	account, err := h.server.JszAccount(&server.JSzOptions{Account: h.server.GlobalAccount().Name, Streams: true})
	if err != nil { // nobody has stored anything yet
		return 0
	}
	for _, stream := range account.Streams {
		if h.server.JetStreamIsStreamLeader(account.Name, stream.Name) {
			n++
		}
	}
	return n
}
