package replay

import (
	"fmt"
	"slices"
	"sync"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/internal/observer"
)

// Options are the assumptions of a run. The zero value is what a daemon does by default.
type Options struct {
	Settings policy.Settings // the numbers of the policies
	Types    observer.Types  // of observations; nil means those of the code mode
	Bare     bool            // results without marks: who draws nothing saves most of their memory
}

// Run plays s under the policy called name and returns what it would have done. The same scenario gives the same result.
// Errors are those of Scenario.Check, of policy.New, and ErrRunaway. Any number of goroutines may run one scenario.
func Run(s *Scenario, name policy.Name, opt Options) (Result, error) {
	results, err := Compare(s, []policy.Name{name}, opt)
	if err == nil && results[name].Error != "" {
		err = fmt.Errorf("%w under %s", ErrRunaway, name)
	}
	return results[name], err
}

// Compare is Run under each of names, and parses each output once for all of them. On an error there are no results; a
// policy that ran away is no error, but says so in its own result.
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
	t := record(s, typesOr(opt.Types), slices.ContainsFunc(names, policy.Name.ReadsPhrases))
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
