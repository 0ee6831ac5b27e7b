package server

import (
	"net"
	"sync"
	"sync/atomic"
)

// maxConnections is how many connections of the loopback address are open at once: who holds them open keeps out others
// there, and nobody at the socket.
const maxConnections = 256

// bounded closes a connection at once that is one too many.
type bounded struct {
	net.Listener
	open atomic.Int64
}

// Accept implements net.Listener.
func (l *bounded) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= maxConnections {
			return &boundedConn{Conn: conn, closed: sync.OnceFunc(func() { l.open.Add(-1) })}, nil
		}
		l.open.Add(-1)
		_ = conn.Close() // there is nobody to tell
	}
}

// boundedConn is a connection that says when it is closed.
type boundedConn struct {
	net.Conn
	closed func()
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	defer c.closed()
	return c.Conn.Close()
}
