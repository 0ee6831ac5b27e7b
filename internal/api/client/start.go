package client

import (
	"context"
	"net"
)

// DialStarting is Dial for who wants a daemon where there is none: then start is called, and once it has returned nil the
// home is dialled again. It may be called by several requests at once. Its error is the request's, inside ErrNotRunning.
func DialStarting(home string, start func(ctx context.Context) error) *Client {
	return newClient("http://cmemd", "", func(ctx context.Context) (net.Conn, error) {
		conn, err := dialHome(ctx, home)
		if err == nil || !absent(err) {
			return conn, err
		}
		if err := start(ctx); err != nil {
			return nil, &startError{err}
		}
		return dialHome(ctx, home)
	})
}
