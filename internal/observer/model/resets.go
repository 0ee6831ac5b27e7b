package model

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
)

// firstOf is the first time that is after now, within what a pause may be; zero if none is.
func firstOf(now time.Time, times ...time.Time) time.Time {
	for _, at := range times {
		if at.After(now) {
			return policy.Clamp(at, now)
		}
	}
	return time.Time{}
}

// maxRetryAfter is the longest Retry-After that is believed: gateways send any number, and a probe a day costs nothing. The
// ends of quotas, which services state as such, may lie as far ahead as policy.MaxReset.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads when a service wants to be asked again, at most maxRetryAfter from now.
func retryAfter(h http.Header, w ErrorBody, now time.Time) time.Time {
	at := statedRetry(h, w, now)
	if limit := now.Add(maxRetryAfter); at.After(limit) {
		return limit
	}
	return at
}

// statedRetry reads Retry-After by our clock: in seconds or as a date, its form in milliseconds, or what the body says.
func statedRetry(h http.Header, w ErrorBody, now time.Time) time.Time {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return after(now, ms/1000)
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return after(now, s)
	}
	if at, err := http.ParseTime(v); err == nil {
		return ours(at, h, now)
	}
	return after(now, w.After.Seconds())
}

// limitsReset reads the headers of limits: NAME-reset with NAME-remaining beside it (Anthropic), or NAME-reset-WHAT with
// NAME-remaining-WHAT (OpenAI and those who follow it). The last reset counts.
func limitsReset(h http.Header, now time.Time) time.Time {
	var all, usedUp []time.Time
	for name := range h {
		lower := strings.ToLower(name)
		if !strings.HasPrefix(lower, "x-ratelimit-reset") &&
			!(strings.HasPrefix(lower, "anthropic-ratelimit-") && strings.HasSuffix(lower, "-reset")) {
			continue
		}
		at, ok := resetTime(h.Get(name), h, now)
		if !ok {
			continue
		}
		all = append(all, at)
		if n, err := strconv.ParseFloat(h.Get(strings.Replace(lower, "-reset", "-remaining", 1)), 64); err == nil && n <= 0 {
			usedUp = append(usedUp, at)
		}
	}
	for _, list := range [][]time.Time{usedUp, all} {
		if len(list) > 0 {
			return slices.MaxFunc(list, time.Time.Compare)
		}
	}
	return time.Time{}
}

// resetTime reads a date, a duration, or a number of seconds or milliseconds: since 1970 where it is large enough to be.
func resetTime(v string, h http.Header, now time.Time) (time.Time, bool) {
	if at, err := time.Parse(time.RFC3339, v); err == nil {
		return ours(at, h, now), true
	}
	if d, err := time.ParseDuration(v); err == nil {
		return now.Add(d), true
	}
	n, err := strconv.ParseFloat(v, 64)
	switch {
	case err != nil || math.IsNaN(n) || n < 0 || n > 1e14:
		return time.Time{}, false
	case n > 1e11:
		return ours(time.UnixMilli(int64(n)), h, now), true
	case n > 1e8:
		return ours(time.Unix(int64(n), 0), h, now), true
	}
	return after(now, n), true
}

// after is now and some seconds, none of them in the past and not more than a time can hold.
func after(now time.Time, seconds float64) time.Time {
	if math.IsNaN(seconds) || seconds <= 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(min(seconds, policy.MaxReset.Seconds()) * float64(time.Second)))
}

// ours is the service's time at by our clock, where the answer says what the service takes for now.
func ours(at time.Time, h http.Header, now time.Time) time.Time {
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		return at.Add(now.Sub(theirs))
	}
	return at
}
