package install

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A Trust is what Codex says of one of cmemd's hooks. It runs those alone that the person trusts, and says nothing of others.
type Trust struct {
	Event   string `json:"event"`  // as Codex spells it here: sessionStart
	Status  string `json:"status"` // trusted, untrusted, modified, ...
	Enabled bool   `json:"enabled"`
}

// Trusted reports whether Codex runs the hook.
func (t Trust) Trusted() bool { return t.Enabled && t.Status == "trusted" }

// Refused names the events of those hooks that the agent does not run.
func Refused(all []Trust) (events []string) {
	for _, t := range all {
		if !t.Trusted() {
			events = append(events, t.Event)
		}
	}
	return events
}

// trustRequests ask `codex app-server` for its hooks.
const (
	trustInit = `{"id":0,"method":"initialize","params":{"clientInfo":{"name":"cmemd","title":"cmemd","version":%q}}}` + "\n" +
		`{"method":"initialized"}` + "\n"
	trustList = `{"id":1,"method":"hooks/list","params":{"cwds":[%q]}}` + "\n"
)

// TrustRequest is what is written to `codex app-server` to learn which hooks it would run in the folder cwd.
func TrustRequest(version, cwd string) string {
	return fmt.Sprintf(trustInit, version) + fmt.Sprintf(trustList, cwd)
}

// ErrNoTrust is returned by ReadTrust where the answer is none.
var ErrNoTrust = errors.New("install: codex does not say which hooks it trusts")

// ReadTrust reads the answer to TrustRequest, line by line, up to the list of hooks, and returns cmemd's. Lines that are
// something else are passed over. It returns ErrNoTrust if the list does not come.
func ReadTrust(lines *bufio.Scanner) ([]Trust, error) {
	for lines.Scan() {
		var answer struct {
			ID     *int            `json:"id"`
			Error  json.RawMessage `json:"error"`
			Result struct {
				Data []struct {
					Hooks []struct {
						Event   string `json:"eventName"`
						Command string `json:"command"`
						Status  string `json:"trustStatus"`
						Enabled bool   `json:"enabled"`
					} `json:"hooks"`
				} `json:"data"`
			} `json:"result"`
		}
		line := bytes.TrimSpace(lines.Bytes())
		if json.Unmarshal(line, &answer) != nil || answer.ID == nil || *answer.ID != 1 {
			continue
		}
		if len(answer.Error) > 0 && strings.TrimSpace(string(answer.Error)) != "null" {
			return nil, ErrNoTrust
		}
		var found []Trust
		for _, folder := range answer.Result.Data {
			for _, h := range folder.Hooks {
				if words, ok := splitLine(h.Command); ok && isCmemdCommand(words) {
					found = append(found, Trust{Event: h.Event, Status: h.Status, Enabled: h.Enabled})
				}
			}
		}
		return found, nil
	}
	return nil, errors.Join(ErrNoTrust, lines.Err())
}
