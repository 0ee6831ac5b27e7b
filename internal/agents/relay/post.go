package relay

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"strconv"
	"time"
)

// crowdedPause is how long a hook waits before it knocks again at a socket whose queue is full.
const crowdedPause = 5 * time.Millisecond

// post sends the payload to the daemon and returns its answer, by the deadline. Any error means that the daemon did not
// answer; it may have stored the payload nevertheless.
func (h *hook) post(ctx context.Context, deadline time.Time) (answer, error) {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	conn, err := h.connect(ctx)
	if err != nil {
		return answer{}, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	request := net.Buffers{h.requestHead(), h.payload}
	_, writeErr := request.WriteTo(conn)
	// A daemon that refuses early may close before it has read everything; its answer is there all the same.
	a, err := readAnswer(conn)
	if err != nil {
		return answer{}, errors.Join(writeErr, err)
	}
	return a, nil
}

func (h *hook) requestHead() []byte {
	b := make([]byte, 0, 512)
	b = append(b, "POST /v1/hooks/"+h.Agent+" HTTP/1.1\r\nHost: cmemd\r\nContent-Type: application/json\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(h.payload)), 10)
	b = append(b, "\r\nCmemd-Delivery: "+h.delivery+"\r\nCmemd-Occurred-At: "...)
	b = h.at.AppendFormat(b, time.RFC3339Nano)
	return append(b, "\r\nCmemd-Client: "+h.Version+"\r\nConnection: close\r\n\r\n"...)
}

// connect dials the daemon, again while its queue is full.
func (h *hook) connect(ctx context.Context) (net.Conn, error) {
	for {
		conn, err := h.Dial(ctx)
		if err == nil || !crowded(err) {
			return conn, err
		}
		select {
		case <-time.After(crowdedPause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Dial connects to the daemon of home: at the socket where it should be, else at the one it wrote down. It makes nothing.
// An error wraps ErrSocketDir if others may write to the socket's folder; nothing is dialled then.
func Dial(ctx context.Context, home string) (net.Conn, error) {
	socket := SocketPath(home)
	conn, err := dialSocket(ctx, socket)
	if err == nil || !absent(err) {
		return conn, err
	}
	other := advertisedSocket(home)
	if other == "" || other == socket {
		return nil, err
	}
	return dialSocket(ctx, other)
}

func dialSocket(ctx context.Context, socket string) (net.Conn, error) {
	if err := checkSocketDir(socket); err != nil {
		return nil, err
	}
	var d net.Dialer
	return d.DialContext(ctx, "unix", socket)
}

// absent reports whether err says that no daemon listens, as opposed to one that is slow or busy.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || refused(err)
}
