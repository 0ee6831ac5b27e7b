package relay

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", maxAnswerBody+1)
	for _, c := range []struct {
		name, in string
		status   int // 0: not a whole answer
		body     string
	}{
		{"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"},
		{"length, more behind", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhellooo", 200, "hello"},
		{"no body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, ""},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n", 200, "hello"},
		{"chunks in capitals", "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n", 200, "0123456789"},
		{"until the end", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello", 200, "hello"},
		{"bare line ends", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", 200, "hello"},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nhello", 0, ""},
		{"no reason", "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", 200, "x"},
		{"continue first", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "x"},
		{"no content", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""},
		{"refused, body left", "HTTP/1.1 400 Bad Request\r\nContent-Length: 900\r\n\r\nsom", 400, ""},
		{"busy", "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n\r\n", 503, ""},
		{"too long a body", "HTTP/1.1 200 OK\r\n\r\n" + big, 200, ""},
		{"too long a length", "HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\nx", 200, ""},
		{"too long a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffff\r\nx", 200, ""},
		{"too many chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("20000\r\n"+big[:0x20000]+"\r\n", 9), 200, ""},
		{"nothing", "", 0, ""},
		{"half a status line", "HTTP/1.1 20", 0, ""},
		{"half a head", "HTTP/1.1 200 OK\r\nContent-Le", 0, ""},
		{"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", 0, ""},
		{"half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", 0, ""},
		{"no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n", 0, ""},
		{"a chunk without its end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n", 0, ""},
		{"a chunk without a size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 0, ""},
		{"another coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx", 0, ""},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", 0, ""},
		{"a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nxx", 0, ""},
		{"another protocol", "SSH-2.0-OpenSSH_9.6\r\n", 0, ""},
		{"HTTP/2", "HTTP/2 200\r\n\r\n", 0, ""},
		{"a status of letters", "HTTP/1.1 abc OK\r\n\r\n", 0, ""},
		{"a status too low", "HTTP/1.1 042 OK\r\n\r\n", 0, ""},
		{"a header without a colon", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", 0, ""},
		{"an endless head", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", maxAnswerHead), 0, ""},
		{"an endless line", "HTTP/1.1 200 " + big, 0, ""},
	} {
		for way, r := range map[string]io.Reader{
			"at once": strings.NewReader(c.in), "by bytes": iotest.OneByteReader(strings.NewReader(c.in)),
		} {
			got, err := readAnswer(r)
			if (err != nil) != (c.status == 0) || (err == nil && got.status != c.status) || (err == nil && string(got.body) != c.body) {
				t.Errorf("%s, %s: got %d %.40q, %v; want %d %q", c.name, way, got.status, got.body, err, c.status, c.body)
			}
		}
	}
}

// FuzzReadAnswer holds the reader against the standard library's: where that one reads a whole 200 with a body of
// bearable length, so does ours, and the same.
func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 100 \r\n\r\nHTTP/1.1 503 no\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readAnswer(bytes.NewReader(data))
		if len(got.body) > maxAnswerBody {
			t.Fatalf("a body of %d bytes", len(got.body))
		}
		if err != nil {
			return
		}
		ref, refErr := http.ReadResponse(bufio.NewReader(bytes.NewReader(data)), nil)
		if refErr != nil || ref.StatusCode != 200 || got.status != 200 {
			return
		}
		body, refErr := io.ReadAll(ref.Body)
		if refErr == nil && len(body) <= maxAnswerBody && len(got.body) > 0 && !bytes.Equal(body, got.body) {
			t.Fatalf("readAnswer(%q) = %q, net/http reads %q", data, got.body, body)
		}
	})
}
