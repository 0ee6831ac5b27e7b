package main

import (
	"fmt"
	"log/slog"
	"sync"
)

// logger has what the server logs as a warning or worse go on as lines of slog, and keeps the last of them.
type logger struct {
	log *slog.Logger

	mu   sync.Mutex // guards text
	text string
}

func (l *logger) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text == "" {
		return "it was not ready in time"
	}
	return l.text
}

func (l *logger) keep(format string, v ...any) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = fmt.Sprintf(format, v...)
	return l.text
}

// Warnf implements server.Logger, as do the others.
func (l *logger) Warnf(format string, v ...any) { l.log.Warn("server", "text", l.keep(format, v...)) }

// Errorf is for what the server could not do.
func (l *logger) Errorf(format string, v ...any) { l.log.Error("server", "text", l.keep(format, v...)) }

// Fatalf is for what ends the server; the hub ends with it.
func (l *logger) Fatalf(format string, v ...any) { l.Errorf(format, v...) }

// Noticef is for what is as it should be.
func (l *logger) Noticef(string, ...any) {}

// Debugf is off.
func (l *logger) Debugf(string, ...any) {}

// Tracef is off.
func (l *logger) Tracef(string, ...any) {}
