package redact

import "strings"

// Files and addresses that hold accounts have their own forms: hashes of passwords, a line of .pgpass, JDBC's user/password.

// accountShapes lists the words at which these are looked for.
func accountShapes() []shape {
	all := []shape{
		{word: ":5432:", find: (*finder).pgpass},
		{word: "@//", find: (*finder).oracle},
	}
	for _, scheme := range [...]string{"$apr1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$", "$argon2id$"} {
		all = append(all, shape{word: scheme, exact: true, find: (*finder).crypt})
	}
	return all
}

// crypt looks for the hash of a password, as crypt writes it: who has it can try passwords at will.
func (f *finder) crypt(_ *shape, start, end int) {
	const shortest = 22 // salt and hash
	if stop := run(f.s, end, isCrypt); stop-end >= shortest && looksRandom(f.s[end:min(stop, end+decisiveBytes)]) {
		f.add(start, stop, "password-hash")
	}
}

func isCrypt(c byte) bool { return isAlnum(c) || strings.IndexByte("./$,=+", c) >= 0 }

// pgpass looks for the password in a line of .pgpass, behind host:5432:database:user.
func (f *finder) pgpass(_ *shape, _, end int) {
	base := run(f.s, end, isTokenDot)
	user := base + 1
	if base == end || f.at(base) != ':' {
		return
	}
	pass := run(f.s, user, isTokenDot) + 1
	if pass == user+1 || f.at(pass-1) != ':' {
		return
	}
	stop := run(f.s, pass, isCookie)
	if text := f.s[pass:stop]; len(text) >= 4 && !hides(text) && !strings.Contains(text, "://") {
		f.weak(pass, stop, "password")
	}
}

// maxOracle is how far before its host an address of Oracle names itself.
const maxOracle = 128

// oracle looks for the password in jdbc:oracle:thin:user/password@//host.
func (f *finder) oracle(_ *shape, start, _ int) {
	before := f.s[max(0, start-maxOracle):start]
	_, account, ok := strings.Cut(before, "oracle:")
	slash := strings.LastIndexByte(account, '/')
	if !ok || slash <= 0 || strings.ContainsAny(account, " \n\"'") {
		return
	}
	if text := account[slash+1:]; text != "" && !hides(text) {
		f.add(start-len(text), start, "url-password")
	}
}
