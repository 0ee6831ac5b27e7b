package config

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// ForHome reads the settings of this home. Beside an error come those that can be used, if any.
func ForHome(a *terminal.App) (*Loaded, error) { return ForProvider(a, "") }

// ForProvider reads the settings of this home as if they named one provider alone; "" is those that they name.
func ForProvider(a *terminal.App, provider string) (*Loaded, error) {
	home, err := a.Home()
	if err != nil {
		return nil, err
	}
	l, err := Load(home, alone(a.Environ, provider))
	return l, terminal.Advise(err, "correct %s, or the variable; `cmemd config show` lists the keys", filepath.Join(home, FileName))
}

// alone is environ with nobody to be asked but provider; "" leaves it as it is.
func alone(environ []string, provider string) []string {
	if provider == "" {
		return environ
	}
	only := []string{"CMEMD_PROVIDER=" + provider, "CMEMD_FALLBACKS=", "CMEMD_SUMMARY_PROVIDER=", "CMEMD_SUMMARY_MODEL=",
		"CMEMD_TRIVIAL_PROVIDER=", "CMEMD_TRIVIAL_MODEL="}
	said := func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(only, func(own string) bool { return strings.HasPrefix(own, name+"=") })
	}
	return append(slices.DeleteFunc(slices.Clone(environ), said), only...)
}
