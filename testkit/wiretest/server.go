package wiretest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Answer is what a Server sends for one request.
type Answer struct {
	Status int // 0: 200
	Header map[string]string
	Body   string
	Pieces []int         // where the body is split; each piece is flushed
	Each   int           // else the bytes of a piece; 0: all at once
	Pause  time.Duration // behind each piece
	End    End
}

// JSON is a whole answer that holds v.
func JSON(v any) Answer {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return Answer{Header: map[string]string{"Content-Type": "application/json; charset=utf-8"}, Body: string(b)}
}

// Parsed is what a text holds as JSON, to be compared without regard to the order of members.
func Parsed(tb testing.TB, text string) (v any) {
	tb.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		tb.Fatal(err)
	}
	return v
}

// End is what a Server does when it has sent the body of an Answer.
type End int

// The ends.
const (
	Whole End = iota // as it should
	Cut              // breaks the connection
	Short            // closes it, having promised neither a length nor an end: what a proxy of old does
	Hang             // sends nothing more until the client goes
)

// Request is what a Server was asked.
type Request struct {
	URL    string
	Header http.Header
	Body   string
}

// Server is an HTTP server on loopback with scripted answers. It is safe for concurrent use.
type Server struct {
	URL string

	server *httptest.Server
	gone   chan struct{}

	mu       sync.Mutex // guards the fields below
	answers  []Answer
	requests []Request
	get      Answer
	gets     int
}

// MustServe starts a server that gives one answer a request, and the last one ever after. It ends with the test, or
// earlier by Close.
func MustServe(tb testing.TB, answers ...Answer) *Server {
	tb.Helper()
	s := &Server{answers: answers, gone: make(chan struct{}), get: Answer{Status: http.StatusNotFound}}
	s.server = httptest.NewServer(s)
	s.URL = s.server.URL
	tb.Cleanup(s.Close)
	return s
}

// Close stops the server and waits for what it is sending. It may be called again.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.gone:
	default:
		close(s.gone)
	}
	s.mu.Unlock()
	s.server.Close()
}

// Script gives the server other answers, from the next request on.
func (s *Server) Script(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers, s.requests = answers, nil
}

// AnswerGets sets the answer to every GET, by which askers ask what there is; without it there is nothing (404). Those are no
// questions: they take no answer of the script, and are not among Requests.
func (s *Server) AnswerGets(a Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.get = a
}

// Gets counts the GETs so far.
func (s *Server) Gets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gets
}

// Requests lists what the server was asked since its script began.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// ServeHTTP sends the answer that is due.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a := s.next(r.Method, Request{URL: r.URL.String(), Header: r.Header, Body: string(body)})
	if a.End == Short {
		sendShort(w, a)
		return
	}
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status())
	for _, piece := range a.pieces() {
		_, _ = io.WriteString(w, piece)
		w.(http.Flusher).Flush()
		s.pause(r, a.Pause)
	}
	switch a.End {
	case Cut:
		panic(http.ErrAbortHandler)
	case Hang:
		s.pause(r, time.Minute)
	}
}

// pause waits for d, or until the client or the server goes.
func (s *Server) pause(r *http.Request, d time.Duration) {
	if d == 0 {
		return
	}
	select {
	case <-r.Context().Done():
	case <-s.gone:
	case <-time.After(d):
	}
}

func (s *Server) next(method string, r Request) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if method == http.MethodGet {
		s.gets++
		return s.get
	}
	s.requests = append(s.requests, r)
	if len(s.answers) == 0 {
		return Answer{Status: http.StatusTeapot}
	}
	return s.answers[min(len(s.requests), len(s.answers))-1]
}

// sendShort writes the answer by hand, because the library always says how long it is.
func sendShort(w http.ResponseWriter, a Answer) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nConnection: close\r\n", a.status(), http.StatusText(a.status()))
	for name, value := range a.Header {
		_, _ = fmt.Fprintf(conn, "%s: %s\r\n", name, value)
	}
	_, _ = io.WriteString(conn, "\r\n"+a.Body)
}

func (a Answer) status() int {
	if a.Status == 0 {
		return http.StatusOK
	}
	return a.Status
}

func (a Answer) pieces() []string {
	borders := a.Pieces
	if len(borders) == 0 && a.Each > 0 {
		for i := a.Each; i < len(a.Body); i += a.Each {
			borders = append(borders, i)
		}
	}
	var list []string
	from := 0
	for _, to := range append(append([]int(nil), borders...), len(a.Body)) {
		list = append(list, a.Body[from:to])
		from = to
	}
	return list
}

// until is a with only the first n bytes of its body, and another end.
func (a Answer) until(n int, end End) Answer {
	a.Body, a.End = a.Body[:n], end
	return a
}

// with is a with one header more.
func (a Answer) with(name, value string) Answer {
	header := map[string]string{name: value}
	maps.Copy(header, a.Header)
	a.Header = header
	return a
}
