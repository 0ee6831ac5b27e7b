package replay

import (
	"slices"
	"sync"

	"github.com/cmemd/cmemd/actors/policy"
)

// Options are the assumptions of a run. The zero value is what a daemon does by default.
type Options struct {
	Settings policy.Settings // the numbers of the policies
	Bare     bool            // results without marks: who draws nothing saves most of their memory
}

// Compare plays s under each of the policies called names, and returns what each would have done; outputs are parsed once for
// all, and may have the types of the code mode. The same scenario gives the same results. Errors are those of Scenario.Check and
// of policy.New, and there are no results then; a policy that ran away is no error, but says so in its own result. Any number of
// goroutines may play one scenario.
func Compare(s *Scenario, names []policy.Name, opt Options) (map[policy.Name]Result, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	policies := make([]*policy.Policy, len(names))
	for i, name := range names {
		var err error
		if policies[i], err = policy.New(name, opt.Settings); err != nil {
			return nil, err
		}
	}
	t := record(s, typesOr(nil), slices.ContainsFunc(names, policy.Name.ReadsPhrases))
	return playAll(t, policies, !opt.Bare), nil
}

// playAll plays t under all policies at once.
func playAll(t *tape, policies []*policy.Policy, marks bool) map[policy.Name]Result {
	played := make([]Result, len(policies))
	var wg sync.WaitGroup
	for i, p := range policies {
		wg.Go(func() { played[i] = play(t, p, marks) })
	}
	wg.Wait()
	results := make(map[policy.Name]Result, len(policies))
	for i, p := range policies {
		results[p.Name()] = played[i]
	}
	return results
}
