package index

import (
	"path"
	"strings"

	api "github.com/blevesearch/bleve_index_api"
	"github.com/cmemd/cmemd/internal/clip"
)

// The fields. All but the text hold terms to filter by, without frequencies.
const (
	fieldID      = "_id" // scorch's own name for it
	fieldText    = "text"
	fieldKind    = "kind"
	fieldProject = "project" // the root and the shown name; without a root the name once more, marked
	fieldSession = "session" // our id, and the agent's or the saver's own name
	fieldAgent   = "agent"
	fieldType    = "type"
	fieldConcept = "concept"
	fieldFile    = "file" // every suffix of the path that begins at a folder
	fieldPath    = "path" // the paths whole, to count them
)

const (
	// Title words count this many times: a title is what the observer thought the whole is about.
	titleWeight = 3
	// Concepts and subtitles are chosen words too, but more general ones.
	chosenWeight = 2

	// maxText is how many bytes of one part of a document are read for words; a pasted log is no better found by more.
	maxText = 32 << 10

	// maxFiles and maxFolders bound the terms of one document's paths.
	maxFiles   = 64
	maxFolders = 8

	// maxTerm is the longest filter term in bytes; a query is cut alike.
	maxTerm = 512
)

// part is a piece of a document's text.
type part struct {
	text   string
	weight int
}

// document is what the index keeps of one memory. It implements scorch's Document.
type document struct {
	ref
	fields []*field
}

// newDocument returns a document with the fields that every document has.
func newDocument(r ref, parts []part, a *analyzer) *document {
	d := &document{ref: r}
	d.fields = append(d.fields, &field{name: fieldText, parts: parts, analyzer: a}) // the first: measure
	d.filter(fieldKind, string(rune(r.kind)))
	return d
}

// filter adds terms to filter by; empty ones are left out.
func (d *document) filter(name string, terms ...string) {
	tf := make(api.TokenFrequencies, len(terms))
	for _, t := range terms {
		if t = clip.Head(t, maxTerm); t != "" {
			tf[t] = &api.TokenFreq{}
		}
	}
	if len(tf) > 0 {
		d.fields = append(d.fields, &field{name: name, tokens: tf})
	}
}

// project adds the terms of a project. What has no root can be asked for by its name apart from what has one. A name that another
// project's root, or another name's mark, could be is no term: names are anybody's word.
func (d *document) project(root, name string) {
	if isRootTerm(name) || strings.HasPrefix(name, rootlessMark) {
		name = ""
	}
	var alone []string
	if root == "" {
		alone = rootless([]string{name})
	}
	d.filter(fieldProject, append(alone, root, name)...)
}

// isRootTerm reports whether a term of a project is a root: its shown name is a term too.
func isRootTerm(term string) bool { return strings.Contains(term, `\`) || path.IsAbs(term) }

// rootlessMark begins the terms of names without a root: no name begins so, nor does a path.
const rootlessMark = "\x00"

// rootless are the terms of what has one of the names and no root.
func rootless(names []string) (terms []string) {
	for _, name := range names {
		if name != "" {
			terms = append(terms, rootlessMark+name)
		}
	}
	return terms
}

// files adds every suffix of every path.
func (d *document) files(paths ...[]string) {
	var terms, whole []string
	for _, list := range paths {
		for _, p := range list[:min(len(list), maxFiles)] {
			terms, whole = append(terms, suffixes(p)...), append(whole, p)
		}
	}
	d.filter(fieldFile, terms...)
	d.filter(fieldPath, whole...)
}

// suffixes returns a/b/c.go, b/c.go and c.go for /a/b/c.go.
func suffixes(path string) []string {
	parts := strings.Split(cleanPath(path), "/")
	var out []string
	for i := len(parts) - 1; i >= 0 && len(out) < maxFolders; i-- {
		out = append(out, strings.Join(parts[i:], "/"))
	}
	return out
}

// fileTerm is the term that finds the files whose path ends as path does; of a deep path the end counts.
func fileTerm(path string) string {
	parts := strings.Split(cleanPath(path), "/")
	return strings.Join(parts[max(0, len(parts)-maxFolders):], "/")
}

// cleanPath makes one form of the ways to write a path's end.
func cleanPath(path string) string {
	path = strings.TrimPrefix(strings.ReplaceAll(path, `\`, "/"), "./")
	return strings.Trim(path, "/")
}

func (d *document) ID() string                               { return d.encode() }
func (d *document) Size() int                                { return refSize }
func (d *document) VisitComposite(api.CompositeFieldVisitor) {}
func (d *document) HasComposite() bool                       { return false }
func (d *document) NumPlainTextBytes() uint64                { return 0 }
func (d *document) StoredFieldsBytes() uint64                { return 0 }
func (d *document) Indexed() bool                            { return false }

func (d *document) VisitFields(visit api.FieldVisitor) {
	for _, f := range d.fields {
		visit(f)
	}
}

func (d *document) AddIDField() {
	name := []byte(d.encode())
	id := &api.TokenFreq{}
	id.SetFrequency(1)
	d.fields = append(d.fields, &field{name: fieldID, value: name, length: 1, tokens: api.TokenFrequencies{string(name): id}})
}

// field is one field of a document; the text's terms are found in Analyze, which scorch calls in its workers.
type field struct {
	name     string
	value    []byte // stored, if not nil
	tokens   api.TokenFrequencies
	length   int
	parts    []part
	analyzer *analyzer
}

func (f *field) Analyze() {
	if f.analyzer != nil {
		f.tokens, f.length = f.analyzer.count(f.parts)
		f.parts, f.analyzer = nil, nil
	}
}

func (f *field) Options() api.FieldIndexingOptions {
	switch {
	case f.value != nil:
		return api.IndexField | api.StoreField
	case f.name == fieldText:
		return api.IndexField
	}
	return api.IndexField | api.SkipFreqNorm
}

func (f *field) Name() string                                   { return f.name }
func (f *field) Value() []byte                                  { return f.value }
func (f *field) ArrayPositions() []uint64                       { return nil }
func (f *field) EncodedFieldType() byte                         { return 't' }
func (f *field) AnalyzedLength() int                            { return f.length }
func (f *field) AnalyzedTokenFrequencies() api.TokenFrequencies { return f.tokens }
func (f *field) NumPlainTextBytes() uint64                      { return 0 }

// count returns the weighted terms of parts and how many there are, weights left out.
func (a *analyzer) count(parts []part) (api.TokenFrequencies, int) {
	size := 0
	for _, p := range parts {
		size += min(len(p.text), maxText)
	}
	tokens, length := make(api.TokenFrequencies, size/10), 0
	slab := make([]api.TokenFreq, 0, size/10+8)
	var keys strings.Builder // holds what all keys are cut from; scorch reads them and no TokenFreq's Term
	keys.Grow(size)
	for _, p := range parts {
		a.terms(clip.Head(p.text, maxText), false, func(term []byte, _ role) {
			length++
			tf := tokens[string(term)]
			if tf == nil {
				if len(slab) == cap(slab) {
					slab = make([]api.TokenFreq, 0, cap(slab))
				}
				slab = slab[:len(slab)+1]
				tf = &slab[len(slab)-1]
				start := keys.Len()
				keys.Write(term)
				tokens[keys.String()[start:]] = tf
			}
			tf.SetFrequency(tf.Frequency() + p.weight)
		})
	}
	return tokens, length
}
