package replay

import (
	"fmt"
	"slices"
	"sync"

	"github.com/cmemd/cmemd/observer"
	"github.com/cmemd/cmemd/policy"
)

// Options are the assumptions of a run. The zero value is what a daemon does by default.
type Options struct {
	Settings policy.Settings // the numbers of the policies
	Types    observer.Types  // of observations; nil means those of the code mode
}

// Run plays s under the policy called name and returns what it would have done. The same scenario gives the same result.
// Errors are those of Scenario.Check, of policy.New, and ErrRunaway. Any number of goroutines may run one scenario.
func Run(s *Scenario, name policy.Name, opt Options) (Result, error) {
	results, err := Compare(s, []policy.Name{name}, opt)
	return results[name], err
}

// Compare is Run under each of names, and parses each output once for all of them. On an error there are no results.
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
	if opt.Types == nil {
		opt.Types = observer.CodeMode().TypeIDs()
	}
	t := record(s, opt.Types, slices.ContainsFunc(names, policy.Name.ReadsPhrases))
	return playAll(t, policies)
}

// playAll plays t under all policies at once.
func playAll(t *tape, policies []*policy.Policy) (map[policy.Name]Result, error) {
	played, errs := make([]Result, len(policies)), make([]error, len(policies))
	var wg sync.WaitGroup
	for i, p := range policies {
		wg.Go(func() { played[i], errs[i] = play(t, p) })
	}
	wg.Wait()
	results := make(map[policy.Name]Result, len(policies))
	for i, p := range policies {
		if errs[i] != nil {
			return nil, fmt.Errorf("%w under %s", errs[i], p.Name())
		}
		results[p.Name()] = played[i]
	}
	return results, nil
}
