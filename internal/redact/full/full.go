package full

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/cmemd/cmemd/internal/redact"
)

// A Redactor takes secrets out of texts. Its methods are safe for concurrent use; what it needs it makes once, when it is
// needed first.
type Redactor struct {
	fast func() *redact.Redactor
	set  func() (*ruleSet, error)
}

// New returns a Redactor. It makes nothing yet.
func New() *Redactor { return from(rulesFile) }

// rulesFile is config/gitleaks.toml of github.com/zricethezav/gitleaks/v8 v8.30.1, as it is there, under the licence beside it. The
// module itself would bring some 50 packages for this one file.
//
//go:generate sh -c "install -m 644 $(go mod download -json github.com/zricethezav/gitleaks/v8@v8.30.1 | sed -n 's/.*\"Dir\": \"\\(.*\\)\".*/\\1/p')/config/gitleaks.toml gitleaks/gitleaks.toml"
//go:embed gitleaks/gitleaks.toml
var rulesFile string

// from returns a Redactor with the rules of a file of gitleaks.
func from(rules string) *Redactor {
	return &Redactor{
		fast: sync.OnceValue(redact.New),
		set:  sync.OnceValues(func() (*ruleSet, error) { return parse(rules) }),
	}
}

// Load makes all that the Redactor may need, and returns a *RuleError if some of it cannot be made. Nobody has to call it.
func (r *Redactor) Load() error {
	r.fast()
	set, err := r.set()
	if err != nil {
		return err
	}
	for _, rule := range set.rules {
		if _, err := rule.compiled(); err != nil {
			return err
		}
	}
	return nil
}

// Text returns s with a mark in the place of each secret, and how many there were by rule; s itself and nil where there is
// none. With an error, which is a *RuleError, nothing of s may be shown: out is empty.
func (r *Redactor) Text(s string) (out string, found map[string]int, err error) {
	set, err := r.set()
	if err != nil {
		return "", nil, err
	}
	found = map[string]int{}
	for range passes {
		var more map[string]int
		s, more = r.fast().KnownForms(s)
		spans, err := set.spans(s)
		if err != nil {
			return "", nil, err
		}
		add(found, more)
		if len(spans) == 0 {
			break
		}
		s = redact.Replace(s, redact.Merge(spans), found)
	}
	s, general := r.fast().Text(s)
	add(found, general)
	if len(found) == 0 {
		return s, nil, nil
	}
	return s, found, nil
}

func add(to, more map[string]int) {
	for rule, n := range more {
		to[rule] += n
	}
}

// passes bounds how often a text is looked at again after secrets became marks: what stood beside them may be told for one
// by now.
const passes = 4

// All stands in the place of a text in which secrets cannot be looked for.
const All = "[redacted: the rules for secrets cannot be used]"

// TextOrAll is Text for those who cannot take an error: they get All instead. It looks at each part of s on its own that
// begins with a line of [[, so that no secret begins in one record of a question to a model and ends in another.
func (r *Redactor) TextOrAll(s string) string {
	const border = "\n[["
	var out strings.Builder
	for rest, more := s, true; more; {
		var part string
		part, rest, more = cutBefore(rest, border)
		text, _, err := r.Text(part)
		if err != nil {
			return All
		}
		out.WriteString(text)
	}
	return out.String()
}

// cutBefore is strings.Cut that leaves the separator at the start of the rest. One at the start of s separates nothing.
func cutBefore(s, separator string) (part, rest string, more bool) {
	if s == "" {
		return "", "", false
	}
	i := strings.Index(s[1:], separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i+1], s[i+1:], true
}
