package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
)

// Client asks a daemon: it is an api.Invoker, and reads and writes what comes in a stream. Errors of its methods are those of
// Invoke. It is safe for concurrent use. Nothing is dialled before the first call. A daemon that hangs is api.ErrNoAnswer.
type Client struct {
	http     *http.Client
	probe    *http.Client // asks whether the daemon is there, each time at a connection of its own
	base     string
	token    string
	timeouts timeouts
}

// dialTimeout is how long a daemon that listens may take to accept: its queue is full then.
const dialTimeout = 2 * time.Second

// Dial returns a client of the daemon of home: at the socket where it should be, else at the one it wrote down.
func Dial(home string) *Client {
	return newClient("http://cmemd", "", func(ctx context.Context) (net.Conn, error) { return dialHome(ctx, home) })
}

// DialSocket returns a client of the daemon that listens at the socket's path.
func DialSocket(path string) *Client {
	return newClient("http://cmemd", "", func(ctx context.Context) (net.Conn, error) { return dialUnix(ctx, path) })
}

// DialTCP returns a client of the daemon that listens at addr, "127.0.0.1:37911", and wants token.
func DialTCP(addr, token string) *Client {
	return newClient("http://"+addr, token, func(ctx context.Context) (net.Conn, error) {
		d := net.Dialer{Timeout: dialTimeout}
		return d.DialContext(ctx, "tcp", addr)
	})
}

func newClient(base, token string, dial func(context.Context) (net.Conn, error)) *Client {
	connect := func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
	t := &http.Transport{
		DialContext: connect, MaxIdleConnsPerHost: 16, IdleConnTimeout: 30 * time.Second, DisableCompression: true,
		ExpectContinueTimeout: 2 * time.Second,
	}
	// net/http frees the connection of a request whose answer has no body before that request has returned. Whoever is given the
	// connection and is cancelled at that moment, as probes are, ends the first request too: so probes take no used connection.
	once := &http.Transport{DialContext: connect, DisableKeepAlives: true}
	return &Client{
		http: &http.Client{Transport: t}, probe: &http.Client{Transport: once},
		base: base, token: token, timeouts: defaultTimeouts,
	}
}

// Close closes idle connections. A Client that is not closed holds them for half a minute.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func dialHome(ctx context.Context, home string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return relay.DialAt(home, func(socket string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	})
}

func dialUnix(ctx context.Context, path string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	return d.DialContext(ctx, "unix", path)
}

// absent reports whether err says that nobody listens: there is no socket, none can be, as in a home that is a file, or nobody has it.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ECONNREFUSED)
}

// Invoke implements api.Invoker.
func (c *Client) Invoke(ctx context.Context, e api.Endpoint, query, answer any, progress func(api.Progress)) error {
	var body io.Reader
	if api.HasBody(query) {
		b, err := json.Marshal(query)
		if err != nil {
			return fmt.Errorf("api: %s: %w", e.Path, err)
		}
		body = bytes.NewReader(b)
	}
	res, err := c.open(ctx, e, query, nil, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.Header.Get("Content-Type") == "text/event-stream" {
		return awaitResult(ctx, res.Body, progress, answer)
	}
	if done, ok := answer.(*api.Done); ok {
		*done = api.Done(res.StatusCode)
		return nil
	}
	return cut(ctx, json.NewDecoder(res.Body).Decode(answer))
}

// maxURL is the longest path with parameters, in bytes, of which a daemon surely says what is wrong: it reads 64 KiB of headers.
const maxURL = 48 << 10

// tooLong is the problem of a query with texts that are too long, as a daemon would say it; nil: it has none.
func tooLong(query any) *api.Problem {
	p := &api.Problem{Type: api.ProblemInvalid, Title: "The request is not valid", Status: http.StatusBadRequest}
	api.CheckLengths(query, func(name, format string, args ...any) {
		p.Errors = append(p.Errors, api.FieldError{Pointer: name, Detail: fmt.Sprintf(format, args...)})
	})
	if p.Errors == nil {
		return nil
	}
	return p
}

// open asks e for query and returns its answer, whose body the caller closes.
func (c *Client) open(ctx context.Context, e api.Endpoint, query any, header http.Header, body io.Reader) (*http.Response, error) {
	path, values := e.URL(query)
	if len(path)+len(values.Encode()) > maxURL {
		if p := tooLong(query); p != nil {
			return nil, p
		}
	}
	return c.Do(ctx, e.Method, path, values, header, body)
}

// Do sends a request that no other method makes. It returns a successful answer, whose body the caller closes; any other is a
// *api.Problem.
func (c *Client) Do(
	ctx context.Context, method, path string, query url.Values, header http.Header, body io.Reader,
) (*http.Response, error) {
	target := c.base + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	watched, w := c.timeouts.watch(ctx, c.isThere)
	req, err := http.NewRequestWithContext(watched, method, target, body)
	if err != nil {
		w.end()
		return nil, fmt.Errorf("api: %s: %w", path, err)
	}
	maps.Copy(req.Header, header)
	if body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	api.WriteFace(ctx, req.Header)
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		if w.hung() {
			err = api.ErrNoAnswer
		}
		w.end()
		return nil, transportError(ctx, path, err)
	}
	res.Body = &watchedBody{ReadCloser: res.Body, watch: w}
	if res.StatusCode/100 == 2 {
		return res, nil
	}
	defer res.Body.Close()
	return nil, problemOf(res)
}

// isThere asks the daemon whether it is there; any answer will do.
func (c *Client) isThere(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, api.HealthRoute.Method, c.base+api.HealthRoute.Path, nil)
	if err != nil {
		return err
	}
	res, err := c.probe.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

func transportError(ctx context.Context, path string, err error) error {
	var start *startError
	var asked *url.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &start):
		return fmt.Errorf("%w: %w", api.ErrNotRunning, start.err)
	case absent(err):
		return fmt.Errorf("%w (%w)", api.ErrNotRunning, err)
	case errors.Is(err, api.ErrNoAnswer), unaccepted(err):
		return api.ErrNoAnswer
	case errors.Is(err, relay.ErrSocketDir) && errors.As(err, &asked):
		return asked.Err // which path was asked for has nothing to do with it
	}
	return fmt.Errorf("api: %s: %w", path, err)
}

// maxProblem bounds what is read of an answer that is no success.
const maxProblem = 64 << 10

// problemOf reads the problem document of res, or makes one where something else answered.
func problemOf(res *http.Response) *api.Problem {
	p := &api.Problem{Title: http.StatusText(res.StatusCode), Type: "about:blank"}
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxProblem)) // what was cut is no document
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if kind != api.ProblemType || json.Unmarshal(body, p) != nil {
		p.Detail = "the answer is not cmemd's"
	}
	p.Status = res.StatusCode
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s > 0 {
		p.RetryAfter = time.Duration(s) * time.Second
	}
	return p
}

// startError is why no daemon could be started.
type startError struct{ err error }

func (e *startError) Error() string { return e.err.Error() }

func (e *startError) Unwrap() error { return e.err }
