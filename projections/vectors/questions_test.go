package vectors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// clocked is an endpoint that takes its time.
type clocked struct {
	takes time.Duration
	fails error
	asked atomic.Int32
}

func (c *clocked) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	c.asked.Add(1)
	select {
	case <-time.After(c.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.fails != nil {
		return nil, c.fails
	}
	return [][]float32{hashed(texts[0], 8)}, nil
}

// asking is Vectors that can be asked questions, and nothing else.
func asking(e Embedder) *Vectors {
	c := Config{Embedder: e, Redact: func(s string) string { return s }}.withDefaults()
	return &Vectors{cfg: c, queries: newQuestions(c)}
}

// remembers reports whether the vector of a text is there without asking for it.
func (q *questions) remembers(text string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.asked, func(a *asked) bool { return a.text == text && a.vector != nil })
}

// TestSlowAnswers: what comes later than a search waits is there for the next that asks the same; it pauses nothing.
func TestSlowAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &clocked{takes: 500 * time.Millisecond}
		v := asking(e)
		defer v.queries.close()
		began := time.Now()
		_, err := v.question(t.Context(), "slow")
		if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "no answer within 300ms") || took != 300*time.Millisecond {
			t.Fatalf("first: %v after %s", err, took)
		}
		if vector, err := v.question(t.Context(), "slow"); err != nil || vector == nil || time.Since(began) != e.takes || e.asked.Load() != 1 {
			t.Errorf("the same while it is asked for: %v, %v after %s, asked %d times", vector, err, time.Since(began), e.asked.Load())
		}
		if _, err := v.question(t.Context(), "slow"); err != nil || time.Since(began) != e.takes || e.asked.Load() != 1 {
			t.Errorf("the same later: %v after %s, asked %d times", err, time.Since(began), e.asked.Load())
		}
		if _, err := v.question(t.Context(), "other"); err == nil || v.queries.pause.line() != "" {
			t.Errorf("another question: %v, pause %q", err, v.queries.pause.line())
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, err := v.question(gone, "third"); !errors.Is(err, context.Canceled) {
			t.Errorf("who asked is gone: %v", err)
		}
		time.Sleep(time.Second)
		for _, text := range []string{"other", "third"} {
			if !v.queries.remembers(text) {
				t.Errorf("the answer to %q is lost", text)
			}
		}
	})
}

// TestHangingEndpoint: one that never answers is asked a few questions, and left alone after its time is over.
func TestHangingEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &clocked{takes: time.Hour}
		v := asking(e)
		for i := range maxAsked {
			if _, err := v.question(t.Context(), fmt.Sprint(i)); err == nil {
				t.Error("an answer")
			}
		}
		began := time.Now()
		if _, err := v.question(t.Context(), "one more"); err == nil || !strings.Contains(err.Error(), "4 other questions") || time.Since(began) > 0 {
			t.Errorf("one more: %v after %s", err, time.Since(began))
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if _, err := v.question(t.Context(), "later"); err == nil || !strings.Contains(err.Error(), "no answer within 5s; asked again in") || e.asked.Load() != maxAsked {
			t.Errorf("later: %v, asked %d times", err, e.asked.Load())
		}
		time.Sleep(time.Minute)
		began = time.Now()
		_, _ = v.question(t.Context(), "at the end")
		v.queries.close()
		if took := time.Since(began); took != v.cfg.QueryTimeout {
			t.Errorf("closing waits %s", took)
		}
		if _, err := v.question(t.Context(), "closed"); err == nil || e.asked.Load() != maxAsked+1 {
			t.Errorf("closed: %v, asked %d times", err, e.asked.Load())
		}
	})
}

// TestAnOldQuestionHangs: the endpoint is not left alone for a question that hangs, where it has answered a later one.
func TestAnOldQuestionHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &clocked{takes: time.Hour}
		v := asking(e)
		defer v.queries.close()
		_, _ = v.question(t.Context(), "hangs")
		synctest.Wait()
		e.takes = time.Millisecond
		if _, err := v.question(t.Context(), "answered"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(v.cfg.QueryPatience)
		synctest.Wait()
		if _, err := v.question(t.Context(), "another"); err != nil {
			t.Errorf("after the first was given up: %v", err)
		}
	})
}

// TestForgottenQuestions: what is under way while all is forgotten is not remembered.
func TestForgottenQuestions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := asking(&clocked{takes: time.Second})
		defer v.queries.close()
		_, _ = v.question(t.Context(), "secret")
		v.queries.clear()
		time.Sleep(2 * time.Second)
		if v.queries.remembers("secret") {
			t.Error("it is remembered")
		}
		v.cfg.QueryTimeout = 2 * time.Second
		if _, err := v.question(t.Context(), "secret"); err != nil || !v.queries.remembers("secret") {
			t.Errorf("asked again: %v", err)
		}
	})
}

// TestFailuresPause: an endpoint that fails is left alone; one that only refuses the text is not.
func TestFailuresPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			fails  error
			pauses bool
		}{{&Failure{Says: "503"}, true}, {errors.New("broken"), true}, {&Failure{Says: "too long", BlamesTexts: true}, false}} {
			v := asking(&clocked{fails: c.fails})
			if _, err := v.question(t.Context(), "x"); err == nil || (v.queries.pause.line() != "") != c.pauses {
				t.Errorf("%v: %v, pause %q", c.fails, err, v.queries.pause.line())
			}
			v.queries.close()
		}
	})
}
