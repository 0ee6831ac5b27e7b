package evidence

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamedAgain(t *testing.T) {
	t.Parallel()
	state := func(prompt int, title, text string) Finding {
		return Finding{Prompt: prompt, Title: title, Text: text, State: true}
	}
	done := Finding{Prompt: 3, Title: "Rows come by what they carry", Text: "`AxleSum` of `row_list.go` is not read any more."}
	tests := map[string]struct {
		all  []Finding
		want []bool
	}{
		"a state that was changed":             {[]Finding{state(1, "Rows are weighed by AxleSum", ""), done}, []bool{true, false}},
		"in whatever order they are given":     {[]Finding{done, state(1, "Rows are weighed by AxleSum", "")}, []bool{false, true}},
		"of which only its own prompt speaks":  {[]Finding{state(3, "Rows are weighed by AxleSum", ""), done}, []bool{false, false}},
		"that names more":                      {[]Finding{state(1, "Rows are weighed by AxleSum in scales.go", ""), done}, []bool{false, false}},
		"that is named by two prompts":         {[]Finding{state(1, "Rows of page.go are weighed by AxleSum", ""), {Prompt: 2, Title: "The pages of page.go are numbered"}, done}, []bool{true, false, false}},
		"that names nothing":                   {[]Finding{state(1, "Rows are weighed by their length", ""), done}, []bool{false, false}},
		"a cause":                              {[]Finding{state(1, "The scale jumps because AxleSum is signed", ""), done}, []bool{false, false}},
		"a cause whose title is cut before it": {[]Finding{state(1, "The list is weighed by AxleSum,…", "Yes. The list is weighed by `AxleSum`, because the index has it."), done}, []bool{false, false}},
		"a cause whose title is not cut":       {[]Finding{state(1, "Orders are weighed by AxleSum", "Orders are weighed by `AxleSum`, because the index has it."), done}, []bool{false, false}},
		"whose title is marked":                {[]Finding{state(1, "Orders are weighed by `AxleSum`…", "**Orders** are weighed by `AxleSum`, because the index has it."), done}, []bool{false, false}},
		"that is wrapped":                      {[]Finding{state(1, "Orders are weighed by AxleSum…", "Orders are\nweighed by `AxleSum`, because the index has it."), done}, []bool{false, false}},
		"of which another state speaks":        {[]Finding{state(1, "Rows are weighed by AxleSum", ""), state(3, "AxleSum is an integer", "")}, []bool{false, false}},
		"of no prompt":                         {[]Finding{state(0, "Rows are weighed by AxleSum", ""), done}, []bool{false, false}},
		"what was done":                        {[]Finding{{Prompt: 1, Title: "Rows are weighed by AxleSum"}, done}, []bool{false, false}},
		"nothing":                              {nil, []bool{}},
	}
	for name, test := range tests {
		if diff := cmp.Diff(test.want, NamedAgain(test.all)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}
