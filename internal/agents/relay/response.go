package relay

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

// Bounds of an answer. A longer body is no use: agents throw away contexts of more than 10,000 characters.
const (
	maxAnswerHead = 64 << 10
	maxAnswerBody = 1 << 20
)

// errAnswer means that what came back is not an HTTP answer, or only the beginning of one.
var errAnswer = errors.New("relay: not a whole HTTP answer")

// An answer is what the daemon said: a status and, with 200, the reply to hand to the agent.
type answer struct {
	status int
	body   []byte
}

// An answerHead is what an answer's headers say about its body.
type answerHead struct {
	chunked bool
	length  int64 // -1 if not said
}

// readAnswer reads one HTTP/1.1 answer, past any 1xx, with its body if the status is 200. A body that is cut short is an
// error; one that is too long comes back empty, because the head has acknowledged the payload and half a reply is none.
func readAnswer(conn io.Reader) (answer, error) {
	r := &headReader{r: bufio.NewReader(conn), left: maxAnswerHead}
	for {
		status, err := r.statusLine()
		if err != nil {
			return answer{}, err
		}
		head, err := r.headers()
		if err != nil {
			return answer{}, err
		}
		if status < 200 {
			continue
		}
		if status != 200 {
			return answer{status: status}, nil
		}
		body, err := r.body(head)
		return answer{status: status, body: body}, err
	}
}

type headReader struct {
	r    *bufio.Reader
	left int // bytes of head still allowed
}

// line returns the next line without its end.
func (h *headReader) line() (string, error) {
	var line []byte
	for {
		part, err := h.r.ReadSlice('\n')
		h.left -= len(part)
		if h.left < 0 {
			return "", errAnswer
		}
		line = append(line, part...)
		if err == nil {
			return strings.TrimSuffix(string(line[:len(line)-1]), "\r"), nil
		}
		if err != bufio.ErrBufferFull {
			return "", err
		}
	}
}

func (h *headReader) statusLine() (int, error) {
	line, err := h.line()
	if err != nil {
		return 0, err
	}
	version, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(rest, " ")
	status, err := strconv.Atoi(code)
	if err != nil || len(code) != 3 || status < 100 || version != "HTTP/1.1" {
		return 0, errAnswer
	}
	return status, nil
}

func (h *headReader) headers() (answerHead, error) {
	head := answerHead{length: -1}
	for {
		line, err := h.line()
		if err != nil || line == "" {
			return head, err
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return head, errAnswer
		}
		value = strings.Trim(value, " \t")
		switch {
		case strings.EqualFold(name, "Transfer-Encoding"):
			if !strings.EqualFold(value, "chunked") {
				return head, errAnswer
			}
			head.chunked = true
		case strings.EqualFold(name, "Content-Length"):
			n, err := strconv.ParseUint(value, 10, 63)
			if err != nil || (head.length >= 0 && head.length != int64(n)) {
				return head, errAnswer
			}
			head.length = int64(n)
		}
	}
}

func (h *headReader) body(head answerHead) ([]byte, error) {
	switch {
	case head.chunked:
		return h.chunks()
	case head.length > maxAnswerBody:
		return nil, nil
	case head.length >= 0:
		body := make([]byte, head.length)
		_, err := io.ReadFull(h.r, body)
		return body, err
	}
	body, err := io.ReadAll(io.LimitReader(h.r, maxAnswerBody+1))
	if len(body) > maxAnswerBody {
		return nil, nil
	}
	return body, err
}

// chunks reads a chunked body up to and with its last, empty chunk; trailers are left unread.
func (h *headReader) chunks() ([]byte, error) {
	var body []byte
	for {
		h.left = maxAnswerHead
		line, err := h.line()
		if err != nil {
			return nil, err
		}
		size, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseUint(strings.TrimRight(size, " \t"), 16, 63)
		if err != nil {
			return nil, errAnswer
		}
		if n == 0 {
			return body, nil
		}
		if n > maxAnswerBody || len(body)+int(n) > maxAnswerBody {
			return nil, nil
		}
		start := len(body)
		body = append(body, make([]byte, n)...)
		if _, err = io.ReadFull(h.r, body[start:]); err != nil {
			return nil, err
		}
		if line, err = h.line(); err != nil || line != "" {
			return nil, errors.Join(err, errAnswer)
		}
	}
}
