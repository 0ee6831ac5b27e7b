package setup

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

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
	ofHome  string // what names it in text
	from    string // as installation.from

	start, stop [][]string // commands that have the system know the file and run what it says, or end that and forget it
	known       []string   // a command that succeeds where the system runs it; launchd, also where it is about to
}

// serviceFor is the file of a system for the daemon of home. Person is the person's home folder; config that of settings.
func serviceFor(goos, person, config, program, home string) (s serviceFile, ok bool) {
	switch goos {
	case "linux":
		return serviceFile{
			manager: "systemd", path: filepath.Join(config, "systemd", "user", unitName), text: systemdUnit(program, home),
			ofHome: systemdHome(home),
			start:  [][]string{systemctl("daemon-reload"), systemctl("enable", unitName), systemctl("restart", unitName)},
			stop:   [][]string{systemctl("disable", "--now", unitName)}, known: systemctl("is-active", unitName),
		}, true
	case "darwin":
		domain, path := "gui/"+strconv.Itoa(os.Getuid()), filepath.Join(person, "Library", "LaunchAgents", agentName+".plist")
		return serviceFile{
			manager: "launchd", path: path, text: launchdPlist(program, home), ofHome: launchdHome(home),
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

// isOfHome reports whether text, which stands in the file, has the system run the daemon of the home of s.
func (s serviceFile) isOfHome(text string) bool { return strings.Contains(text, s.ofHome) }

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

func launchdHome(home string) string {
	return "<key>CMEMD_HOME</key>\n\t\t<string>" + xmlText(home) + "</string>"
}

func xmlText(s string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(s)) // a buffer takes all
	return out.String()
}
