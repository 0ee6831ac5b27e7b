package relay

import (
	"context"
	"net"
	"time"
)

// A netStream is a Stream by package net.
type netStream struct{ net.Conn }

func (s netStream) Interrupt() { _ = s.SetDeadline(time.Unix(1, 0)) }

// openStream connects to a unix socket.
func openStream(ctx context.Context, path string) (Stream, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	return netStream{conn}, err
}
