package capture

import (
	"testing"

	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/projections/projects"
)

// TestKeyOf: which project a folder is of, by what it claims and what is known.
func TestKeyOf(t *testing.T) {
	t.Parallel()
	known := projects.Known{}
	for _, r := range []projects.Root{
		{Path: "/src/payroll", Key: "remote:x/payroll", Claim: "remote:x/payroll", File: "1:1:1", Last: 1},
		{Path: "/src/later", Key: "dir:/src/later/.git", Claim: "remote:x/later", File: "1:2:2", Last: 2}, // was given its remote later
		{Path: "/src/parted", Key: "root:/src/parted", Claim: "remote:x/payroll", Decided: true, Last: 3},
		{Path: "/src/joined", Key: "remote:x/payroll", Claim: "remote:y/fork", Decided: true, Last: 4},
		{Path: "/work/a", Key: "name:work", Claim: "name:work", Last: 5},
		{Path: "/old/one", Key: "remote:x/old", Last: 6}, // of a release that recorded no claims
		{Path: "/old/two", Key: "remote:x/old", Last: 7},
	} {
		known[r.Path] = r
	}
	never := func(projects.Root) bool { return false }
	always := func(projects.Root) bool { return true }
	for what, c := range map[string]struct {
		claim claimed
		same  func(projects.Root) bool
		want  string
	}{
		"the folder itself":                   {claimed{evidence.Project{Root: "/src/payroll", Key: "remote:x/payroll"}, "1:1:1"}, never, "remote:x/payroll"},
		"a new clone at the same path":        {claimed{evidence.Project{Root: "/src/payroll", Key: "remote:x/payroll"}, "1:9:9"}, never, "remote:x/payroll"},
		"restored without its remote":         {claimed{evidence.Project{Root: "/src/payroll", Key: "dir:/src/payroll"}, "2:1:1"}, never, "remote:x/payroll"},
		"its remote was set to another's":     {claimed{evidence.Project{Root: "/src/later", Key: "remote:x/payroll"}, "1:2:2"}, never, "dir:/src/later/.git"},
		"another folder claims its remote":    {claimed{evidence.Project{Root: "/tmp/evil", Key: "remote:x/payroll"}, "1:7:7"}, never, "root:/tmp/evil"},
		"another claims a remote set later":   {claimed{evidence.Project{Root: "/tmp/evil", Key: "remote:x/later"}, "1:7:7"}, never, "root:/tmp/evil"},
		"nobody is that":                      {claimed{evidence.Project{Root: "/src/new", Key: "remote:x/new"}, "1:7:7"}, never, "remote:x/new"},
		"moved":                               {claimed{evidence.Project{Root: "/src/pay", Key: "remote:x/payroll"}, "1:1:1"}, always, "remote:x/payroll"},
		"moved, and says something else":      {claimed{evidence.Project{Root: "/src/pay", Key: "dir:/src/pay"}, "1:1:1"}, always, "remote:x/payroll"},
		"copied with the old one still there": {claimed{evidence.Project{Root: "/src/pay", Key: "remote:x/payroll"}, "1:1:1"}, never, "root:/src/pay"},
		"another folder, gone or not":         {claimed{evidence.Project{Root: "/src/pay", Key: "remote:x/payroll"}, "1:5:5"}, always, "root:/src/pay"},
		"nothing names the folder":            {claimed{evidence.Project{Root: "/src/pay", Key: "remote:x/payroll"}, ""}, always, "root:/src/pay"},
		"a committed file's name":             {claimed{evidence.Project{Root: "/tmp/evil", Key: "name:work"}, ""}, never, "root:/tmp/evil"},
		"the person's file above both":        {claimed{evidence.Project{Root: "/work/b", Key: "name:work", Above: "/work"}, ""}, never, "name:work"},
		"a file above of the same name":       {claimed{evidence.Project{Root: "/more/b", Key: "name:work", Above: "/more"}, ""}, never, "root:/more/b"},
		"a file beside of the same beginning": {claimed{evidence.Project{Root: "/work/a/b", Key: "name:work", Above: "/wor"}, ""}, never, "root:/work/a/b"},
		"a person parted it":                  {claimed{evidence.Project{Root: "/src/parted", Key: "remote:x/payroll"}, ""}, never, "root:/src/parted"},
		"a person joined it":                  {claimed{evidence.Project{Root: "/src/joined", Key: "remote:y/fork"}, ""}, never, "remote:x/payroll"},
		"joined, with a file that parts":      {claimed{evidence.Project{Root: "/src/joined", Key: "dir:/src/joined", Own: true}, ""}, never, "remote:x/payroll"},
		"a file parts it":                     {claimed{evidence.Project{Root: "/src/payroll", Key: "dir:/src/payroll", Own: true}, ""}, never, "root:/src/payroll"},
		"joined by an earlier release":        {claimed{evidence.Project{Root: "/old/one", Key: "remote:x/old"}, ""}, never, "remote:x/old"},
		"the same, and now another remote":    {claimed{evidence.Project{Root: "/old/two", Key: "remote:x/moved"}, ""}, never, "remote:x/old"},
		"a third clone of that":               {claimed{evidence.Project{Root: "/old/three", Key: "remote:x/old"}, ""}, never, "root:/old/three"},
	} {
		if got := keyOf(known, c.claim, c.same); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}
