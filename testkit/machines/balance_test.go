//go:build unix

package machines

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// settleLimit is how long machines may take to be even, on a busy machine: what fails is tried again after half a minute at most.
const settleLimit = 90 * time.Second

// balances waits until all machines have taken everything, and holds that nothing acknowledged is missing, nothing is there twice,
// and all have the same memory by id.
func (w *world) balances() {
	w.t.Helper()
	for _, m := range append(w.machines, w.beside) {
		m.ends()
	}
	began := time.Now()
	err := within(settleLimit, w.even)
	if err == nil {
		counted := time.Since(began)
		err = within(settleLimit, w.equal)
		if placed := time.Since(began) - counted; placed > time.Second {
			w.t.Logf("what was there was shown %v later", placed.Round(time.Millisecond))
		}
	}
	if err != nil {
		w.t.Errorf("the machines do not come to have the same: %v", err)
		for _, m := range w.machines {
			w.t.Logf("%s\n%s\n%s", m.name, m.saidOfAll(), m.log())
		}
		return
	}
	w.t.Logf("%d tool uses and %d memories were acknowledged", w.count(func(m *machine) int { return len(m.sent) }), w.count(func(m *machine) int { return len(m.saved) }))
	w.machines[0].cmemd("log", "verify", "--fleet")
}

// equal says which machine has not what was acknowledged, each once, and which two have not the same memory by id.
func (w *world) equal() error {
	first, err := w.machines[0].rows()
	if err != nil {
		return err
	}
	for _, m := range w.machines {
		if err := w.once(m); err != nil {
			return err
		}
		rows, err := m.rows()
		if err != nil {
			return err
		}
		if diff := cmp.Diff(first, rows); diff != "" {
			return fmt.Errorf("%s and %s have not the same memory (-, +):\n%.3000s", w.machines[0].name, m.name, diff)
		}
	}
	return nil
}

func (w *world) count(of func(m *machine) int) (n int) {
	for _, m := range w.machines {
		n += of(m)
	}
	return n
}

// even says what keeps the machines from being at rest with the same records. They are where nothing came since it was called last.
func (w *world) even() error {
	before, lasts := w.lasts, map[string]uint64{}
	w.lasts = lasts
	for _, m := range w.machines {
		if err := m.rests(); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		c, err := m.cluster()
		if err != nil {
			return err
		}
		lasts[m.name] = uint64(c.Status.Own.Last)
		if n := c.Status.Own.Records; n > 0 {
			return fmt.Errorf("%s: %d records are not in the store: %q", m.name, n, c.Status.Problems)
		}
	}
	if !maps.Equal(before, lasts) {
		return fmt.Errorf("records come still: %v", lasts)
	}
	for _, m := range w.machines {
		if err := m.has(lasts); err != nil {
			return err
		}
	}
	return nil
}

// has says of which other machine this one has not so many records.
func (m *machine) has(lasts map[string]uint64) error {
	c, err := m.cluster()
	if err != nil {
		return err
	}
	here := map[string]uint64{}
	for _, other := range c.Status.Machines {
		for _, log := range other.Logs {
			here[other.Name] += uint64(log.Here)
		}
	}
	for name, want := range lasts {
		if name != m.name && here[name] < want {
			return fmt.Errorf("%s has %d of %d records of %s: %q", m.name, here[name], want, name, c.Status.Problems)
		}
	}
	return nil
}

// rests says what the machine has still to do by itself.
func (m *machine) rests() error {
	st, err := api.StatusRoute.Call(m.t.Context(), m.client, api.NoQuery{})
	switch {
	case err != nil:
		return err
	case st.Spool.Waiting > 0 || st.Spool.Lost > 0 || st.Spool.Bad > 0:
		return fmt.Errorf("its spool: %+v", st.Spool)
	case st.Inputs.Pending > 0:
		return fmt.Errorf("%d inputs are pending", st.Inputs.Pending)
	case st.Erasure != nil && st.Erasure.Unfinished:
		return errors.New("something is being erased")
	}
	for _, v := range st.Views {
		if v.Lag > 0 {
			return fmt.Errorf("view %s is %d records behind", v.Name, v.Lag)
		}
	}
	return nil
}

// once says what of all that was acknowledged a machine has not, or twice.
func (w *world) once(m *machine) error {
	var wrong []string
	uses, saved, err := m.recorded()
	if err != nil {
		return err
	}
	for _, counts := range []map[string]int{uses, saved} {
		for what, n := range counts {
			if n > 1 {
				wrong = append(wrong, fmt.Sprintf("it has %q %d times", what, n))
			}
		}
	}
	rows, err := m.rows()
	if err != nil {
		return err
	}
	for _, other := range w.machines {
		missing := slices.DeleteFunc(slices.Clone(other.sent), func(id string) bool { return uses[id] > 0 })
		lost := slices.DeleteFunc(slices.Clone(other.saved), func(id string) bool { return rows[id] != nil })
		if len(missing)+len(lost) > 0 {
			wrong = append(wrong, fmt.Sprintf("of %s it misses %d of %d tool uses and %d of %d memories: %.200q %.200q",
				other.name, len(missing), len(other.sent), len(lost), len(other.saved), missing, lost))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s: %s", m.name, strings.Join(wrong, "\n"))
	}
	return nil
}

// recorded counts the tool uses, by id, and the texts that were saved, of the logs of all machines, as a machine shows them.
func (m *machine) recorded() (uses, saved map[string]int, err error) {
	m.t.Helper()
	uses, saved = map[string]int{}, map[string]int{}
	q := api.RecordsQuery{Kinds: string(events.KindToolUsed) + "," + string(events.KindMemorySaved), Payload: true, Limit: 1000, From: 1}
	for q.From > 0 {
		page, err := api.RecordsRoute.Call(m.t.Context(), m.client, q)
		if err != nil {
			return nil, nil, m.failure(err)
		}
		for _, r := range page.Records {
			var event struct {
				ToolUseID string `json:"tool_use_id"`
				Text      string `json:"text"`
			}
			if r.Erased {
				continue
			}
			if r.Problem != "" {
				m.t.Errorf("%s: record %d: %s", m.name, r.Position, r.Problem)
				continue
			}
			must(m.t, json.Unmarshal(r.Event, &event))
			if r.Kind == events.KindToolUsed {
				uses[event.ToolUseID]++
			} else {
				saved[event.Text]++
			}
		}
		q.From = page.Next
	}
	return uses, saved, nil
}

// failure is an error that a daemon answered with. It may answer that it cannot now; one that it does not expect fails the test.
func (m *machine) failure(err error) error {
	if p, ok := errors.AsType[*api.Problem](err); ok && p.Status == http.StatusInternalServerError {
		m.t.Errorf("%s: %v\n%s", m.name, err, m.log())
	}
	return fmt.Errorf("%s: %w", m.name, err)
}

// asOneSees takes out of a row what machines differ in rightly: each has positions and handles of its own and names the others, one
// that goes on as another calls its own log as it did, and a folder without a repository is another's folder on another machine.
func asOneSees(row map[string]any) map[string]any {
	for _, name := range []string{"position", "handle", "machine", "place"} {
		delete(row, name)
	}
	if root, ok := row["project_root"].(string); ok {
		row["project_root"] = othersFolder.ReplaceAllString(root, "")
	}
	return row
}

// othersFolder is what stands before a folder of another machine.
var othersFolder = regexp.MustCompile(`^/log:[0-9a-f]{32}`)

// rows is all memory by id, as the machine tells it.
func (m *machine) rows() (all map[string]map[string]any, err error) {
	m.t.Helper()
	var ids []string
	for q := (api.ListQuery{Limit: api.MaxRows, Sort: "oldest"}); ; {
		page, err := api.ListRoute.Call(m.t.Context(), m.client, q)
		if err != nil {
			return nil, m.failure(err)
		}
		for _, row := range page.Rows {
			ids = append(ids, row.ID.String())
		}
		if q.Cursor = page.NextCursor; q.Cursor.IsZero() {
			break
		}
	}
	all = map[string]map[string]any{}
	for part := range slices.Chunk(ids, api.MaxRows) {
		page, err := api.RowsRoute.Call(m.t.Context(), m.client, api.RowsRequest{IDs: part})
		if err != nil {
			return nil, m.failure(err)
		}
		for _, row := range page.Rows {
			text, err := json.Marshal(row)
			must(m.t, err)
			var fields map[string]any
			must(m.t, json.Unmarshal(text, &fields))
			all[row.ID.String()] = asOneSees(fields)
		}
	}
	if len(all) != len(ids) {
		m.t.Errorf("%s lists %d rows, and has %d", m.name, len(ids), len(all))
	}
	return all, nil
}
