package relay

import (
	"context"
	"errors"
	"io"
	"io/fs"
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
	stop := context.AfterFunc(ctx, conn.Interrupt)
	defer stop()
	writeErr := h.request(conn)
	// A daemon that refuses early may close before it has read everything; its answer is there all the same.
	a, err := readAnswer(conn)
	if err != nil {
		return answer{}, errors.Join(writeErr, err)
	}
	return a, nil
}

// request sends the payload: in one piece, unless it is long.
func (h *hook) request(conn io.Writer) error {
	const short = 64 << 10
	head := h.requestHead()
	if len(h.payload) <= short {
		_, err := conn.Write(append(head, h.payload...))
		return err
	}
	if _, err := conn.Write(head); err != nil {
		return err
	}
	_, err := conn.Write(h.payload)
	return err
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
func (h *hook) connect(ctx context.Context) (Stream, error) {
	for {
		conn, err := h.dial(ctx)
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

// A Stream is a connection to the daemon. Interrupt ends what is being read or written, from any goroutine.
type Stream interface {
	io.ReadWriteCloser
	Interrupt()
}

func (h *hook) dial(ctx context.Context) (Stream, error) {
	if h.Dial != nil {
		return h.Dial(ctx)
	}
	return DialAt(h.Home, func(socket string) (Stream, error) { return openStream(ctx, socket) })
}

// DialAt connects to the daemon of home by dial: at the socket where it should be, else at the one it wrote down. It makes nothing.
// An error wraps ErrSocketDir if others may write to the socket's folder, or to one above it; dial is not called then.
func DialAt[C any](home string, dial func(socket string) (C, error)) (C, error) {
	checked := func(socket string) (conn C, err error) {
		if err := checkSocketDir(socket); err != nil {
			return conn, err
		}
		return dial(socket)
	}
	socket := SocketPath(home)
	conn, err := checked(socket)
	if err == nil || !absent(err) {
		return conn, err
	}
	if checkHome(home) != nil {
		return conn, err // what stands there may be another user's word
	}
	other, _ := Advertised(home)
	if other == "" || other == socket {
		return conn, err
	}
	return checked(other)
}

// absent reports whether err says that no daemon listens, as opposed to one that is slow or busy.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || refused(err)
}
