package boltcheck

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
)

// Leaves visits the elements of every page of a bbolt file that says that it is a leaf, whether anything leads to it or not, and together
// with the pages that it says it runs over to. Of which bucket they are is not known. What does not lie within its page is passed over. A
// page and those that it runs over to are at most largest bytes; others are no leaves. It returns the error of ctx, or of reading the file.
func Leaves(ctx context.Context, file io.ReaderAt, pageSize int, largest int64, visit func(Element)) error {
	head := make([]byte, pageHeader)
	for id := int64(0); ; id++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := id * int64(pageSize)
		if _, err := file.ReadAt(head, at); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		size := (int64(binary.NativeEndian.Uint32(head[12:])) + 1) * int64(pageSize)
		if binary.NativeEndian.Uint64(head) != uint64(id) || binary.NativeEndian.Uint16(head[8:]) != pageLeaf || size > largest {
			continue
		}
		body := make([]byte, size-pageHeader)
		n, err := file.ReadAt(body, at+pageHeader)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		leaf := page{count: int(binary.NativeEndian.Uint16(head[10:])), body: body[:n]}
		eachElement(leaf, at+pageHeader, func(e leafElement) { visit(Element{Offset: e.offset, Key: e.key, Value: e.value}) })
	}
}
