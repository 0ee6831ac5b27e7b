package folder

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/transient"
)

// A file begins with magic, its revision, and, in four bytes each, the length and the checksum (CRC-32C) of the body that follows.
const (
	magic     = "cmemdob1" // the last letter is the format
	revBytes  = 16
	headBytes = len(magic) + revBytes + 4 + 4
	maxFile   = headBytes + store.MaxBody
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is what stands before a body.
type header struct {
	rev    store.Rev
	length uint32
	sum    uint32
}

// fileOf is the file of a new state with that body.
func fileOf(body []byte) (store.Rev, []byte) {
	nonce := make([]byte, revBytes)
	_, _ = rand.Read(nonce) // never fails
	file := append(make([]byte, 0, headBytes+len(body)), magic...)
	file = append(file, nonce...)
	file = binary.BigEndian.AppendUint32(file, uint32(len(body)))
	file = binary.BigEndian.AppendUint32(file, crc32.Checksum(body, castagnoli))
	return store.Rev(hex.EncodeToString(nonce)), append(file, body...)
}

// readHeader reads what stands before a body. Its error is store.ErrDamaged, which may pass where there is less than a header.
func readHeader(r io.Reader) (header, error) {
	b := make([]byte, headBytes)
	n, err := io.ReadFull(r, b)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return header{}, transient.Mark(fmt.Errorf("%w: the file has %d bytes, not even its header", store.ErrDamaged, n))
	case err != nil:
		return header{}, err
	case !bytes.HasPrefix(b, []byte(magic[:len(magic)-1])):
		return header{}, fmt.Errorf("%w: the file was not written by cmemd", store.ErrDamaged)
	case b[len(magic)-1] != magic[len(magic)-1]:
		return header{}, fmt.Errorf("%w: the file has format %q, this version of cmemd knows %q",
			store.ErrDamaged, b[len(magic)-1], magic[len(magic)-1])
	}
	b = b[len(magic):]
	h := header{rev: store.Rev(hex.EncodeToString(b[:revBytes]))}
	h.length, h.sum = binary.BigEndian.Uint32(b[revBytes:]), binary.BigEndian.Uint32(b[revBytes+4:])
	if h.length > store.MaxBody {
		return header{}, fmt.Errorf("%w: a body of %d bytes, at most %d may be", store.ErrDamaged, h.length, store.MaxBody)
	}
	return h, nil
}

// readObject reads a file. Its error is store.ErrDamaged, which may pass where the body is not yet, or no longer, what it was.
func readObject(r io.Reader) (store.Rev, []byte, error) {
	h, err := readHeader(r)
	if err != nil {
		return "", nil, err
	}
	body, err := io.ReadAll(io.LimitReader(r, int64(h.length)+1))
	switch {
	case err != nil:
		return "", nil, err
	case len(body) > int(h.length):
		return "", nil, fmt.Errorf("%w: the file is longer than its body of %d bytes", store.ErrDamaged, h.length)
	case len(body) < int(h.length):
		return "", nil, transient.Mark(fmt.Errorf("%w: %d of %d bytes are here", store.ErrDamaged, len(body), h.length))
	case crc32.Checksum(body, castagnoli) != h.sum:
		return "", nil, transient.Mark(fmt.Errorf("%w: the body has another checksum", store.ErrDamaged))
	}
	return h.rev, body, nil
}
