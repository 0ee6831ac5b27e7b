package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/share/store/jet"
)

const (
	readyIn      = time.Minute      // a store of some gigabytes is read in seconds
	lookEvery    = 2 * time.Second  // whether the server still keeps objects
	minFree      = uint64(64 << 20) // bytes below which a hub ends, as the log refuses more below as many
	writeFor     = time.Minute      // 512 KiB take 6 s at 1 Mbit/s, encoded
	handshakeFor = 10.              // seconds; NATS has 2, too few for a machine that wakes up
	memoryBytes  = int64(256 << 20) // for what watches have; objects are files
)

// hub is a server that runs.
type hub struct {
	server  *server.Server
	lock    *os.File
	joining joining
	minFree uint64 // bytes; another in tests
}

var (
	// errFull ends a hub before its disk is full: then the server inside would go on, and answer nothing.
	errFull = errors.New("less than 64 MiB are free on the hub's disk: make room, then start the hub again; nothing that it answered is lost")
	// errGaveUp ends a hub whose server no longer keeps objects, or ended.
	errGaveUp = errors.New("the server inside gave up keeping objects: start the hub again; nothing that it answered is lost")
)

// start starts a server in a folder that no other hub has, and returns when machines can join.
func start(c config, stderr io.Writer) (*hub, error) {
	host, port, err := splitListen(c.listen)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) { // a hub that may not run makes no folder
		if err := cmp.Or(mayListen(host, cmp.Or(port, server.RANDOM_PORT)), hasRoom(filepath.Dir(dir), minFree)); err != nil {
			return nil, err
		}
	}
	id, lock, err := prepare(dir)
	if err != nil {
		return nil, err
	}
	if err := hasRoom(dir, minFree); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	old, err := filepath.Glob(filepath.Join(dir, "jetstream", "*", "streams", "*"))
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	options := optionsOf(id, host, port, dir)
	if err := c.peers.set(options); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	s, err := serve(options, stderr)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	h := &hub{server: s, lock: lock, minFree: minFree}
	h.joining = joiningOf(id, c.advertise, h.addr(), dir)
	h.joining.used = len(old) > 0
	return h, nil
}

func splitListen(listen string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(listen)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("%w: --listen %q is not HOST:PORT, such as :4222 or 192.168.1.5:4222", errUsage, listen)
	}
	return host, port, nil
}

// optionsOf is how the server is run: one server by itself, whose every answer is on disk.
func optionsOf(id identity, host string, port int, dir string) *server.Options {
	return &server.Options{
		ServerName: "cmemd-hub", Host: host, Port: cmp.Or(port, server.RANDOM_PORT), // no host is every interface with an IPv4 address
		Authorization: id.token,
		TLSConfig:     &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{id.cert}},
		TLSTimeout:    handshakeFor, AuthTimeout: handshakeFor, WriteDeadline: writeFor,
		JetStream: true, StoreDir: dir, SyncAlways: true, JetStreamMaxMemory: memoryBytes,
		NoSigs: true, DisableJetStreamBanner: true,
	}
}

func serve(options *server.Options, stderr io.Writer) (*server.Server, error) {
	if err := mayListen(options.Host, options.Port); err != nil {
		return nil, err
	}
	s, err := server.NewServer(options)
	if err != nil {
		return nil, err
	}
	log := &logger{log: slog.New(slog.NewTextHandler(stderr, nil))}
	s.SetLogger(log, false, false)
	s.Start()
	if !s.ReadyForConnections(readyIn) || !s.JetStreamEnabled() {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("the server did not start: %s", log.last())
	}
	return s, nil
}

// mayListen returns an error where an address is taken or not this machine's: the server would try it for a minute.
func mayListen(host string, port int) error {
	if port == server.RANDOM_PORT {
		return nil
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("%w: end what listens there, or choose another address with --listen HOST:PORT", err)
	}
	return l.Close()
}

func (h *hub) addr() *net.TCPAddr {
	addr, _ := h.server.Addr().(*net.TCPAddr) // it listens on TCP
	return addr
}

// wait returns when ctx is done, and an error where the server ended by itself or gave up keeping objects.
func (h *hub) wait(ctx context.Context) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
			if err := hasRoom(h.joining.Dir, h.minFree); err != nil {
				return err
			}
			if !h.server.Running() || !h.server.JetStreamEnabled() {
				return errGaveUp
			}
		}
	}
}

// hasRoom returns errFull if fewer bytes are free where dir is. Where that cannot be told there is room.
func hasRoom(dir string, bytes uint64) error {
	if free, err := eventlog.FreeBytes(dir); err == nil && free < bytes {
		return errFull
	}
	return nil
}

// stop returns when all that was answered is on disk, and nothing of the server runs.
func (h *hub) stop() error {
	h.server.Shutdown()
	h.server.WaitForShutdown()
	return h.lock.Close()
}

// joiningOf is what to join with: an address for each host by which others may reach this one.
func joiningOf(id identity, advertise []string, addr *net.TCPAddr, dir string) joining {
	if len(advertise) == 0 {
		advertise = hostsOf(addr.IP)
	}
	pin, port := jet.Fingerprint(id.cert.Leaf), strconv.Itoa(addr.Port)
	var all []string
	for _, host := range advertise {
		u := url.URL{Scheme: "nats", User: url.User(id.token), Host: net.JoinHostPort(host, port)}
		all = append(all, jet.Address{URL: u, Pin: pin}.String())
	}
	return joining{Address: strings.Join(all, ","), Listen: addr.String(), Pin: pinText(pin), Dir: dir}
}

// hostsOf is where a server that listens on ip is reached from elsewhere: there, or where ip is every interface, under this machine's
// name and its first address that is neither loopback nor of one link alone.
func hostsOf(ip net.IP) []string {
	if !ip.IsUnspecified() {
		return []string{ip.String()}
	}
	var hosts []string
	if name, err := os.Hostname(); err == nil && name != "" {
		hosts = append(hosts, name)
	}
	addrs, _ := net.InterfaceAddrs() // without them the name is all there is
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			return append(hosts, n.IP.String())
		}
	}
	if len(hosts) == 0 {
		hosts = []string{"localhost"}
	}
	return hosts
}
