package setup

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/install"
	"github.com/cmemd/cmemd/internal/durable"
)

// The names under which the systems know the daemon.
const (
	unitName  = "cmemd.service"
	agentName = "dev.cmemd.daemon"
)

// A serviceFile is what has the system run the daemon.
type serviceFile struct {
	manager string // systemd, launchd
	path    string
	text    string
	home    string // of the daemon
	from    string // as installation.from

	homeIn func(text string) string // reads the home out of such a text; empty: none is in it

	start, stop [][]string // commands that have the system know the file and run what it says, or end that and forget it
	known       []string   // a command that succeeds where the system runs it; launchd, also where it is about to
}

// serviceFor is the file of a system for the daemon of home. Person is the person's home folder; config that of settings.
func serviceFor(goos, person, config, program, home string) (s serviceFile, ok bool) {
	switch goos {
	case "linux":
		return serviceFile{
			manager: "systemd", path: filepath.Join(config, "systemd", "user", unitName), text: systemdUnit(program, home),
			home: home, homeIn: homeInUnit,
			start: [][]string{systemctl("daemon-reload"), systemctl("enable", unitName), systemctl("restart", unitName)},
			stop:  [][]string{systemctl("disable", "--now", unitName)}, known: systemctl("is-active", unitName),
		}, true
	case "darwin":
		domain, path := "gui/"+strconv.Itoa(os.Getuid()), filepath.Join(person, "Library", "LaunchAgents", agentName+".plist")
		return serviceFile{
			manager: "launchd", path: path, text: launchdPlist(program, home),
			home: home, homeIn: homeInPlist,
			// What `launchctl unload -w` or disable has disabled, perhaps long ago, is refused: "5: Input/output error".
			start: [][]string{{"launchctl", "enable", domain + "/" + agentName}, {"launchctl", "bootstrap", domain, path}},
			stop:  [][]string{{"launchctl", "bootout", domain + "/" + agentName}}, known: []string{"launchctl", "print", domain + "/" + agentName},
		}, true
	}
	return s, false
}

func systemctl(args ...string) []string { return append([]string{"systemctl", "--user"}, args...) }

// errForeignService is a file under the service's name that somebody else wrote.
var errForeignService = errors.New("it is not cmemd's")

// writtenBy is in each file that is written, and in no other.
const writtenBy = "written by `cmemd service install`, which writes it anew"

// maxUnitBytes is longer than any service file, in bytes.
const maxUnitBytes = 1 << 20

// isOfHome reports whether text, which stands in the file, has the system run the daemon of the home of s, by whichever path.
func (s serviceFile) isOfHome(text string) bool {
	home := s.homeIn(text)
	return home == s.home || home != "" && isSameFile(home, s.home)
}

// checkHome refuses text, which stands in the file, where it has the system run the daemon of another home.
func (s serviceFile) checkHome(text string) error {
	home := s.homeIn(text)
	if home == "" || s.isOfHome(text) {
		return nil
	}
	return terminal.Advise(fmt.Errorf("%s: %w", s.path, errOtherHome),
		"%s stops that daemon and takes the file away; or keep it: hooks start a daemon where none runs", s.uninstallOf(text))
}

// uninstallOf is the command that takes the file away in whose place text stands.
func (s serviceFile) uninstallOf(text string) string {
	home := s.homeIn(text)
	if home == "" {
		return "`cmemd service uninstall`"
	}
	return fmt.Sprintf("`cmemd --home %s service uninstall`", install.ShellWord(runtime.GOOS, home))
}

// read is what stands in the file. The errors are those of reading it, and errForeignService.
func (s serviceFile) read() (string, error) {
	text, err := durable.ReadLinked(s.path, maxUnitBytes)
	if err == nil && !bytes.Contains(text, []byte(writtenBy)) {
		err = fmt.Errorf("%s: %w", s.path, errForeignService)
	}
	return string(text), err
}

// systemdUnit runs the daemon in the person's session. A daemon that hooks have started is asked to make room first; one that
// is asked to stop ends with 0 and is not started again. No variable of the session is a setting, as for a daemon that hooks start.
func systemdUnit(program, home string) string {
	return "# " + writtenBy + fmt.Sprintf(`

[Unit]
Description=cmemd, a memory for coding agents
Documentation=https://github.com/cmemd/cmemd

[Service]
%sExecStartPre=-%s stop
ExecStart=%s serve --no-env
Restart=on-failure
RestartSec=5
TimeoutStopSec=15
UMask=0077

[Install]
WantedBy=default.target
`, systemdHome(home), systemdProgram(program), systemdProgram(program))
}

func systemdHome(home string) string { return "Environment=" + systemdWord("CMEMD_HOME="+home) + "\n" }

// homeInUnit is the home that systemdHome wrote into a unit.
func homeInUnit(text string) string {
	for line := range strings.Lines(text) {
		word, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "Environment=")
		if home, ofHome := strings.CutPrefix(plainWord(word), "CMEMD_HOME="); found && ofHome {
			return home
		}
	}
	return ""
}

// systemdProgram is a program as units start it. Of a path with quotes, backslashes or tabs systemd starts none: a shell does.
func systemdProgram(path string) string {
	if !strings.ContainsAny(path, "\"'\\\t") {
		return systemdWord(path)
	}
	return `/bin/sh -c "exec \"$$0\" \"$$@\"" ` + strings.ReplaceAll(systemdWord(path), "$", "$$")
}

// systemdWord is a word as units have it where no variables are put in: quoted where it has to be, with % doubled.
func systemdWord(word string) string {
	word = strings.NewReplacer("%", "%%", `\`, `\\`, `"`, `\"`).Replace(word)
	if strings.ContainsAny(word, " \t'\"\\;") {
		return `"` + word + `"`
	}
	return word
}

// plainWord is the word that systemdWord wrote.
func plainWord(word string) string {
	if inside, quoted := strings.CutPrefix(word, `"`); quoted {
		word = strings.TrimSuffix(inside, `"`)
	}
	return strings.NewReplacer("%%", "%", `\\`, `\`, `\"`, `"`).Replace(word)
}

// launchdPlist runs the daemon at login. One that ends with 0 was asked to, and is not started again. No variable of the session is a
// setting.
func launchdPlist(program, home string) string {
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- %s -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>
		<string>%s</string>
		<string>serve</string>
		<string>--no-env</string>
	</array>
	<key>EnvironmentVariables</key>
	<dict>
		%s
	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>5</integer>
	<key>Umask</key>
	<integer>63</integer>
	<key>ProcessType</key>
	<string>Background</string>
</dict>
</plist>
`, writtenBy, agentName, xmlText(program), launchdHome(home))
}

// homeKey stands before the home in a plist.
const homeKey = "<key>CMEMD_HOME</key>\n\t\t<string>"

func launchdHome(home string) string { return homeKey + xmlText(home) + "</string>" }

// homeInPlist is the home that launchdHome wrote into a plist.
func homeInPlist(text string) string {
	_, behind, _ := strings.Cut(text, homeKey)
	home, _, _ := strings.Cut(behind, "</string>")
	return html.UnescapeString(home)
}

func xmlText(s string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(s)) // a buffer takes all
	return out.String()
}
