package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/redact"
	"github.com/cmemd/cmemd/internal/setting"
	"github.com/cmemd/cmemd/internal/tomledit"
)

// A Change is a key and its new value; nil: none any more.
type Change struct {
	Key   string
	Value *string
}

// SettingNamed is the setting of that key, or an error with the nearest one.
func SettingNamed(key string) (Setting, error) {
	all := new(Config).Settings()
	for _, s := range all {
		if s.Key == key {
			return s, nil
		}
	}
	err := &settingError{Where: FileName, Key: key, Suggestion: nearestKey(all, configLine{key: key})}
	if namesSecret(key) {
		return Setting{}, terminal.Advise(err, noKeys)
	}
	return Setting{}, terminal.Advise(err, "`cmemd config show --all` lists the keys, and what they may be")
}

// noKeys is what is said to whoever would write a key down.
const noKeys = "a key is never written down: NAME_key_env, NAME_key_file or NAME_key_command says where it is"

// A ChangePlan is what changes would make of a settings file.
type ChangePlan struct {
	NewText  []byte
	Old, New *Loaded
}

// PlanChanges looks whether changes can be made in the settings of home, and what comes of them.
func PlanChanges(a *terminal.App, home string, changes []Change) (p ChangePlan, err error) {
	before, err := readSettingsFile(home)
	if err != nil {
		return p, err
	}
	if p.NewText, err = Changed(before, changes); err != nil {
		return p, err
	}
	p.Old, _ = ReadSettings(home, a.Environ, before, nil) // what is wrong already is for `config check` to say
	p.New, _ = ReadSettings(home, a.Environ, p.NewText, nil)
	return p, mayChange(p.Old, p.New)
}

// WriteChanges makes changes in the settings file of home, on whatever others left there, all or none.
func WriteChanges(ctx context.Context, a *terminal.App, home string, changes []Change) (p ChangePlan, err error) {
	path, err := settingsFile(home)
	if err != nil {
		return p, err
	}
	lock, err := homedir.LockBeside(ctx, path)
	if errors.Is(err, homedir.ErrLocked) {
		return p, terminal.Advise(fmt.Errorf("%s: %w", path, err), "try again")
	}
	if err != nil {
		return p, err
	}
	defer lock.Close()
	if p, err = PlanChanges(a, home, changes); err != nil {
		return p, err
	}
	mode, err := modeToKeep(path)
	if err == nil {
		err = durable.Replace(path, p.NewText, mode)
	}
	if _, written := relay.ReadVariables(home); written && err == nil { // for hooks, which start the next daemon
		err = relay.WriteVariables(home, p.New.Variables())
	}
	return p, err
}

// modeToKeep is the mode of the file at path, and OwnFile where there is none, or others than this user may write to it. The error is for
// one that its owner made read-only.
func modeToKeep(path string) (fs.FileMode, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return homedir.OwnFile, nil
	case err != nil:
		return 0, err
	case info.Mode().Perm()&0o200 == 0:
		return 0, terminal.Advise(fmt.Errorf("%s is read-only", path), "chmod u+w %s", path)
	case info.Mode().Perm()&0o022 != 0:
		return homedir.OwnFile, nil
	}
	return info.Mode().Perm(), nil
}

// settingsFile is the file that holds the settings of a home, to which config.toml may be a link.
func settingsFile(home string) (string, error) {
	path := filepath.Join(home, FileName)
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return real, err
}

// Changed is a settings file with changes, each of which is checked by itself.
func Changed(data []byte, changes []Change) ([]byte, error) {
	for _, ch := range changes {
		s, err := SettingNamed(ch.Key)
		if err != nil {
			return nil, err
		}
		if ch.Value != nil {
			if err := check(s, *ch.Value); err != nil {
				return nil, err
			}
		}
		keys, err := tomledit.Parse(data)
		switch {
		case err != nil:
			return nil, terminal.Advise(fmt.Errorf("%s:%w", FileName, tomlError(err)), "correct the file first")
		case ch.Value == nil:
			data = keys.Without(ch.Key)
		default:
			data = keys.With(ch.Key, asTOML(s, *ch.Value))
		}
	}
	return data, nil
}

// check reports a value that s may not have.
func check(s Setting, value string) error {
	if _, found := redact.New().Text(value); len(found) > 0 {
		return terminal.Advise(fmt.Errorf("%s: %s would hold a secret: it is not written down", FileName, s.Key), noKeys)
	}
	line := configLine{where: FileName, key: s.Key, name: s.Key, value: value, kind: setting.KindText, untyped: true}
	if err := Standard().apply(line); err != nil {
		return terminal.Advise(err, "`cmemd config show %s` says what it may be", s.Key)
	}
	return nil
}

// mayChange reports what would not go together any more. What did not before is no reason to refuse a change.
func mayChange(old, now *Loaded) error {
	known := oneByOne(old.checkTogether())
	var fresh []error
	for _, err := range oneByOne(now.checkTogether()) {
		same := func(was error) bool { return was.Error() == err.Error() }
		if !slices.ContainsFunc(known, same) {
			fresh = append(fresh, err)
		}
	}
	if len(fresh) > 0 {
		return terminal.Advise(errors.Join(fresh...), "nothing was changed: set what belongs together at once, as in `cmemd config set KEY VALUE KEY VALUE`")
	}
	if !now.limitsMoney() || now.paysAs(old) {
		return nil
	}
	ps, err := LoadPrices(now.Home)
	if err != nil || old.CheckPrices(ps) != nil {
		return err
	}
	return now.CheckPrices(ps)
}

// oneByOne is what an error joins.
func oneByOne(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		if err == nil {
			return nil
		}
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, oneByOne(one)...)
	}
	return all
}

// asTOML is a value of s, which it allows, as TOML writes it.
func asTOML(s Setting, value string) string {
	s.Set(value)
	switch s.Kind {
	case setting.KindNumber, setting.KindMoney:
		return s.Get()
	case setting.KindList:
		var quoted []string
		for _, text := range setting.SplitList(value) {
			quoted = append(quoted, tomledit.Quote(text))
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return tomledit.Quote(value)
}
