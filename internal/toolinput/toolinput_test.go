package toolinput

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What each reader asks for: privacy is internal/capture/privacy, evidence internal/observer/evidence, views projections.
const (
	privacyPath = File | Path | Source | Target | MaybeFile
	evidence    = File | Path | Source | Target | Workdir | Query | Command | Wrapped | Content
	views       = File | Path | Query | Content
)

// TestKeys is the list as a person reads it: what a key is, and who reads it.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		use     Use
		readers string
		keys    string
	}{
		{File, "privacy evidence views", "file_path filePath filepaths notebook_path absolute_path absolutepaths target_file targetfiles target_notebook relative_path pathInProject"},
		{Path, "privacy evidence views", "path paths file files filename filenames"},
		{Source, "privacy evidence", "source source_path old_path from"},
		{Target, "privacy evidence", "destination destination_path new_path to"},
		{MaybeFile, "privacy", "target uri url urls notebook any_path anyPaths some_file some_filename a_uri uris source destination"},
		{Workdir, "privacy evidence", "workdir cwd working_dir workingDirectory current_dir current_directory"},
		{Folder, "privacy", "directory dir dir_path workdir cwd"},
		{Glob, "privacy", "include includes include_pattern glob globs globPattern file_pattern fileglob"},
		{Query, "evidence views", "pattern query queries regex search_term searchPattern glob glob_pattern"},
		{Command, "privacy evidence", "command cmd commandLine script shell_command"},
		{Shell, "privacy", "commands chars command cmd commandLine script shell_command"},
		{Args, "privacy", "args argv arguments"},
		{Wrapped, "evidence", "args arguments parameters params"},
		{Code, "privacy", "code script source input javascript js python expression snippet"},
		{Content, "evidence views", "content contents new_string newString old_string new_str old_str new_text old_text new_source file_text insert_text " +
			"edits patch diff code_edit replacement replacements new_content changes code_content replacement_chunks new_code"},
		{Text, "privacy", "content any_text new_string prompt message description summary preview title diff code source output"},
		{Result, "privacy", "tool_response tool_output output result response tool_result result_json error stdout stderr"},
	} {
		for key := range strings.FieldsSeq(c.keys) {
			if !Of(key).Is(c.use) {
				t.Errorf("%s is %b, want %b in it", key, Of(key), c.use)
			}
		}
		var readers []string
		if c.use.Is(privacyPath | Workdir | Folder | Glob | Command | Shell | Args | Code | Text | Result) {
			readers = append(readers, "privacy")
		}
		if c.use.Is(evidence) {
			readers = append(readers, "evidence")
		}
		if c.use.Is(views) {
			readers = append(readers, "views")
		}
		if diff := cmp.Diff(strings.Fields(c.readers), readers); diff != "" {
			t.Errorf("readers of %s: -want +got:\n%s", c.keys, diff)
		}
	}
}

// TestPrivacyKnowsWhatIsSeen: no key that evidence or views take for a file or a command is unknown to privacy.
func TestPrivacyKnowsWhatIsSeen(t *testing.T) {
	t.Parallel()
	if seen := (File | Path | Source | Target); privacyPath&seen != seen {
		t.Errorf("privacy looks at %b, others take %b for files", privacyPath, seen)
	}
	for _, key := range []string{"command", "cmd", "commandline", "script", "shellcommand"} {
		if !Of(key).Is(Shell) {
			t.Errorf("%s is a command, but nothing that a shell runs", key)
		}
	}
	for _, key := range []string{"transcript_path", "originalFile", "name", "", "pathological", "command_id"} {
		if got := Of(key); got != 0 {
			t.Errorf("%q is %b, want nothing", key, got)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	keys := []string{"file_path", "filePath", "file-path", "FILE_PATH", "filepath"}
	if i := slices.IndexFunc(keys, func(k string) bool { return Plain(k) != "filepath" }); i >= 0 {
		t.Errorf("Plain(%s) = %s", keys[i], Plain(keys[i]))
	}
}

func TestIsAssignment(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{
		"A=b": true, "_x1=": true, "PATH+=:/bin": true, "A=b=c": true,
		"": false, "=b": false, "A": false, "+=b": false, "--a=b": false, "a/b=c": false, "a.b=c": false, "A+B=c": false,
	} {
		if IsAssignment(word) != want {
			t.Errorf("%q: got %v", word, !want)
		}
	}
}
