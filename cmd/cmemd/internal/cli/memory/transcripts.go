package memory

import (
	"bufio"
	"cmp"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/order"
)

// A transcript is a file to take in.
type transcript struct {
	path  string // absolute
	named bool   // itself, not a folder above it
	size  int64
	at    time.Time
	err   error // why it cannot be looked at; nil: it can
}

// transcripts lists the files that paths name, and those below the folders that they name, the oldest first: so the log
// has sessions in the order in which they ended. What lies below a named folder and cannot be looked at has its error; what
// is named and is not there is an error of the whole.
func transcripts(paths []string) ([]transcript, error) {
	var files []transcript
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(path); err != nil {
			return nil, err
		}
		_ = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
			if err == nil && (d.IsDir() || at != path && !mayBeTranscript(at)) {
				return nil
			}
			if t, ok := transcriptAt(at, err); ok {
				t.named = at == path
				files = append(files, t)
			}
			return nil
		})
	}
	order.By(files, func(a, b transcript) int {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(a.path, b.path), named(b)-named(a))
	})
	return slices.CompactFunc(files, func(a, b transcript) bool { return a.path == b.path }), nil
}

// named is 1 for a file that was named itself: it comes before the same file below a folder.
func named(t transcript) int {
	if t.named {
		return 1
	}
	return 0
}

// mayBeTranscript reports whether a file below a named folder may be a transcript: by its name, or because it is one object of JSON
// that begins as an agent's transcript does.
func mayBeTranscript(path string) bool {
	switch filepath.Ext(path) {
	case ".jsonl":
		return true
	case ".json":
		_, ok := agentOfObject(path)
		return ok
	}
	return false
}

// transcriptAt is the file at path, which a walk came to with err. It reports false for what is no file.
func transcriptAt(path string, err error) (transcript, bool) {
	if err != nil {
		return transcript{path: path, err: err}, true
	}
	info, err := os.Stat(path)
	if err != nil {
		return transcript{path: path, err: err}, true
	}
	return transcript{path: path, size: info.Size(), at: info.ModTime()}, info.Mode().IsRegular()
}

const (
	// maxFirstLineBytes bounds the first line of a transcript that is looked at. Codex's holds its whole instructions, some 50 kB.
	maxFirstLineBytes = 1 << 20

	// maxHeadBytes bounds what is looked at of an object that is printed over several lines.
	maxHeadBytes = 64 << 10
)

// whose is the agent that wrote a transcript: as the flag says, else its folder, else its beginning. Known is false where
// none of them says it.
func whose(agent, path string) (name string, known bool) {
	if agent != "" {
		return agent, true
	}
	if kept, ok := agents.AgentOfTranscript(path); ok {
		return kept, true
	}
	if by, ok := agentOf(path); ok {
		return by, true
	}
	return agents.ClaudeCode{}.Name(), false
}

// agentOf tells by its beginning whose transcript a file is.
func agentOf(path string) (agent string, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, maxFirstLineBytes)).ReadBytes('\n')
	if by, ok := agents.AgentOfLine(line); ok {
		return by, true
	}
	return agentOfObject(path)
}

// agentOfObject tells whose transcript a file is that is one object, however it is printed.
func agentOfObject(path string) (agent string, ok bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, maxHeadBytes))
	return agents.AgentOfText(head)
}

func sizeOf(files []transcript) (total int64) {
	for _, f := range files {
		total += f.size
	}
	return total
}
