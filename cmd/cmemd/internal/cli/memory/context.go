package memory

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/internal/number"
)

func newContext(a *terminal.App) *cobra.Command {
	none := "there is no memory of %s yet"
	place := func(_ *cobra.Command, q *api.ContextQuery, _ []string) error {
		switch {
		case q.Prompt != "":
			none = "nothing that is remembered of %s bears on that prompt"
		case q.File != "":
			none = "nothing that is remembered of %s bears on that file"
		case q.Characters > 0, q.Tokens > 0:
			none = "nothing that is remembered of %s fits into that"
		}
		return placeContext(q)
	}
	c := terminal.Asking(a, &cobra.Command{
		Use: "context", Short: "Show the memory that an agent would be given here now",
		Long: "Context shows what a session that starts in this folder would be given; with --prompt or --file what would be given\n" +
			"at that prompt, or before that file is read, where the settings context_prompts and context_files say so. Nothing is\n" +
			"recorded of it.",
		Example: "  cmemd context --explain\n  cmemd context --prompt \"why do discounts lose a cent\"\n  cmemd context --file cart/cart.go --explain",
	}, api.ContextRoute, place, func(a *terminal.App, answer api.ContextAnswer) error { return showContext(a, answer, none) })
	terminal.NotTogether(c, "source", "prompt", "file")
	return c
}

// placeContext fills in the folder that is asked about, and makes the file's path whole.
func placeContext(q *api.ContextQuery) (err error) {
	if q.File != "" {
		if q.File, err = filepath.Abs(q.File); err != nil {
			return err
		}
	}
	if q.Project != "" {
		return nil
	}
	if q.Cwd, err = os.Getwd(); err != nil {
		return terminal.Advise(err, "name the project with --project")
	}
	return nil
}

// showContext shows what would be given; none is how it is said that nothing would be, of a project.
func showContext(a *terminal.App, answer api.ContextAnswer, none string) error {
	if answer.Text != "" {
		a.Printf("%s\n", terminal.Visible(answer.Text))
		a.Infof("%s, about %s, %s of %s", number.Plural(answer.Characters, "character"), number.Plural(answer.Tokens, "token"),
			number.Plural(len(answer.IDs), "row"), terminal.VisibleLine(answer.Project))
	}
	explainContext(a, answer.Explain)
	if answer.Text == "" {
		return fmt.Errorf("%w: "+none, terminal.ErrNothing, cmp.Or(answer.Project, "this project"))
	}
	return nil
}

// missedRows is how many rows are shown that just missed.
const missedRows = 10

// explainContext says why each line is there, what just missed, and how many rows were not fit for it.
func explainContext(a *terminal.App, choices []recall.Choice) {
	l := terminal.List{Head: []string{"", "WORTH", "PER 1000", "WHY", "ID", "TITLE"}}
	missed, unfit := 0, tally{}
	for _, c := range choices {
		mark := "in"
		if !c.Chosen && c.Why != recall.WhyRoom {
			unfit.add(c.Why)
			continue
		}
		if !c.Chosen {
			mark = "missed"
			if missed++; missed > missedRows {
				continue
			}
		}
		l.Add(mark, fmt.Sprintf("%.2f", c.Weight), density(c), weightParts(c), a.ShownRow(c.ID, c.Handle), c.Title)
	}
	if len(l.Rows) > 0 {
		a.Print(l)
	}
	if missed > missedRows {
		a.Printf("%s more had no room\n", number.Plural(missed-missedRows, "row"))
	}
	for _, why := range unfit.order {
		a.Printf("%s out: %s\n", number.Plural(unfit.count[why], "row"), terminal.VisibleLine(why))
	}
}

// tally counts words in the order in which they came.
type tally struct {
	order []string
	count map[string]int
}

func (t *tally) add(word string) {
	if t.count == nil {
		t.count = map[string]int{}
	}
	if t.count[word]++; t.count[word] == 1 {
		t.order = append(t.order, word)
	}
}

// density is a row's weight a thousand characters.
func density(c recall.Choice) string {
	if c.Density == 0 {
		return "first"
	}
	return fmt.Sprintf("%.2f", c.Density)
}

// weightParts are the factors of a row's weight, as they multiply.
func weightParts(c recall.Choice) string {
	var list []string
	for _, p := range c.Parts {
		list = append(list, fmt.Sprintf("%s %.2f", p.Name, p.Factor))
	}
	return strings.Join(list, " x ")
}
