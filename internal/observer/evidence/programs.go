package evidence

// IsFilter reports whether a program in a pipe prints what it is given, or less of it, and nothing else.
func IsFilter(program string) bool {
	switch program {
	case "head", "tail", "grep", "egrep", "fgrep", "rg", "jq", "cat", "less", "more", "wc", "sort",
		"uniq", "cut", "tr":
		return true
	}
	return false
}

// PrecedesProgram reports whether a word of a simple command stands before the program that it runs.
func PrecedesProgram(word string) bool {
	switch word {
	case "do", "then", "else", "if", "elif", "while", "until", "!", "{", "time", "sudo", "doas",
		"nohup", "exec":
		return true
	}
	return false
}

// OnlyReads reports whether a program or a word of the shell leaves files alone, whatever its arguments.
func OnlyReads(program string) bool {
	switch program {
	case "", "ls", "cat", "bat", "head", "tail", "wc", "uniq", "cut", "tr", "nl", "grep", "egrep",
		"fgrep", "rg", "ag", "ack", "fd", "tree", "echo", "printf", "pwd", "cd", "pushd", "popd",
		"true", "false", "test", "[", "[[", "]]", "export", "unset", "set", "alias", "type",
		"which", "whereis", "file", "stat", "du", "df", "date", "whoami", "id", "uname", "hostname",
		"env", "printenv", "ps", "sleep", "basename", "dirname", "realpath", "readlink", "diff",
		"cmp", "comm", "md5sum", "sha1sum", "sha256sum", "xxd", "od", "hexdump", "jq", "less",
		"more", "man", "wait", "kill", "for", "case", "done", "fi", "esac", "}", "exit", "return",
		"read", "lsof", "top", "free", "uptime":
		return true
	}
	return false
}
