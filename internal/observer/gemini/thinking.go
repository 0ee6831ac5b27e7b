package gemini

import (
	"regexp"
	"strconv"
	"strings"
)

// leastBudget is the smallest budget of a model that cannot do without thinking, as its documentation says it (2.5 Pro).
const leastBudget = 128

// leastThinking is how a model is told to think as little as it can, by the generation in its name: the second has a budget of
// tokens, later ones have levels, of which all know the low one, and no thinking is told of others. Nil: nothing is said.
func leastThinking(model string) *thinking {
	name := strings.TrimPrefix(model, "models/")
	if parts := generation().FindStringSubmatch(name); parts != nil {
		if n, err := strconv.Atoi(parts[1]); err == nil && n >= 3 {
			return &thinking{Level: "LOW"}
		}
	}
	if !strings.HasPrefix(name, "gemini-2.5-") {
		return nil
	}
	budget := 0
	if strings.HasPrefix(name, "gemini-2.5-pro") {
		budget = leastBudget
	}
	return &thinking{Budget: &budget}
}

// generation finds the number of a generation in the name of a model.
func generation() *regexp.Regexp { return regexp.MustCompile(`^gemini-([0-9]+)[-.]`) }

// namesThinking is for the fields by which a model is told how much to think. They may stand in a path.
func namesThinking(field string) bool {
	path := strings.ToLower(strings.ReplaceAll(field, "_", ""))
	return strings.Contains(path, "thinkingconfig") || strings.Contains(path, "thinkingbudget") || strings.Contains(path, "thinkinglevel")
}
