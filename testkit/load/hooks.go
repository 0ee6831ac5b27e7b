package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cmemd/cmemd/internal/agents/relay"
)

// posting is one measurement of the hook route.
type posting struct {
	home                       string
	n, posters, sessions, size int
	fresh                      bool
}

// posted is what came of it.
type posted struct {
	Accepted  int     `json:"accepted"`
	Refused   int     `json:"refused"` // 503: the door is full
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"accepted_per_second"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
}

// post sends p.n tool uses from p.posters goroutines. A payload that is refused is sent again, as the spool would.
func post(ctx context.Context, p posting) (posted, error) {
	socket := relay.SocketPath(p.home)
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
		MaxIdleConnsPerHost: p.posters, DisableKeepAlives: p.fresh,
	}}
	var next, refused atomic.Int64
	times := make([][]time.Duration, p.posters)
	errs := make([]error, p.posters)
	began := time.Now()
	var wg sync.WaitGroup
	for w := range p.posters {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(p.n) && errs[w] == nil; i = next.Add(1) {
				at := time.Now()
				errs[w] = p.one(ctx, client, int(i), w, &refused)
				times[w] = append(times[w], time.Since(at))
			}
		})
	}
	wg.Wait()
	took := time.Since(began).Seconds()
	for _, err := range errs {
		if err != nil {
			return posted{}, err
		}
	}
	all := slices.Concat(times...)
	slices.Sort(all)
	ms := func(q float64) float64 { return float64(all[int(q*float64(len(all)-1))].Microseconds()) / 1000 }
	return posted{p.n, int(refused.Load()), took, float64(p.n) / took, ms(.5), ms(.99)}, nil
}

func (p posting) one(ctx context.Context, c *http.Client, i, w int, refused *atomic.Int64) error {
	body := p.payload(i, w%p.sessions)
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://cmemd/v1/hooks/claude-code", bytes.NewReader(body))
		if err != nil {
			return err
		}
		resp, err := c.Do(req)
		if err != nil {
			return err
		}
		said, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		switch {
		case err != nil:
			return err
		case resp.StatusCode == http.StatusServiceUnavailable:
			refused.Add(1)
			time.Sleep(5 * time.Millisecond)
			continue
		case resp.StatusCode >= 300:
			return fmt.Errorf("status %d: %s", resp.StatusCode, said)
		}
		return nil
	}
}

// payload is a PostToolUse of about p.size bytes, of words that differ from one to the next.
func (p posting) payload(i, session int) []byte {
	head := fmt.Sprintf(`{"session_id":"load-%d","transcript_path":"/tmp/load.jsonl","cwd":"/tmp","hook_event_name":"PostToolUse",`+
		`"tool_name":"Bash","tool_input":{"command":"grep -n budget%d queue/retry.go"},"tool_use_id":"toolu_%d_%d","tool_response":{"stdout":"`,
		session, i, time.Now().UnixNano(), i)
	const tail = `","stderr":"","interrupted":false},"duration_ms":12}`
	var text strings.Builder
	for k := i; text.Len() < p.size-len(head)-len(tail); k++ {
		fmt.Fprintf(&text, "line %d: attempt %x of delivery %d; ", k, k*2654435761, i)
	}
	return []byte(head + text.String() + tail)
}
