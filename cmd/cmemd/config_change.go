package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/redact"
	"github.com/cmemd/cmemd/internal/tomledit"
)

// A change is a key and its new value; nil: none any more.
type change struct {
	key   string
	value *string
}

// settingNamed is the setting of that key, or an error with the nearest one.
func settingNamed(key string) (setting, error) {
	all := settings()
	for _, s := range all {
		if s.key == key {
			return s, nil
		}
	}
	err := &settingError{Where: fileName, Key: key, Near: nearestKey(all, configLine{key: key})}
	if namesSecret(key) {
		return setting{}, terminal.Advise(err, noKeys)
	}
	return setting{}, terminal.Advise(err, "`cmemd config show` lists the keys, and what they may be")
}

// noKeys is what is said to whoever would write a key down.
const noKeys = "a key is never written down: NAME_key_env, NAME_key_file or NAME_key_command says where it is"

// namesSecret reports whether somebody who sets such a key has a secret in the hand.
func namesSecret(key string) bool {
	return !strings.HasPrefix(key, "budget_") && slices.ContainsFunc([]string{"key", "token", "secret", "password"}, func(w string) bool { return strings.Contains(strings.ToLower(key), w) })
}

// A changePlan is what changes would make of a settings file.
type changePlan struct {
	after    []byte
	old, now *loaded
}

// planChanges looks whether changes can be made in the settings of home, and what comes of them.
func planChanges(a *terminal.App, home string, changes []change) (p changePlan, err error) {
	before, err := readConfig(filepath.Join(home, fileName))
	if err != nil {
		return p, err
	}
	if p.after, err = changed(before, changes); err != nil {
		return p, err
	}
	p.old, _ = readSettings(home, a.Environ, before, nil) // what is wrong already is for `config check` to say
	p.now, _ = readSettings(home, a.Environ, p.after, nil)
	return p, mayChange(p.old, p.now, changes)
}

// modeToKeep is the mode of the file at path, and ownFile where there is none, or others than this user may write to it.
func modeToKeep(path string) (fs.FileMode, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return homedir.OwnFile, nil
	case err != nil:
		return 0, err
	case info.Mode().Perm()&0o022 != 0:
		return homedir.OwnFile, nil
	}
	return info.Mode().Perm(), nil
}

// settingsFile is the file that holds the settings of a home, to which config.toml may be a link.
func settingsFile(home string) (string, error) {
	path := filepath.Join(home, fileName)
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return real, err
}

// changed is a settings file with changes, each of which is checked by itself.
func changed(data []byte, changes []change) ([]byte, error) {
	for _, ch := range changes {
		s, err := settingNamed(ch.key)
		if err != nil {
			return nil, err
		}
		if ch.value != nil {
			if err := s.check(*ch.value); err != nil {
				return nil, err
			}
		}
		keys, err := tomledit.Parse(data)
		switch {
		case err != nil:
			return nil, terminal.Advise(fmt.Errorf("%s:%w", fileName, tomlError(err)), "correct the file first")
		case ch.value == nil:
			data = keys.Without(ch.key)
		default:
			data = keys.With(ch.key, s.toml(*ch.value))
		}
	}
	return data, nil
}

// check reports a value that s may not have.
func (s setting) check(value string) error {
	if _, found := redact.New().Text(value); len(found) > 0 {
		return terminal.Advise(fmt.Errorf("%s: %s would hold a secret: it is not written down", fileName, s.key), noKeys)
	}
	line := configLine{where: fileName, key: s.key, name: s.key, value: value, kind: kindText, any: true}
	if err := standard().apply(line); err != nil {
		return terminal.Advise(err, "`cmemd config show` says what it may be")
	}
	return nil
}

// mayChange reports what would not go together any more. What did not before is no reason to refuse a change.
func mayChange(old, now *loaded, changes []change) error {
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
	ps, err := loadPrices(now.home)
	if err != nil || old.checkPrices(ps) != nil {
		return err
	}
	return now.checkPrices(ps)
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

// toml is a value of s, which it allows, as TOML writes it.
func (s setting) toml(value string) string {
	var c Config
	s.set(&c, value)
	switch s.kind {
	case kindNumber, kindMoney:
		return s.get(&c)
	case kindList:
		var quoted []string
		for _, text := range splitList(value) {
			quoted = append(quoted, tomledit.Quote(text))
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return tomledit.Quote(value)
}
