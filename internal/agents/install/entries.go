package install

import (
	"net"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/agents"
)

// isCmemdHandler reports whether a hook's entry is cmemd's: it runs cmemd's hook and nothing else, or posts to its daemon, which
// listens, or did, at one of some addresses.
func isCmemdHandler(v any, addrs []string) bool {
	entry, ok := v.(map[string]any)
	if !ok {
		return false
	}
	if address, ok := entry["url"].(string); ok {
		return slices.ContainsFunc(addrs, func(addr string) bool { return isCmemdAddress(address, addr) })
	}
	command, _ := entry["command"].(string)
	if args, ok := entry["args"].([]any); ok {
		return isCmemdCommand(append([]string{command}, texts(args)...))
	}
	words, ok := splitLine(command)
	return ok && isCmemdCommand(words)
}

// isCmemdAddress reports whether an address is that of the hooks of some agent, at the daemon that listens at addr.
func isCmemdAddress(address, addr string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil || u.Port() != port || u.Hostname() != host && !(isLoopback(host) && isLoopback(u.Hostname())) {
		return false
	}
	agent, found := strings.CutPrefix(u.Path, "/v1/hooks/")
	return found && slices.Contains(agents.Names(), agent)
}

// isLoopback reports whether a host is this machine, by whatever name.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// isCmemdServer reports whether the entry of an MCP server runs cmemd.
func isCmemdServer(v any) bool {
	entry, ok := v.(map[string]any)
	if !ok {
		return false
	}
	var words []string
	switch command := entry["command"].(type) {
	case string:
		args, _ := entry["args"].([]any)
		words = append([]string{command}, texts(args)...)
	case []any:
		words = texts(command)
	}
	words = behindEnv(words)
	return len(words) >= 2 && programName(words[0]) == "cmemd" && words[1] == "mcp"
}

// isCmemdCommand reports whether a command is cmemd's hook.
func isCmemdCommand(words []string) bool {
	words = behindEnv(words)
	if len(words) < 2 {
		return false
	}
	switch programName(words[0]) {
	case "cmemd-hook":
		return true
	case "cmemd":
		return words[1] == "hook"
	}
	return false
}

// behindEnv is a command without the variables that it is given, by a shell or by env.
func behindEnv(words []string) []string {
	for i, w := range words {
		if !strings.Contains(w, "=") && (i > 0 || programName(w) != "env") {
			return words[i:]
		}
	}
	return nil
}

// programName is the name of a program, without its folder and, on Windows, its extension.
func programName(p string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(p, `\`, "/")), ".exe")
}

// splitLine parts a shell's line into words. It reports false for a line that does more than run one program.
func splitLine(line string) (words []string, ok bool) {
	var word strings.Builder
	quote, within, escaped := rune(0), false, false
	end := func() {
		if within {
			words = append(words, word.String())
		}
		word.Reset()
		within = false
	}
	for i, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote == 0 && i+1 < len(line) && strings.ContainsRune(`'"\ `, rune(line[i+1])):
			escaped, within = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, within = r, true
		case r == ' ' || r == '\t':
			end()
		case strings.ContainsRune("|&;<>()`$\n", r):
			return nil, false
		default:
			word.WriteRune(r)
			within = true
		}
	}
	end()
	return words, quote == 0
}

// texts are the strings of a list.
func texts(list []any) []string {
	var out []string
	for _, v := range list {
		if text, ok := v.(string); ok {
			out = append(out, text)
		}
	}
	return out
}
