package relay

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"strconv"

	"github.com/cmemd/cmemd/internal/durable"
)

// A slots file keeps one short text that is written in its place, so that a disk without a free block takes it. It has two slots of
// one size: each writing goes to the one that is not the latest, which is whole if that is cut off. A slot is a line:
//
//	NUMBER SUM TEXT
//
// in which the number says which is the latest, and the sum is of number and text.
const (
	slotSize = 512                 // bytes: what disks write as a whole
	slotHead = 2 * (hexDigits + 1) // number and sum, each with a blank behind it
	maxSlot  = slotSize - slotHead - 1
)

const hexDigits = 16 // of a number of 64 bits

// slots is what stands in such a file.
type slots struct {
	number uint64 // of the latest; 0: there is none
	text   []byte
}

// readSlots reads the file at path. What is damaged counts as nothing. Errors are fs.ErrNotExist and the disk's.
func readSlots(path string) (slots, error) {
	data, err := durable.ReadBounded(path, 2*slotSize)
	if durable.IsUnfit(err) {
		return slots{}, nil
	}
	if err != nil {
		return slots{}, err
	}
	return parseSlots(data), nil
}

func parseSlots(data []byte) (latest slots) {
	if len(data) != 2*slotSize {
		return slots{}
	}
	for _, slot := range [][]byte{data[:slotSize], data[slotSize:]} {
		line, _, found := bytes.Cut(slot, []byte("\n"))
		if !found || len(line) < slotHead {
			continue
		}
		number, err := strconv.ParseUint(string(line[:hexDigits]), 16, 64)
		if text := line[slotHead:]; err == nil && number > latest.number && bytes.Equal(line, slotLine(number, text)) {
			latest = slots{number: number, text: text}
		}
	}
	return latest
}

// slotLine is a slot without its end.
func slotLine(number uint64, text []byte) []byte {
	head := fmt.Appendf(make([]byte, 0, slotSize), "%0*x", hexDigits, number)
	sum := fnv.New64a()
	_, _ = sum.Write(head)
	_, _ = sum.Write(text)
	return fmt.Appendf(head, " %0*x %s", hexDigits, sum.Sum64(), text)
}

// write puts text, which has no line break and at most maxSlot bytes, into the file at path in the place of what is older than s. A
// file that is not there yet, or is no such file, is laid. With wait it is on disk when write returns. One process at a time may write.
func (s slots) write(path string, text []byte, wait bool) error {
	number := s.number + 1
	place := int(number%2) * slotSize
	whole := bytes.Repeat([]byte{' '}, 2*slotSize)
	copy(whole[place:], append(slotLine(number, text), '\n'))
	info, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(whole)) {
		return durable.Swap(path, whole, 0o600)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(whole[place:place+slotSize], int64(place))
	if err == nil && wait {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
