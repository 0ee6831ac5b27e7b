package vectors

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unsafe"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
)

// A file of version 1 is a header and rows of one size, in the order of their positions. Numbers are little endian, vectors are
// float32 in the byte order that the mark in the header shows. Its rows were paid for, so it is read once.
const (
	slabMagic   = "cmemdvec"
	slabVersion = 1
	slabMark    = 0x01020304
	slabHeader  = 512
	slabRowHead = 48

	slabLive    = 1
	slabDead    = 2 // forgotten: its vector is zero, its id too
	slabRefused = 3 // the endpoint would not embed it
)

// errKept is a file of version 1 that cannot be taken over now.
var errKept = errors.New("vectors: the file of an earlier version stays as it is until the next start")

// convert makes a file of version 1 at path one of this version, of as many of its rows as are whole. Without one it does nothing. A
// file of another model is deleted, and why says so. The error is errKept, or of opening or deleting it.
func convert(path, model string) (why string, err error) {
	f, _, err := durable.OpenRegular(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	tmp := path + ".tmp"
	slab, copied, err := takeOver(f, tmp, model)
	err = errors.Join(err, f.Close()) // Windows neither replaces nor deletes an open file
	switch {
	case err == nil && copied:
		err = errors.Join(os.Rename(tmp, path), durable.SyncDir(filepath.Dir(path)))
	case err == nil && slab:
		return "its header is of another model or format, or damaged", os.Remove(path)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("%w: %w", errKept, err), durable.Remove(tmp))
	}
	return "", nil
}

// takeOver makes a file at path of the rows of f. It reports whether f is of version 1, and whether its rows are of the model, so that
// they were copied.
func takeOver(f io.Reader, path, model string) (slab, copied bool, err error) {
	in, header := bufio.NewReaderSize(f, 1<<20), make([]byte, slabHeader)
	n, err := io.ReadFull(in, header)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, false, err
	}
	of, dims, ok := decodeSlab(header)
	if slab = bytes.HasPrefix(header[:n], []byte(slabMagic)); !slab || !ok || of != model {
		return slab, false, nil
	}
	to := &store{path: path, model: model}
	if err = to.reset(); err == nil {
		err = to.copySlab(in, dims)
	}
	return true, true, errors.Join(err, to.close())
}

// copySlab stores the rows of in up to the first that is not whole.
func (s *store) copySlab(in io.Reader, dims int) error {
	var rows []row
	var last rowRef
	for {
		r, state := readSlabRow(in, dims)
		whole := state != 0 && r.position > last.position
		if whole {
			last = r.rowRef
		}
		if whole && state != slabDead {
			rows = append(rows, r)
		}
		if !whole || len(rows) == 1000 {
			if err := s.append(rows, last); err != nil {
				return err
			}
			rows = nil
		}
		if !whole {
			return nil
		}
	}
}

// readSlabRow reads the next row. Its state is 0 if it is not whole, or cannot be read; of a dead one the head decides, for its vector
// may have been half zeroed.
func readSlabRow(in io.Reader, dims int) (r row, state byte) {
	b := make([]byte, slabRowHead+4*dims)
	if _, err := io.ReadFull(in, b); err != nil {
		return row{}, 0
	}
	head, body := b[:slabRowHead], b[slabRowHead:]
	r.id, r.position, r.chain = events.ID(head[:16]), events.Position(binary.LittleEndian.Uint64(head[16:])), [8]byte(head[24:])
	state = head[32]
	whole := binary.LittleEndian.Uint32(head[40:]) == checksum(head[:40]) && state <= slabRefused &&
		(state == slabDead || binary.LittleEndian.Uint32(head[36:]) == checksum(body))
	if !whole {
		return row{}, 0
	}
	if state == slabLive {
		r.vector = unsafe.Slice((*float32)(unsafe.Pointer(&body[0])), dims)
	}
	return r, state
}

func decodeSlab(b []byte) (model string, dims int, ok bool) {
	dims, n := int(binary.LittleEndian.Uint32(b[16:])), int(binary.LittleEndian.Uint16(b[20:]))
	ok = binary.LittleEndian.Uint32(b[500:]) == checksum(b[:500]) && binary.LittleEndian.Uint32(b[8:]) == slabVersion &&
		binary.NativeEndian.Uint32(b[12:]) == slabMark && dims >= 1 && dims <= maxDims && n <= maxModel
	if !ok {
		return "", 0, false
	}
	return string(b[22 : 22+n]), dims, true
}
