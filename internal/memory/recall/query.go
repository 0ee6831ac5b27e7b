package recall

import (
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/rows"
)

const (
	// DefaultLimit and MaxLimit are how many items a search returns at most: where none is asked for, and whatever is asked for.
	DefaultLimit = 20
	MaxLimit     = 100

	// MaxOffset bounds paging: who wants to read everything exports the log.
	MaxOffset = 10_000

	// MaxRecency is the most that the newest can be worth above the very old.
	MaxRecency = 10.0
)

// ErrBadQuery is a query that cannot be answered: a kind that does not exist, a limit or offset out of range.
var ErrBadQuery = errors.New("recall: bad query")

// Sort is an order of results.
type Sort string

// Query says what to look for. The zero value finds the newest rows of all kinds.
type Query struct {
	Text string // any of its words; empty: what passes the filters, newest first

	Project string      // its root, or its shown name; this and the following filters: empty means any
	Key     string      // with a root in Project: what identifies it; empty: as is known of the root
	Kinds   []rows.Kind // any of observation, summary, memory, prompt
	Type    string
	Concept string
	File    string // the end of a path, or of a folder's: what lies in it; an absolute one in every folder of its project
	FileIn  FileIn // with an absolute File: what is known of where it lies
	Session string // our id, or the agent's or the saver's own name
	Agent   string
	Since   time.Time // inclusive, as Until
	Until   time.Time
	AsOf    events.Position // as it was known then; what was forgotten since stays forgotten. 0: now

	Sort      Sort
	Recency   float64                 // how much more the newest is worth than the very old: 0.1 is a tenth. 0: as configured; below 0: none
	Limit     int                     // 0 means DefaultLimit; at most MaxLimit
	Offset    int                     // items to pass over; at most MaxOffset
	Shown     func(id events.ID) bool // whether an earlier page has an item of that mark, which is left out then; Offset and LastShown do not count. nil: none has
	LastShown events.ID               // the last row of the page before: the answer begins after it. Where it is not found any more, Offset counts
	Facets    bool                    // count the values of all that match
	Brief     bool                    // items say nothing of what else is of their entries
	Explain   bool                    // say of each result why it has its score
	Near      bool                    // look for what means the same too, where there are vectors

	ungrouped bool // every row stands for itself, not for its entry

	most int // documents to look at for the words together; 0: all. See index.Query
}

// Answer is the answer to a query.
type Answer struct {
	Position events.Position `json:"position"`         // what it knew
	Results  []Item          `json:"results"`          // in the order asked for. Never nil
	Passed   []events.ID     `json:"-"`                // the marks of those before them that Offset passed over
	Last     events.ID       `json:"-"`                // the row behind which the next page begins: newer work stands before what it goes on with
	Total    int             `json:"total"`            // what paging can show; far from the end, where rows of one entry are not folded yet, fewer come
	Facets   *Facets         `json:"facets,omitempty"` // if asked for
	Near     bool            `json:"near,omitempty"`   // vectors were looked at too
	Note     string          `json:"note,omitempty"`   // what a person should know of the vectors that were not, or not all, looked at
}

// Facets says how what matches is spread, found by words or by what it means. Rows that were superseded or folded since are
// counted too. None of its lists is nil.
type Facets = index.Facets

// Count is how many of the rows that match have a value.
type Count = index.Count

// Nothing is the answer to q where nothing matches, by what is known at a position.
func (q Query) Nothing(known events.Position) Answer {
	out := Answer{Position: known, Results: []Item{}}
	if q.Facets {
		out.Facets = &Facets{Project: []Count{}, Type: []Count{}, Concept: []Count{}, File: []Count{}, Month: []Count{}}
	}
	return out
}

// check fills in what q leaves open, and says what is wrong with it.
func (q *Query) check() error {
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	if q.Limit < 0 || q.Limit > MaxLimit {
		return fmt.Errorf("%w: limit %d is not 1 to %d", ErrBadQuery, q.Limit, MaxLimit)
	}
	if q.Offset < 0 || q.Offset > MaxOffset {
		return fmt.Errorf("%w: offset %d is not 0 to %d", ErrBadQuery, q.Offset, MaxOffset)
	}
	if q.Recency > MaxRecency || q.Recency != q.Recency {
		return fmt.Errorf("%w: recency %v is above %v", ErrBadQuery, q.Recency, MaxRecency)
	}
	return nil
}

// hit is a row that was found and is to be shown.
type hit struct {
	row     *rows.Row  // nil: not read yet
	unread  *index.Hit // what names such a row
	score   float64
	phrase  float64 // what the score was raised by for words that stand together, as a part of it
	why     *index.Explanation
	similar []events.ID // rows that say nearly the same, and are not shown
	marks   []events.ID // of their entries
	joined  []events.ID // rows of its entry that matched too
	count   int         // how often these say it
	ranks   *Ranks      // where it stands in what was fused; nil: in one list alone
}

// FileIn is what the disk tells of a file or a folder that is named by its absolute path: which project it lies in, and
// where. The zero value is that it tells nothing; then what sessions said of their projects counts.
type FileIn struct {
	Root string // of the project
	Key  string // what identifies that; empty: as is known of the root
	Path string // below the top of its working tree, with slashes; "." for the top itself
}

// The orders. Empty is Relevance.
const (
	Relevance Sort = "relevance" // best first; without a text newest first
	Newest    Sort = "newest"
	Oldest    Sort = "oldest"
)
