package model

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"
)

// Endpoint is where a service is asked over HTTP, and with which key.
type Endpoint struct {
	URL       string            // the base of its API, without a query and without a user; empty: the service's own
	Key       *Key              // nil: none is sent
	Transport http.RoundTripper // nil: one of its own, by the next two

	Proxy func(*http.Request) (*url.URL, error) // nil: none, whatever the environment says
	Roots *x509.CertPool                        // authorities that are trusted; nil: those of the system
}

// Check refuses a URL that no service can be asked at, or that holds a secret. The error does not repeat the URL.
func (e Endpoint) Check() error {
	if e.URL == "" {
		return nil
	}
	switch u, err := url.Parse(e.URL); {
	case err != nil:
		return errors.New("model: the base URL is not one")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("model: the base URL does not begin with http:// or https:// and a host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("model: the base URL has a user or a query; a key belongs in the setting for keys")
	}
	return nil
}

// Service is what all requests to one service have in common.
type Service struct {
	Name      string      // in errors
	URL       string      // the base of its own API; empty: it has none, and an Endpoint names one
	KeyHeader string      // takes the key, with "Bearer " before it where it is Authorization
	Header    http.Header // of every request; may be nil
}

// Client asks one model of a service that speaks JSON over HTTP. Whoever embeds one knows how to ask and what an answer says.
// It follows no redirection, which could carry the key elsewhere. It is safe for concurrent use.
type Client struct {
	service Service
	model   string
	key     *Key
	base    *url.URL
	http    *http.Client
}

// NewClient checks what it is given and returns a client that has connected to nothing yet. Close its idle connections when
// it is not needed any more.
func NewClient(s Service, model string, e Endpoint) (*Client, error) {
	if model == "" {
		return nil, fmt.Errorf("%s: no model is named", s.Name)
	}
	if err := e.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	base, err := url.Parse(cmp.Or(e.URL, s.URL))
	if err != nil {
		return nil, fmt.Errorf("%s: the base URL is not one", s.Name)
	}
	c := &Client{service: s, model: model, key: e.Key, base: base, http: &http.Client{Transport: e.Transport}}
	if e.Transport == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.MaxIdleConnsPerHost, own.Proxy = 4, e.Proxy
		own.TLSClientConfig = &tls.Config{RootCAs: e.Roots}
		own.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pongWithin}
		c.http.Transport = own
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// Model names what is asked.
func (c *Client) Model() string { return c.model }

// Host is where questions go.
func (c *Client) Host() string { return c.base.Host }

// CloseIdleConnections closes what is kept open for the next question.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// A connection of HTTP/2 through which nothing came for pingAfter is asked for a sign of life. Without one within pongWithin it is
// closed, and the turn, which has a minute, asks again over another one. The system itself takes a quarter of an hour to give up a
// connection that died without a word, as where a machine slept or changed its network.
const (
	pingAfter  = 15 * time.Second
	pongWithin = 10 * time.Second
)

const (
	maxBody      = 4 << 20  // bytes of an answer: many times the longest text that is taken, with what is around it
	maxErrorBody = 64 << 10 // bytes of a refusal that are read for its words
)

// Post sends asked as JSON to a path below the base of the API, with the key.
func (c *Client) Post(ctx context.Context, path string, payload any) *Response {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false) // the same words in fewer bytes
	if err := e.Encode(payload); err != nil {
		return &Response{key: c.key, err: err}
	}
	return c.request(ctx, http.MethodPost, path, &body)
}

// Get reads what stands at a path below the base of the API, with the key.
func (c *Client) Get(ctx context.Context, path string) *Response {
	return c.request(ctx, http.MethodGet, path, nil)
}

func (c *Client) request(ctx context.Context, method, path string, body io.Reader) *Response {
	r := &Response{key: c.key}
	request, err := c.signed(ctx, method, path, body)
	if err != nil {
		r.err = err
		return r
	}
	r.sent++
	response, err := c.http.Do(request)
	if err != nil {
		r.err = err
		return r
	}
	defer response.Body.Close()
	r.Status, r.header = response.StatusCode, response.Header
	if r.Status >= 300 && r.Status < 400 { // its body is of the other address
		return r
	}
	read, err := io.ReadAll(http.MaxBytesReader(nil, response.Body, maxBody))
	if r.Status >= 300 {
		r.refusal = read[:min(len(read), maxErrorBody)]
		return r
	}
	r.Body, r.err = read, err
	return r
}

// signed is a request with the key in its header. The error is that of Key.Get, or of what is no request.
func (c *Client) signed(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(path).String(), body)
	if err != nil {
		return nil, err
	}
	maps.Copy(r.Header, c.service.Header)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if c.key == nil {
		return r, nil
	}
	key, err := c.key.Get(ctx)
	if err != nil {
		return nil, err
	}
	if c.service.KeyHeader == "Authorization" {
		key = "Bearer " + key
	}
	r.Header.Set(c.service.KeyHeader, key)
	return r, nil
}
