package privacy

import (
	"strings"
	"sync"
)

// A use is what a program does with the files among its words.
type use byte

const (
	unknown use = iota // what it prints may hold them
	reader             // the same; all its words but options are files
	silent             // it prints nothing of them
	script             // it may be given a program as one of its words
	writer             // it prints nothing of them, and what stands in its words may go into them
	pattern            // a reader whose first word is what it looks for
)

// A trait is what a program does beside reading files.
type trait uint16

const (
	runs     trait = 1 << iota // what stands behind its options is the program; keywords of the shell are such, too
	gives                      // it takes a shell line as one of its words
	shell                      // it is a shell
	wraps                      // a program among its words may print variables
	projects                   // the same, behind run or exec
	searches                   // its words may be patterns for names of files
	bundles                    // what it looks for stands behind an e at the end of several short options
	contains                   // it runs programs in containers
	keeps                      // it loads, copies or packs files
	fed                        // contents of a file may stand among its words
	unfed                      // they do not, whatever it does with files
)

// A program is what is known of the programs of some names, by their manuals.
type program struct {
	names  string
	use    use
	edits  list        // words with which it is a writer
	quiet  []condition // under each of which it is silent
	loud   condition   // under which it is not silent after all; nothing: where it is told to print to a device
	takes  list        // options behind which a word stands that is no file, or one of which nothing is printed
	when   use         // it has this use, or takes says nothing; unknown: it may have any
	loads  condition   // under which it prints variables that it loads from a file
	lists  condition   // under which it lists the environment
	flags  string      // short options of a search that take no word
	counts string      // those of them with which it tells only where, how often or whether
	traits trait
}

var (
	// printing are the devices that print what is written to them.
	printing = list{"/dev/std*", "/dev/fd*", "/dev/tty*"}

	// readsVariable are the signs of a script that speaks of a variable of its environment.
	readsVariable = list{"*process.env*", "*environ*", "*getenv*", "*ENV[*", "*$ENV{*", "*Deno.env*", "*Bun.env*"}

	// fileOptions are options of any program that take a word which is no file, or one of which nothing is printed.
	fileOptions = words(`--env-file --from-env-file --from-file --cacert --capath --cert --key --kubeconfig --volume --mount --secret
		--private-key --identity-file --grep --author --tls-cert --tls-key --ssl-key --ssl-cert --exclude --include --glob --iglob
		--regexp --message -var-file --var-file -backend-config --envfile --userconfig --netrc-file --ca-bundle --key-file
		--defaults-file --defaults-extra-file`)
)

// programRows is the table of programs. A name stands in one row.
func programRows() []program {
	searched := words("-e -g -t -T -A -B -C -m --type --max-count")
	edited := words("-e -F -v")
	variables := condition{any: readsVariable}
	composed := condition{any: words("config convert"), none: words("-q --quiet --services --images --volumes --profiles --hash")}
	copied := []condition{{first: words("cp"), none: words("-")}}
	return []program{
		{use: reader, names: `cat head tail less more bat batcat nl tac sort uniq cut xxd od hexdump base64 strings comm paste tee vim vi
			nano get-content gc fold column sponge gpg age type`},
		{use: reader, names: "diff", quiet: []condition{{any: words("-q --brief")}}},
		{use: reader, names: "cmp", quiet: []condition{{any: words("-q --brief -s")}}},
		{
			use: reader, names: "openssl", takes: words("-out -keyout -CAfile"),
			quiet: []condition{{first: words("verify"), none: words("-text")}, {any: words("-noout"), none: words("-text")}},
		},
		{use: pattern, names: "grep egrep fgrep zgrep", takes: searched, when: pattern, flags: "rRniIwxvhHEFPaslLcqoz", counts: "lLcq"},
		{use: pattern, names: "rg", takes: searched, when: pattern, flags: "niIwxvHFasSuUNPoLlcqz.", counts: "lcq"}, // -L follows links, -r takes a word
		{use: pattern, names: "ag ack", takes: searched, when: pattern, flags: "niwvsQulLc", counts: "lLc"},
		{use: pattern, names: "sed gsed", takes: edited, when: pattern, edits: words("-i* --in-place*")},
		{use: pattern, names: "awk gawk mawk", takes: edited, when: pattern, lists: condition{any: list{"*in ENVIRON*"}}},
		{use: pattern, names: "jq yq gojq"},
		{use: unknown, names: "docker podman", quiet: copied, takes: words("-v"), loads: composed},
		{use: unknown, names: "docker-compose", takes: words("-v"), loads: composed},
		{use: unknown, names: "kubectl oc", quiet: copied},
		{
			use: unknown, names: "helm",
			quiet: []condition{{first: words("upgrade install lint"), none: words("--dry-run* --debug -o* --output*")}},
		},
		{use: unknown, names: "zip", quiet: []condition{{none: words("-")}}},
		{use: unknown, names: "terraform tofu", loads: condition{any: words("console")}},
		{use: unknown, names: "git", takes: words("-S* -G* -m -e")},
		{use: unknown, names: "find fd", takes: words("-name -iname"), when: silent},
		{use: unknown, names: "curl", takes: words("-E -o")},
		{use: unknown, names: "wget", takes: words("-O")},
		{use: unknown, names: "rsync", takes: words("-e")},
		{use: unknown, names: "ansible ansible-playbook", takes: words("-i -e")},
		{use: unknown, names: "ssh sftp ssh-copy-id mosh", takes: words("-i")},
		{use: unknown, names: "systemctl", lists: condition{any: words("show-environment")}},
		{use: silent, names: `source . test [ [[ ls ll dir stat touch cp mv rm chmod chown chgrp ln mkdir rmdir shred du wc file realpath
			readlink dirname basename cd pushd echo printf export unset alias which install sha256sum shasum md5sum make for ssh-add
			ssh-keygen direnv env-cmd gh tree open code printenv declare local readonly`},
		{use: silent, names: "scp", takes: words("-i")},
		{use: silent, names: "dotenv", loud: condition{any: words("list* get* -p*")}},
		{use: silent, names: "go", loud: condition{first: words("run")}},
		{use: script, names: "python node nodejs ruby perl deno bun tsx ts-node lua rscript osascript groovy", loads: variables},
		{use: script, names: "php", loads: variables, lists: condition{any: words("-i")}},
	}
}

// traitRows says which programs have a trait.
func traitRows() map[trait]string {
	return map[trait]string{
		runs: `sudo doas command builtin exec time nohup nice xargs timeout then do else if elif while until ! env stdbuf setsid busybox
			npx bunx pnpx`,
		gives: `ssh su sudo eval docker podman kubectl oc xargs watch timeout nohup script wsl tmux screen vagrant heroku fly nix time
			doas`,
		shell:    "sh bash zsh dash ksh fish pwsh powershell cmd",
		wraps:    "watch ssh docker podman kubectl oc su wsl cmd heroku fly nix dotenv env-cmd",
		projects: "poetry uv pipenv bundle conda mise asdf direnv doppler op aws-vault chamber",
		searches: "find fd rg grep egrep fgrep awk gawk sed ag",
		bundles:  "grep egrep fgrep zgrep rg git",
		contains: "docker podman kubectl oc",
		keeps:    "source . cp mv ln install scp tar zip docker podman kubectl oc",
		fed:      "sed gsed tee vim vi sponge echo printf export openssl gpg declare local readonly alias",
		unfed:    "git ssh-keygen rsync find fd docker podman docker-compose",
	}
}

// programs are the rows of the tables by name.
var programs = sync.OnceValue(func() map[string]*program {
	known := map[string]*program{}
	of := func(name string) *program {
		if known[name] == nil {
			known[name] = &program{loud: condition{any: printing}}
		}
		return known[name]
	}
	for _, row := range programRows() {
		for name := range strings.FieldsSeq(row.names) {
			loud := of(name).loud
			*of(name) = row
			if row.loud.isEmpty() {
				of(name).loud = loud
			}
		}
	}
	for t, names := range traitRows() {
		for name := range strings.FieldsSeq(names) {
			of(name).traits |= t
		}
	}
	return known
})

// noProgram is what is known of all others.
var noProgram program

// programNamed returns what is known of a program.
func programNamed(name string) *program {
	if p := programs()[name]; p != nil {
		return p
	}
	if strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy") {
		return programs()["python"]
	}
	return &noProgram
}

// has reports whether a program has a trait.
func (p *program) has(t trait) bool { return p.traits&t != 0 }

// takesWord reports whether an option of a program that has a use takes a word that is no file, or one of which nothing is
// printed.
func (p *program) takesWord(kind use, option string) bool {
	long, _, _ := strings.Cut(option, "=")
	return fileOptions.has(long) || p.takes.has(option) && (p.when == unknown || p.when == kind)
}

// onlyReads reports whether no contents of a file are given to a program that has a use.
func (p *program) onlyReads(kind use) bool {
	return p.has(unfed) || !p.has(fed) && (kind == reader || kind == silent || kind == pattern)
}

// isShell reports whether a program is a shell.
func isShell(name string) bool { return programNamed(strings.TrimSuffix(name, ".exe")).has(shell) }
