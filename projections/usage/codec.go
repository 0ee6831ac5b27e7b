package usage

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/turn"
)

// The order of a key's parts lets a day be read without anything else, and what belongs to a quarter lie side by side.

func (k cellKey) bytes() []byte {
	b := make([]byte, 0, 8+16+2+4+len(k.failure)+k.by.size())
	b = binary.BigEndian.AppendUint64(b, uint64(k.quarter))
	b = append(append(b, k.session[:]...), boolByte(k.probe), usageResult(k.result))
	return appendTexts(b, k.failure, k.by.provider, k.by.model, k.by.asked)
}

func (k *cellKey) parse(b []byte) error {
	const fixed = 8 + 16 + 2
	if len(b) < fixed || b[24] > 1 || b[25] >= usageResultCount {
		return engine.ErrShort
	}
	*k = cellKey{
		quarter: int64(binary.BigEndian.Uint64(b)), session: events.SessionID(b[8:24]), probe: b[24] == 1, result: usageResults()[b[25]],
	}
	return readTexts(b[fixed:], &k.failure, &k.by.provider, &k.by.model, &k.by.asked)
}

func (a answerer) size() int { return len(a.provider) + len(a.model) + len(a.asked) }

func (k sumKey) bytes() []byte {
	b := append(make([]byte, 0, 16+3+k.by.size()), k.session[:]...)
	return appendTexts(b, k.by.provider, k.by.model, k.by.asked)
}

func (k *sumKey) parse(b []byte) error {
	if len(b) < 16 {
		return engine.ErrShort
	}
	*k = sumKey{session: events.SessionID(b[:16])}
	return readTexts(b[16:], &k.by.provider, &k.by.model, &k.by.asked)
}

const usageResultCount = 5

// usageResults are the results by their number on disk.
func usageResults() [usageResultCount]turn.Result {
	return [usageResultCount]turn.Result{"", turn.Kept, turn.Skipped, turn.Dropped, turn.Failed}
}

func usageResult(r turn.Result) byte {
	results := usageResults()
	return byte(max(slices.Index(results[:], r), 0))
}

func boolByte(is bool) byte {
	if is {
		return 1
	}
	return 0
}

// appendTexts appends texts, each behind its length.
func appendTexts(b []byte, texts ...string) []byte {
	for _, t := range texts {
		b = append(binary.AppendUvarint(b, uint64(len(t))), t...)
	}
	return b
}

// readTexts reads what appendTexts wrote, and nothing else.
func readTexts(b []byte, texts ...*string) (err error) {
	for _, t := range texts {
		if *t, b, err = cutText(b); err != nil {
			return err
		}
	}
	if len(b) > 0 {
		return engine.ErrShort
	}
	return nil
}

// cutText reads one text of appendTexts, and returns what comes behind it.
func cutText(b []byte) (text string, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return "", nil, engine.ErrShort
	}
	return string(b[size : size+int(n)]), b[size+int(n):], nil
}

// numbers are the fields of c in their order on disk.
func (c *Count) numbers() [usageNumbers]*int64 {
	return [usageNumbers]*int64{
		&c.Turns, &c.Again, &c.PromptBytes, &c.Input, &c.Cached, &c.Output, &c.Untold, &c.Calls, &c.Stated,
		&c.Unstated.Input, &c.Unstated.Cached, &c.Unstated.Output,
	}
}

const usageNumbers = 12

// AppendBinary appends the numbers.
func (c Count) AppendBinary(b []byte) ([]byte, error) { return appendNumbers(b, c.numbers()), nil }

// UnmarshalBinary reads what AppendBinary wrote.
func (c *Count) UnmarshalBinary(b []byte) error {
	rest, err := readNumbers(b, c.numbers())
	if err == nil && len(rest) > 0 {
		err = engine.ErrShort
	}
	return err
}

func appendNumbers(b []byte, numbers [usageNumbers]*int64) []byte {
	if b == nil {
		b = make([]byte, 0, 32)
	}
	for _, n := range numbers {
		b = binary.AppendVarint(b, *n)
	}
	return b
}

func readNumbers(b []byte, numbers [usageNumbers]*int64) ([]byte, error) {
	for _, n := range numbers {
		v, size := binary.Varint(b)
		if size <= 0 {
			return nil, engine.ErrShort
		}
		*n, b = v, b[size:]
	}
	return b, nil
}

// AppendBinary appends the turn's numbers, whether they are left over, what was captured for it, who was asked, and then what
// its cell is about.
func (t turnCount) AppendBinary(b []byte) ([]byte, error) {
	b = append(appendNumbers(b, t.count.numbers()), boolByte(t.left))
	b = appendTexts(binary.AppendVarint(b, t.captured), t.asked)
	return append(b, t.key.bytes()...), nil
}

// UnmarshalBinary reads what AppendBinary wrote.
func (t *turnCount) UnmarshalBinary(b []byte) error {
	rest, err := readNumbers(b, t.count.numbers())
	if err != nil {
		return err
	}
	if len(rest) == 0 || rest[0] > 1 {
		return engine.ErrShort
	}
	t.left, rest = rest[0] == 1, rest[1:]
	n, size := binary.Varint(rest)
	if size <= 0 {
		return engine.ErrShort
	}
	t.captured, rest = n, rest[size:]
	if t.asked, rest, err = cutText(rest); err != nil {
		return err
	}
	return t.key.parse(rest)
}

func showUsageCell(b []byte) string {
	var k cellKey
	if k.parse(b) != nil {
		return engine.ShowHex(b)
	}
	return fmt.Sprintf("%s %s", time.Unix(k.quarter*quarterSeconds, 0).UTC().Format("2006-01-02T15:04"), k)
}

// String is what k is about, for people.
func (k cellKey) String() string {
	what := string(k.result)
	if k.failure != "" {
		what += "/" + k.failure
	}
	if k.probe {
		what = "probe " + what
	}
	return fmt.Sprintf("%s %s %s %s", engine.ShowID(k.session[:]), what, k.by.provider, k.by.model)
}

func showUsageSession(b []byte) string {
	var k sumKey
	if k.parse(b) != nil {
		return engine.ShowHex(b)
	}
	return fmt.Sprintf("%s %s %s", engine.ShowID(k.session[:]), k.by.provider, k.by.model)
}
